package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// promptRequest is one recorded call as `covel prompt show --json` prints it.
type promptRequest struct {
	SessionID   string `json:"sessionId"`
	TurnID      string `json:"turnId"`
	LogicalTurn int    `json:"logicalTurn"`
	Runtime     string `json:"runtime"`
	// Call counts the calls of the runtime in the turn from 1.
	Call     int             `json:"call"`
	Slot     string          `json:"slot"`
	Protocol string          `json:"protocol"`
	Model    string          `json:"model"`
	Tools    []model.Tool    `json:"tools"`
	System   string          `json:"systemPrompt"`
	Sections []promptSection `json:"sections"`
	Messages []model.Message `json:"messages"`
	// CurrentTurnUserMessages counts the protected user messages at the end.
	CurrentTurnUserMessages int `json:"currentTurnUserMessages"`
	// Estimate and Limit are tokens of the input; a Limit of 0 is unknown.
	Estimate int `json:"estimate"`
	Limit    int `json:"limit"`
	// Usage is what the provider counted, absent for a call without a reply.
	Usage *turn.Usage `json:"usage,omitempty"`

	provider  string
	estimator tokens.Estimator
	calls     int // of the runtime in this turn
	wire      json.RawMessage
}

// promptChoice says which recorded call is asked for; zero members choose the
// latest turn, its story and the first call.
type promptChoice struct {
	call    int
	runtime string
	turn    int
}

// readPrompt finds a recorded call and names what it was made of.
func readPrompt(ctx context.Context, st store.Store, targets promptTargets, gen *plugin.Generation, sessionID string, choice promptChoice) (*promptRequest, error) {
	if err := knownSession(ctx, st, sessionID); err != nil {
		return nil, err
	}
	heads, err := trace.Heads(ctx, st, sessionID)
	if err != nil {
		return nil, err
	}
	calls, err := choice.pick(heads)
	if err != nil {
		return nil, err
	}
	head := calls[choice.call-1]
	if head.Concealed {
		return nil, turn.Errorf("show prompt", "NOT_FOUND", "the requests of %s are recorded without their bodies: its manifest conceals them", head.RuntimeID)
	}
	recorded, err := trace.ReadRequest(ctx, st, head.Event)
	if err != nil {
		return nil, err
	}
	p := &promptRequest{
		SessionID: sessionID, TurnID: head.Event.TurnID, LogicalTurn: head.LogicalTurn, Runtime: head.RuntimeID, Call: choice.call,
		Slot: head.Slot, calls: len(calls), wire: recorded.Body(), Tools: []model.Tool{}, Messages: []model.Message{},
	}
	if len(recorded.Records) > 0 {
		r := recorded.Records[0]
		for _, candidate := range recorded.Records {
			if len(candidate.Body) > 0 {
				r = candidate
				break
			}
		}
		p.provider, p.Protocol, p.Model = r.Provider, r.Protocol, r.Model
	}
	plain := trace.ReadPlain(p.wire)
	p.System = plain.System
	p.Tools = append(p.Tools, plain.Tools...)
	p.Messages = append(p.Messages, plain.Messages...)

	stored, known, err := activities.ReadContext(ctx, st, turn.RunID(head.Event.TraceID, head.RuntimeID))
	if err != nil {
		return nil, err
	}
	if !known {
		stored = activities.StoredContext{}
	}
	p.CurrentTurnUserMessages = stored.CurrentTurnUserMessages
	if p.Protocol == model.ProtocolScripted && len(p.Tools) == 0 {
		p.Tools = append(p.Tools, stored.Tools...) // a scripted body has messages only
	}
	if p.estimator, p.Limit, err = targets.of(p.Slot, p.provider, p.Model); err != nil {
		return nil, err
	}
	if p.Estimate, err = estimate(p); err != nil {
		return nil, err
	}
	p.Usage, err = usageOf(ctx, st, head)
	if err != nil {
		return nil, err
	}
	rt, ok := gen.Runtime(p.Runtime)
	windowed := ok && rt.Agent != nil && rt.Agent.HistoryMaxTurns != nil
	p.Sections = nameSections(p, stored, windowed)
	return p, nil
}

// pick gives the calls of the asked runtime and turn, and fills what was left
// open in the choice.
func (c *promptChoice) pick(heads []trace.Head) ([]trace.Head, error) {
	const op = "show prompt"
	if len(heads) == 0 {
		return nil, turn.Errorf(op, "NOT_FOUND", "no call is recorded in this game; play a turn first")
	}
	if c.turn == 0 {
		for _, h := range heads {
			c.turn = max(c.turn, h.LogicalTurn)
		}
	}
	inTurn := slices.DeleteFunc(slices.Clone(heads), func(h trace.Head) bool { return h.LogicalTurn != c.turn })
	if len(inTurn) == 0 {
		return nil, turn.Errorf(op, "turn_not_found", "no call of turn %d is recorded; recorded turns are %s", c.turn, recordedTurns(heads))
	}
	if c.runtime == "" {
		c.runtime = inTurn[0].RuntimeID
		for _, h := range inTurn {
			if h.Slot == storySlot {
				c.runtime = h.RuntimeID
				break
			}
		}
	}
	calls := slices.DeleteFunc(slices.Clone(inTurn), func(h trace.Head) bool { return h.RuntimeID != c.runtime })
	if len(calls) == 0 {
		return nil, turn.Errorf(op, "runtime_not_found", "turn %d has no call of %q; it has calls of %s", c.turn, c.runtime, runtimesOf(inTurn))
	}
	if c.call == 0 {
		c.call = 1
	}
	if c.call > len(calls) {
		return nil, turn.Errorf(op, "NOT_FOUND", "%s made %d calls in turn %d; --call %d is beyond them", c.runtime, len(calls), c.turn, c.call)
	}
	return calls, nil
}

// storySlot is the slot that tells the story (spec 04 §3).
const storySlot = "story"

func recordedTurns(heads []trace.Head) string {
	first, last := heads[0].LogicalTurn, heads[0].LogicalTurn
	for _, h := range heads {
		first, last = min(first, h.LogicalTurn), max(last, h.LogicalTurn)
	}
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d to %d", first, last)
}

func runtimesOf(heads []trace.Head) string {
	count := map[string]int{}
	var ids []string
	for _, h := range heads {
		if count[h.RuntimeID] == 0 {
			ids = append(ids, h.RuntimeID)
		}
		count[h.RuntimeID]++
	}
	for i, id := range ids {
		ids[i] = fmt.Sprintf("%s (%d)", id, count[id])
	}
	return strings.Join(ids, ", ")
}

// estimate counts the request as the budget does (spec 01 §15.2).
func estimate(p *promptRequest) (int, error) {
	budget := assembler.Budget{Estimator: p.estimator, Window: 1 << 40}
	_, report, err := budget.Apply(assembler.Request{System: p.System, Messages: p.Messages, Tools: p.Tools}, &assembler.Ledger{})
	return report.Estimate, err
}

// usageOf reads what the provider counted off the reply's event.
func usageOf(ctx context.Context, st store.Reader, head trace.Head) (*turn.Usage, error) {
	events, err := st.TraceEvents(ctx, head.Event.SessionID, head.Event.TurnID, trace.LLMResponded)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		var reply struct {
			RuntimeID string     `json:"runtimeId"`
			Step      int        `json:"step"`
			Usage     turn.Usage `json:"usage"`
		}
		if e.TraceID == head.Event.TraceID && json.Unmarshal(e.Payload, &reply) == nil &&
			reply.RuntimeID == head.RuntimeID && reply.Step == head.Step {
			return &reply.Usage, nil
		}
	}
	return nil, nil
}
