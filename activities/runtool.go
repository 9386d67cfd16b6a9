package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/tool"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// toolAnswer is the recorded answer of one call.
type toolAnswer struct {
	Outcome       turn.ToolOutcome    `json:"outcome"`
	Record        turn.ToolRecord     `json:"record"`
	Proposals     []turn.Proposal     `json:"proposals,omitempty"`
	Notifications []json.RawMessage   `json:"notifications,omitempty"`
	Events        []turn.Event        `json:"events,omitempty"`
	Suspend       *plugin.SuspendMark `json:"suspend,omitempty"`
	// Data is the answer's data before the projection for models.
	Data json.RawMessage `json:"data,omitempty"`
}

// RunTool answers one tool call of a reply and appends the result to the
// transcript. The answer is recorded with it; a repeat gives the recorded one,
// so the same call never acts twice.
func (a *Activities) RunTool(ctx context.Context, in turn.RunToolInput) (turn.ToolOutcome, error) {
	stop := heartbeat(ctx)
	defer stop()
	answer, err := a.runTool(ctx, in)
	return answer.Outcome, outcome(err)
}

func (a *Activities) runTool(ctx context.Context, in turn.RunToolInput) (toolAnswer, error) {
	var answer toolAnswer
	key := toolKey(in.RuntimeID, in.At)
	if ok, err := a.recorded(ctx, in.Scope, journalTool, key, &answer); ok || err != nil {
		return answer, err
	}
	ex, rt, err := a.runtime(ctx, in.Scope, in.RuntimeID)
	if err != nil {
		return answer, err
	}
	var reply model.Message
	ok, err := a.entry(ctx, in.Scope, in.RuntimeID, in.Reply, &reply)
	if err != nil {
		return answer, err
	}
	i := slices.IndexFunc(reply.ToolCalls, func(c model.ToolCall) bool { return c.ID == in.CallID })
	if !ok || i < 0 {
		return answer, fmt.Errorf("transcript of %s has no call %q at entry %d", in.RuntimeID, in.CallID, in.Reply)
	}
	call := reply.ToolCalls[i]
	started := a.cfg.Now()
	var result tool.Outcome
	switch {
	case in.Cancelled:
		result = tool.Cancelled(in.Because)
	case in.Lost:
		result = tool.Lost()
	default:
		if result, err = a.executeTool(ctx, ex, rt, in, call); err != nil {
			return answer, err
		}
	}
	took := a.cfg.Now().Sub(started).Milliseconds()
	answer = a.toolAnswer(ex, rt, in, call, result, took)
	err = a.write(ctx, in.Scope, func(ctx context.Context, tx store.Tx) error {
		message := model.Message{Role: model.RoleTool, ToolCallID: call.ID, Content: result.Result}
		if err := a.appendEntry(ctx, tx, in.Scope, in.RuntimeID, in.At, model.RoleTool, message); err != nil {
			return err
		}
		if err := a.record(ctx, tx, in.Scope, journalTool, key, &answer); err != nil {
			return err
		}
		return trace.Insert(ctx, tx, a.cfg.Now(), toolCompleted(in, rt, answer))
	})
	return answer, err
}

// executeTool runs a call with what the run has buffered so far.
func (a *Activities) executeTool(ctx context.Context, ex *execution, rt *plugin.Runtime, in turn.RunToolInput, call model.ToolCall) (tool.Outcome, error) {
	earlier, err := a.toolAnswers(ctx, in.Scope, in.RuntimeID)
	if err != nil {
		return tool.Outcome{}, err
	}
	earlier = append(ex.frozen.Resume.answers(), earlier...)
	if err := a.refresh(ctx, ex); err != nil {
		return tool.Outcome{}, err
	}
	inputs, err := a.bind(ctx, ex, rt, in.Stage)
	if err != nil {
		return tool.Outcome{}, err
	}
	c := tool.Call{
		ID:             call.ID,
		Name:           call.Name,
		Arguments:      call.Arguments,
		View:           a.view(ex, rt.PluginID, rt.ID, false),
		World:          toolWorld{a: a, ex: ex},
		InputSlots:     inputs.byName(),
		IdempotencyKey: ex.scope.SessionID + "/" + ex.scope.TurnID + "/" + rt.ID + "/" + call.ID,
		Staged:         a.cfg.Texts.Get(ex.lang, "T33", nil),
		NoSuspend:      ex.frozen.Resume != nil,
	}
	for _, e := range earlier {
		c.Pending = append(c.Pending, e.Proposals...)
		for _, event := range e.Events {
			c.EmittedTopics = append(c.EmittedTopics, event.Topic)
		}
	}
	watched, stop := a.watchAbort(ctx, in.Scope)
	defer stop()
	if in.TimeLeftMs > 0 {
		var cancel context.CancelFunc
		watched, cancel = context.WithTimeout(watched, time.Duration(in.TimeLeftMs)*time.Millisecond)
		defer cancel()
	}
	result := a.toolSet(ex, rt).Run(watched, c)
	switch {
	case errors.Is(context.Cause(watched), errAborted):
		return result, errAborted
	case ctx.Err() != nil:
		return result, ctx.Err()
	default:
		return result, nil
	}
}

