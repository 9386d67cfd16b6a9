package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// applyProposal writes one proposal (spec 03 §10.5). A *RejectedError refuses
// it; any other error is the store's and ends the transaction.
func (a *application) applyProposal(ctx context.Context, p turn.Proposal, done *applied) error {
	var err error
	switch p.Type {
	case turn.ProposalNarrativeAppend:
		err = a.applyNarrative(p, done)
	case turn.ProposalInteractionRequest:
		err = a.applyInteraction(p, done)
	case turn.ProposalStatePatch:
		err = a.applyStatePatch(ctx, p, done)
	case turn.ProposalEventEmit:
		err = a.applyEvent(p, done)
	case turn.ProposalAssetGenerate:
		err = a.applyAsset(ctx, p, done)
	case turn.ProposalPluginData:
		err = a.applyData(ctx, p, done)
	case turn.ProposalPluginDataBatch:
		err = a.applyBatch(ctx, p, done)
	case turn.ProposalPluginDataDelete:
		err = a.applyDelete(ctx, p, done)
	case turn.ProposalCharacterUpsert:
		err = a.applyCharacter(ctx, p, done)
	case turn.ProposalCharacterSchemaSet:
		err = a.applyCharacterSchema(ctx, p, done)
	case turn.ProposalLorebookUpsert:
		err = a.applyLore(ctx, p, done)
	case turn.ProposalDimensionInitialize:
		err = a.initializeDimensions(ctx, p, done)
	case turn.ProposalDimensionUpdate:
		err = a.updateDimensions(ctx, p, done)
	default:
		err = rejectf("unknown proposal type: %s", p.Type)
	}
	if err != nil {
		return refusal(err)
	}
	done.traces = append(done.traces, a.traceEvent(trace.ProposalCommitted, p.ID, map[string]string{
		"proposalId": p.ID, "type": p.Type, "pluginId": p.Source.PluginID, "runtimeId": p.Source.RuntimeID,
	}))
	return nil
}

// refusal turns the store errors that a proposal's own content causes into a
// rejection. Everything else stays an error of the store.
func refusal(err error) error {
	var se *store.Error
	if !errors.As(err, &se) {
		return err
	}
	switch se.Code {
	case store.CodeInvalidValue, store.CodeVersionConflict, store.CodeReservedNamespace,
		store.CodeAlreadyExists, store.CodeForeignID, store.CodeNotFound:
		return &RejectedError{Code: se.Code, Message: se.Error(), Err: err}
	default:
		return err
	}
}

func (a *application) traceEvent(typ, key string, payload any) trace.Event {
	return trace.Event{Scope: a.plan.Scope, TraceID: a.plan.TraceID, Type: typ, Key: key, Payload: payload}
}

// event adds one session event to what a result leaves behind.
func (d *applied) event(p turn.Proposal, typ string, payload any) error {
	id := d.id("event", p.Source.RuntimeID, p.ID, typ)
	raw, ok := payload.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(payload); err != nil {
			return fmt.Errorf("event %s of proposal %s: %w", typ, p.ID, err)
		}
	}
	d.events = append(d.events, Event{
		ID: id, Type: typ, PluginID: p.Source.PluginID, RuntimeID: p.Source.RuntimeID,
		ProposalID: p.ID, Payload: raw,
	})
	return nil
}

// read decodes a payload into a struct; a wrong type is refused, naming the
// field and what it must be.
func read[T any](p turn.Proposal) (T, error) {
	var payload T
	if !isObject(p.Payload) {
		return payload, rejectf("payload of %s must be an object", p.Type)
	}
	err := json.Unmarshal(p.Payload, &payload)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return payload, rejectf("%s must be %s", wrong.Field, kindName(wrong.Type))
	case err != nil:
		return payload, rejectf("payload of %s: %v", p.Type, err)
	}
	return payload, nil
}

// kindName is the JSON name of a Go type.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a base64 text"
		}
		return "an array"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	default:
		return "an object"
	}
}

// required refuses a blank text.
func required(field, value string) error {
	if strings.TrimSpace(value) == "" {
		return rejectf("%s must be a non-empty string", field)
	}
	return nil
}

func requiredValue(field string, value json.RawMessage) error {
	if len(value) == 0 {
		return rejectf("%s is missing", field)
	}
	return nil
}

func (a *application) applyNarrative(p turn.Proposal, done *applied) error {
	payload, err := read[NarrativeAppend](p)
	if err != nil {
		return err
	}
	if err := required("text", payload.Text); err != nil {
		return err
	}
	done.narratives = append(done.narratives, payload)
	return done.event(p, EventRecordUpdated, map[string]string{"record": "narrative"})
}

