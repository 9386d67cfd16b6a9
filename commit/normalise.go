package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/covel-engine/covel/turn"
)

// writes are what one result wants to change, after normalising and review.
type writes struct {
	proposals     []turn.Proposal
	notifications []json.RawMessage
	// rejected is the first proposal that may not be applied, with its reason.
	rejected *rejection
}

// rejection refuses one proposal, or a result's effects when the proposal has
// no type.
type rejection struct {
	proposal turn.Proposal
	err      error
}

// normalise turns a result's proposals and effects into one list, in the order
// in which they came about. Effects of a wrong shape are a rejected write.
func normalise(r *turn.RuntimeResult, plan *Plan) writes {
	w := writes{}
	switch r.Status {
	case turn.RuntimeFailed, turn.RuntimeSuspended:
		// A failed runtime contributes nothing; the proposals of a suspended
		// one wait in its continuation.
		return w
	}
	n := 0
	add := func(typ string, payload json.RawMessage) {
		w.proposals = append(w.proposals, turn.Proposal{
			ID: plan.id("proposal", r.ID, strconv.Itoa(n)), Type: typ,
			Source: turn.ProposalSource{PluginID: r.PluginID, RuntimeID: r.RuntimeID},
			TurnID: plan.TurnID, SessionID: plan.SessionID, Payload: payload, Timestamp: plan.Now,
		})
		n++
	}
	for _, p := range r.Proposals {
		add(p.Type, p.Payload)
		last := &w.proposals[len(w.proposals)-1]
		if p.ID != "" {
			last.ID = p.ID
		}
		if !p.Timestamp.IsZero() {
			last.Timestamp = p.Timestamp
		}
	}
	if r.Effects == nil {
		return w
	}
	err := EffectWrites(r.Effects, add, func(entry json.RawMessage) { w.notifications = append(w.notifications, entry) })
	if err != nil {
		w.rejected = &rejection{turn.Proposal{
			ID:     plan.id("effects", r.ID),
			Source: turn.ProposalSource{PluginID: r.PluginID, RuntimeID: r.RuntimeID},
			TurnID: plan.TurnID, SessionID: plan.SessionID, Timestamp: plan.Now,
		}, err}
	}
	return w
}

// EffectWrites gives a result's effects as proposals, in the order in which they
// are applied, and its notifications. The first entry of a wrong shape is the
// error.
func EffectWrites(e *turn.Effects, add func(typ string, payload json.RawMessage), notify func(entry json.RawMessage)) error {
	entries := func(name string, raw json.RawMessage, take func(json.RawMessage)) error {
		list, err := objects("effects."+name, raw)
		for _, entry := range list {
			take(entry)
		}
		return err
	}
	as := func(typ string) func(json.RawMessage) { return func(entry json.RawMessage) { add(typ, entry) } }
	for _, err := range []error{
		entries("interactions", e.Interactions, as(turn.ProposalInteractionRequest)),
		entries("notifications", e.Notifications, notify),
		entries("statePatches", e.StatePatches, as(turn.ProposalStatePatch)),
		entries("pluginData", e.PluginData, as(turn.ProposalPluginData)),
		events(e.Events, as(turn.ProposalEventEmit)),
		entries("assets", e.Assets, as(turn.ProposalAssetGenerate)),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func events(list []turn.Event, take func(json.RawMessage)) error {
	for _, event := range list {
		payload, err := json.Marshal(EventEmit(event))
		if err != nil {
			return rejectf("effects.events: topic %q has data that is no JSON", event.Topic)
		}
		take(payload)
	}
	return nil
}

// objects reads a list of objects.
func objects(name string, raw json.RawMessage) ([]json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil, rejectf("%s is not an array", name)
	}
	for i, entry := range entries {
		if !isObject(entry) {
			return nil, rejectf("%s[%d] is not an object", name, i)
		}
	}
	return entries, nil
}

func isObject(raw json.RawMessage) bool {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{'
}

// review runs the caller's check on each proposal, outside any transaction.
func (w *writes) review(ctx context.Context, check func(context.Context, turn.Proposal) (json.RawMessage, error)) error {
	if check == nil {
		return nil
	}
	for i := range w.proposals {
		payload, err := check(ctx, w.proposals[i])
		var refused *RejectedError
		switch {
		case errors.As(err, &refused):
			if w.rejected == nil {
				w.rejected = &rejection{w.proposals[i], refused}
			}
			return nil
		case err != nil:
			return fmt.Errorf("commit: review proposal %s: %w", w.proposals[i].ID, err)
		case payload != nil:
			w.proposals[i].Payload = payload
		}
	}
	return nil
}
