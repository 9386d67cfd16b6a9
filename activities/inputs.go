package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/turn"
)

// kernelTurnDigest is the one value that the engine itself provides (spec 05 §3.2).
const kernelTurnDigest = "turn-digest@1"

// bound are a runtime's resolved inputs: as slots for prompts, as a map for code.
type bound struct {
	inputs  []assembler.Slot
	exports []assembler.Slot
	// missing names the first required binding without a value.
	missing string
}

func (b *bound) byName() map[string]plugin.InputSlot {
	m := make(map[string]plugin.InputSlot, len(b.inputs)+len(b.exports))
	for _, s := range append(slices.Clone(b.inputs), b.exports...) {
		m[s.Name] = s.InputSlot
	}
	return m
}

// bind resolves io.inputs (spec 05 §3.2): values of successful results of this
// execution, or committed exports at or before the execution's instant.
func (a *Activities) bind(ctx context.Context, ex *execution, rt *plugin.Runtime, stage string) (*bound, error) {
	if ex.frozen.Resume != nil {
		return ex.frozen.Resume.inputs(), nil
	}
	out := &bound{}
	for _, in := range rt.IO.Inputs {
		slot, ok, err := a.bindOne(ctx, ex, stage, in)
		if err != nil {
			return nil, err
		}
		switch {
		case !ok && in.Required:
			out.missing = in.Name
			return out, nil
		case !ok:
		case in.Scope == "committed":
			out.exports = append(out.exports, assembler.Slot{Name: in.Name, InputSlot: slot})
		default:
			out.inputs = append(out.inputs, assembler.Slot{Name: in.Name, InputSlot: slot})
		}
	}
	return out, nil
}

func (a *Activities) bindOne(ctx context.Context, ex *execution, stage string, in plugin.Input) (plugin.InputSlot, bool, error) {
	var items []plugin.InputItem
	switch {
	case in.Kernel == kernelTurnDigest:
		digest, err := turnDigest(ex, stage)
		if err != nil {
			return plugin.InputSlot{}, false, err
		}
		items = append(items, plugin.InputItem{Value: digest, Source: plugin.InputSource{PluginID: "__kernel", RuntimeID: kernelTurnDigest}})
	case in.Scope == "committed":
		export, ok, err := a.cfg.Store.Export(ctx, ex.scope.SessionID, in.RecordAs, ex.frozen.StartedAt)
		if err != nil {
			return plugin.InputSlot{}, false, err
		}
		if ok {
			items = append(items, plugin.InputItem{
				Value: export.Value, Source: plugin.InputSource{PluginID: export.PluginID, RuntimeID: export.RuntimeID, ResultID: export.ID},
			})
		}
	default:
		for _, id := range producers(ex, in) {
			if item, ok := produced(ex.result(id)); ok {
				items = append(items, item)
			}
		}
	}
	return slotOf(in, items)
}

// slotOf selects into the items and checks what the consumer accepts. An item
// that does not fit counts as missing.
func slotOf(in plugin.Input, items []plugin.InputItem) (plugin.InputSlot, bool, error) {
	selected := items[:0:0]
	for _, item := range items {
		value, ok := pointer(item.Value, in.Select)
		if ok {
			item.Value = value
			selected = append(selected, item)
		}
	}
	if in.Cardinality == "all" {
		values := make([]json.RawMessage, len(selected))
		for i := range selected {
			values[i] = selected[i].Value
		}
		array, err := json.Marshal(values)
		if err != nil {
			return plugin.InputSlot{}, false, err
		}
		if len(selected) == 0 || !accepts(in, array) {
			return plugin.InputSlot{}, false, nil
		}
		return plugin.InputSlot{Cardinality: "all", Items: selected}, true, nil
	}
	for _, item := range selected {
		if accepts(in, item.Value) {
			return plugin.InputSlot{Cardinality: "one", Value: item.Value, Source: &item.Source}, true, nil
		}
	}
	return plugin.InputSlot{}, false, nil
}

func accepts(in plugin.Input, value json.RawMessage) bool {
	if in.Unresolved {
		return false // nobody publishes the contract that it should fit
	}
	if len(in.Accepts) == 0 {
		return true
	}
	schema, err := plugin.CompileSchema(in.Accepts)
	return err == nil && schema.Validate(value) == nil
}

// producers are the runtimes that may give an input's value, in id order.
func producers(ex *execution, in plugin.Input) []string {
	if in.Runtime != "" {
		return []string{in.Runtime}
	}
	var ids []string
	for _, rt := range ex.active.Producers(in.Contract) {
		ids = append(ids, rt.ID)
	}
	return ids
}

// produced is the value that a result offers: of a success, or of a guard's
// skip with a value (spec 03 §5.1).
func produced(r *turn.RuntimeResult) (plugin.InputItem, bool) {
	if r == nil || len(r.Value()) == 0 {
		return plugin.InputItem{}, false
	}
	if r.Status != turn.RuntimeSuccess && (r.Status != turn.RuntimeSkipped || r.SkippedBy != schedule.SkippedByGuard) {
		return plugin.InputItem{}, false
	}
	return plugin.InputItem{
		Value:  r.Value(),
		Source: plugin.InputSource{PluginID: r.PluginID, RuntimeID: r.RuntimeID, ResultID: r.ID},
	}, true
}

// turnDigest tells what the earlier stages of this execution made (spec 05 §3.2).
func turnDigest(ex *execution, stage string) (json.RawMessage, error) {
	type storyText struct {
		RuntimeID string `json:"runtimeId"`
		Text      string `json:"text"`
	}
	digest := struct {
		TurnNumber    int          `json:"turnNumber"`
		PlayerMessage string       `json:"playerMessage"`
		StoryTexts    []storyText  `json:"storyTexts"`
		Events        []turn.Event `json:"events"`
	}{ex.frozen.LogicalTurn, ex.frozen.Input.PlayerMessage, []storyText{}, []turn.Event{}}
	for _, r := range ex.allResults() {
		if r.Status != turn.RuntimeSuccess || !earlierStage(r.Stage, stage) {
			continue
		}
		if r.Story {
			digest.StoryTexts = append(digest.StoryTexts, storyText{r.RuntimeID, r.NarrativeText()})
		}
		if r.Effects != nil {
			digest.Events = append(digest.Events, r.Effects.Events...)
		}
	}
	return json.Marshal(digest)
}

// earlierStage says whether results of one stage are settled before another starts.
func earlierStage(stage, than string) bool {
	return schedule.CompareStored(&turn.RuntimeResult{Stage: stage}, &turn.RuntimeResult{Stage: than}) < 0
}

// pointer reads a JSON Pointer (RFC 6901); "" is the whole value.
func pointer(value json.RawMessage, path string) (json.RawMessage, bool) {
	if path == "" {
		return value, true
	}
	for _, token := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) == nil && object != nil {
			next, ok := object[token]
			if !ok {
				return nil, false
			}
			value = next
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return nil, false
		}
		i, err := index(token)
		if err != nil || i >= len(list) {
			return nil, false
		}
		value = list[i]
	}
	return value, true
}

// index reads an array index: 0, or digits without a leading zero.
func index(token string) (int, error) {
	if token == "" || len(token) > 9 || (token[0] == '0' && len(token) > 1) {
		return 0, fmt.Errorf("%q is no index", token)
	}
	n := 0
	for _, c := range token {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q is no index", token)
		}
		n = n*10 + int(c-'0')
	}
	return n, nil
}
