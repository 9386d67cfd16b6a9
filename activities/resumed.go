package activities

import (
	"encoding/json"
	"slices"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/turn"
)

// resumed is the part of a frozen scope that only a resume has: the claimed
// suspension, thawed. Its methods answer nothing for nil.
type resumed struct {
	Suspension string `json:"suspension"`
	Turn       string `json:"turn"` // the suspended turn
	Runtime    string `json:"runtime"`
	Stage      string `json:"stage,omitempty"`
	Level      int    `json:"level,omitempty"`
	// Spec is how the runtime runs in its generation.
	Spec    turn.RuntimeSpec     `json:"spec"`
	Data    json.RawMessage      `json:"data"`
	Payload continuation.Payload `json:"payload"`
	// Event and Trigger had activated the runtime.
	Event   *turn.Event         `json:"event,omitempty"`
	Trigger *turn.ManualTrigger `json:"trigger,omitempty"`
	// Code and Message say why the run cannot go on.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// answers are the tool calls before the suspension. The first carries what all
// of them want to write.
func (r *resumed) answers() []toolAnswer {
	if r == nil {
		return nil
	}
	p := &r.Payload
	list := make([]toolAnswer, len(p.ToolCallsSoFar))
	for i, record := range p.ToolCallsSoFar {
		list[i] = toolAnswer{Record: record, Data: p.CallData[record.ID]}
	}
	if len(list) > 0 {
		list[0].Proposals, list[0].Notifications, list[0].Events = p.PendingProposals, p.PendingNotifications, p.EmittedEvents
	}
	return list
}

// addTo puts a suspended function's pending writes before those of its result.
func (r *resumed) addTo(result *turn.RuntimeResult) {
	if r == nil {
		return
	}
	p := &r.Payload
	result.Proposals = append(slices.Clip(p.PendingProposals), result.Proposals...)
	if len(p.EmittedEvents)+len(p.PendingNotifications) == 0 {
		return
	}
	effects := turn.Effects{}
	if result.Effects != nil {
		effects = *result.Effects
	}
	effects.Events = append(slices.Clip(p.EmittedEvents), effects.Events...)
	var own []json.RawMessage
	// Notifications of a wrong shape stay as they are: the commit refuses them.
	if len(effects.Notifications) == 0 || json.Unmarshal(effects.Notifications, &own) == nil {
		if joined, err := json.Marshal(append(slices.Clip(p.PendingNotifications), own...)); err == nil && len(p.PendingNotifications) > 0 {
			effects.Notifications = joined
		}
	}
	result.Effects = &effects
}

// inputs are the frozen input slots.
func (r *resumed) inputs() *bound {
	out := &bound{}
	names := make([]string, 0, len(r.Payload.InputSlots))
	for name := range r.Payload.InputSlots {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out.inputs = append(out.inputs, assembler.Slot{Name: name, InputSlot: r.Payload.InputSlots[name]})
	}
	return out
}