// applyInteraction keeps the first request of an interaction id.
func (a *application) applyInteraction(p turn.Proposal, done *applied) error {
	payload, err := read[Interaction](p)
	if err != nil {
		return err
	}
	if err := required("interactionId", payload.InteractionID); err != nil {
		return err
	}
	if a.requested(payload.InteractionID, done) {
		return nil
	}
	done.interactions = append(done.interactions, p.Payload)
	done.requested = append(done.requested, payload.InteractionID)
	return done.event(p, EventInteractionRequested, p.Payload)
}

// requested says whether a kept result has asked for an interaction already.
func (a *application) requested(id string, current *applied) bool {
	for i := range a.applied {
		if slices.Contains(a.applied[i].requested, id) {
			return true
		}
	}
	return slices.Contains(current.requested, id)
}

func (a *application) applyEvent(p turn.Proposal, done *applied) error {
	payload, err := read[EventEmit](p)
	if err != nil {
		return err
	}
	if err := required("topic", payload.Topic); err != nil {
		return err
	}
	return done.event(p, EventEmitted, payload)
}

// applyStatePatch writes one row of a state table. Tables are plugin data of
// the engine, so that snapshots and deletion know them.
func (a *application) applyStatePatch(ctx context.Context, p turn.Proposal, done *applied) error {
	patch, err := read[StatePatch](p)
	if err != nil {
		return err
	}
	if err := required("table", patch.Table); err != nil {
		return err
	}
	if err := required("key", patch.Key); err != nil {
		return err
	}
	switch patch.Op {
	case "", "set":
		if err := requiredValue("value", patch.Value); err != nil {
			return err
		}
	case "merge":
		if !isObject(patch.Value) {
			return rejectf("value must be an object for op merge")
		}
		if patch.Value, err = a.merged(ctx, PluginState, patch.Table, patch.Key, patch.Value); err != nil {
			return err
		}
	case "delete":
		if err := a.tx.DeletePluginData(ctx, a.plan.SessionID, PluginState, patch.Table, patch.Key); err != nil {
			return err
		}
	default:
		return rejectf("op %q is not one of set, merge, delete", patch.Op)
	}
	if patch.Op != "delete" {
		if err := a.put(ctx, PluginState, patch.Table, patch.Key, patch.Value, 0); err != nil {
			return err
		}
	}
	done.traces = append(done.traces, a.traceEvent(trace.StatePatchApplied, p.ID, map[string]string{"table": patch.Table, "key": patch.Key}))
	return done.event(p, EventStateChanged, patch)
}

// merged puts the members of patch over the stored object.
func (a *application) merged(ctx context.Context, pluginID, namespace, key string, patch json.RawMessage) (json.RawMessage, error) {
	row, err := a.tx.PluginDatum(ctx, a.plan.SessionID, pluginID, namespace, key)
	if errors.Is(err, store.ErrNotFound) {
		return patch, nil
	}
	if err != nil {
		return nil, err
	}
	return mergeObject(row.Value, patch)
}

// put writes one row of plugin data.
func (a *application) put(ctx context.Context, pluginID, namespace, key string, value json.RawMessage, version int) error {
	return a.tx.PutPluginData(ctx, session.PluginDatum{
		SessionID: a.plan.SessionID, PluginID: pluginID, Namespace: namespace, Key: key, Value: value,
		SchemaVersion: version, CreatedAt: a.plan.Now, UpdatedAt: a.plan.Now,
	})
}

// mergeObject puts the members of patch over those of base: known names keep
// their place, new ones come last, null removes.
func mergeObject(base, patch json.RawMessage) (json.RawMessage, error) {
	if !isObject(base) {
		base = json.RawMessage(`{}`)
	}
	old, err := members(base)
	if err != nil {
		return nil, err
	}
	changes, err := members(patch)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		at := -1
		for i := range old {
			if old[i].name == c.name {
				at = i
			}
		}
		switch null := string(c.value) == "null"; {
		case at >= 0 && null:
			old = append(old[:at], old[at+1:]...)
		case at >= 0:
			old[at].value = c.value
		case !null:
			old = append(old, c)
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range old {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// member is one member of a JSON object, in the order of the text.
type member struct {
	name  string
	value json.RawMessage
}

func members(object json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, rejectf("value is no JSON object: %v", err)
	}
	var list []member
	for dec.More() {
		token, err := dec.Token()
		name, isName := token.(string)
		if err != nil || !isName {
			return nil, rejectf("value is no JSON object: %v", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, rejectf("value is no JSON object: %v", err)
		}
		list = append(list, member{name, value})
	}
	return list, nil
}