func (a *Activities) toolAnswer(ex *execution, rt *plugin.Runtime, in turn.RunToolInput, call model.ToolCall, result tool.Outcome, took int64) toolAnswer {
	answer := toolAnswer{
		Outcome: turn.ToolOutcome{
			CallID: call.ID, Name: call.Name, OK: result.OK, Code: result.Code, Suspended: result.Suspend != nil, ClockMs: took,
		},
		Record: turn.ToolRecord{
			ID: call.ID, Name: call.Name, Arguments: asJSON(call.Arguments), Result: asJSON(result.Result), OK: result.OK, Code: result.Code, DurationMs: took,
		},
		Notifications: result.Notifications,
		Events:        result.Events,
		Suspend:       result.Suspend,
		Data:          result.Data,
	}
	for i, w := range result.Proposals {
		p := a.proposal(ex, rt, w, turn.RunID(ex.scope.ExecutionID, rt.ID)+"/"+strconv.Itoa(in.At)+"/"+strconv.Itoa(i))
		if result.Owner != "" {
			p.Source.PluginID = result.Owner
		}
		answer.Proposals = append(answer.Proposals, p)
	}
	return answer
}

// asJSON keeps JSON as it is and quotes everything else.
func asJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil
	}
	return quoted
}

// toolKey orders a runtime's answers by their place in the transcript.
func toolKey(runtimeID string, at int) string { return fmt.Sprintf("%s/%06d", runtimeID, at) }

// toolAnswers gives the answers of one run so far, in order.
func (a *Activities) toolAnswers(ctx context.Context, scope turn.Scope, runtimeID string) ([]toolAnswer, error) {
	entries, err := a.cfg.Store.JournalEntries(ctx, scope.SessionID, scope.ExecutionID, journalTool)
	if err != nil {
		return nil, err
	}
	var answers []toolAnswer
	for _, e := range entries {
		if len(e.Key) != len(runtimeID)+7 || e.Key[:len(runtimeID)] != runtimeID {
			continue
		}
		var answer toolAnswer
		if err := json.Unmarshal(e.Payload, &answer); err != nil {
			return nil, fmt.Errorf("tool answer %s is unreadable: %w", e.Key, err)
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

func toolCompleted(in turn.RunToolInput, rt *plugin.Runtime, answer toolAnswer) trace.Event {
	payload := map[string]any{
		"runtimeId": rt.ID, "tool": answer.Record.Name, "callId": answer.Record.ID, "ok": answer.Record.OK, "durationMs": answer.Record.DurationMs,
	}
	if answer.Record.Code != "" {
		payload["code"] = answer.Record.Code
	}
	if !rt.IO.Concealed {
		payload["arguments"], payload["result"] = answer.Record.Arguments, answer.Record.Result
	}
	return trace.Event{Scope: in.Scope, Type: trace.ToolCompleted, Key: toolKey(rt.ID, in.At), Payload: payload}
}

// toolSet gives the tools of a runtime.
func (a *Activities) toolSet(ex *execution, rt *plugin.Runtime) tool.Set {
	return a.tools.ForRuntime(rt, ex.active)
}

// toolWorld is what builtin tools reach beyond a call's view.
type toolWorld struct {
	a  *Activities
	ex *execution
}

// Recall searches committed messages for the query's words.
func (w toolWorld) Recall(ctx context.Context, query string, limit int) ([]tool.Recollection, error) {
	rows, err := w.a.rawHistory(ctx, w.ex)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(rows))
	for i := range rows {
		texts[i] = rows[i].Content
	}
	var found []tool.Recollection
	for _, i := range tool.Rank(texts, query, limit) {
		found = append(found, tool.Recollection{Source: "messages", Ref: rows[i].TurnID, Text: assembler.Cut(texts[i], recalledRunes, "…")})
	}
	return found, nil
}

// recalledRunes bounds one recalled message.
const recalledRunes = 1000

// Memory calls the active provider of memory.block-access@1.
func (w toolWorld) Memory(ctx context.Context, request tool.MemoryRequest) (json.RawMessage, string, error) {
	for _, service := range w.ex.active.Services(tool.ContractMemory) {
		if service.Run == nil {
			continue
		}
		input, err := json.Marshal(request)
		if err != nil {
			return nil, "", err
		}
		answer, err := service.Run(ctx, w.a.view(w.ex, service.PluginID, "", false), input)
		return answer, service.PluginID, err
	}
	return nil, "", tool.ErrNoProvider
}
