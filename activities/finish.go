package activities

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/tool"
	"github.com/covel-engine/covel/turn"
)

// FinishRuntime turns an ended run into the runtime's result: it parses and
// checks the output, gathers what the run's calls want to write, and journals
// all of it once (spec 03 §11.7). A failed run contributes no writes.
func (a *Activities) FinishRuntime(ctx context.Context, in turn.FinishInput) (turn.RuntimeFacts, error) {
	facts, err := a.finishRuntime(ctx, in)
	return facts, outcome(err)
}

func (a *Activities) finishRuntime(ctx context.Context, in turn.FinishInput) (turn.RuntimeFacts, error) {
	ex, rt, err := a.runtime(ctx, in.Scope, in.RuntimeID)
	if err != nil {
		return turn.RuntimeFacts{}, err
	}
	if r := ex.result(rt.ID); r != nil {
		return factsOf(r), nil
	}
	answers, err := a.toolAnswers(ctx, in.Scope, rt.ID)
	if err != nil {
		return turn.RuntimeFacts{}, err
	}
	answers = append(ex.frozen.Resume.answers(), answers...)
	r := a.newResult(ex, rt, in.Stage, in.Level)
	r.Steps, r.Usage, r.CostUSD, r.DurationMs = in.Steps, in.Usage, float64(in.CostMicroUSD)/1e6, in.DurationMs
	for _, answer := range answers {
		r.ToolCalls = append(r.ToolCalls, answer.Record)
	}
	if in.Ending == turn.EndingSuspended {
		s, err := a.suspendAgent(ctx, ex, rt, in, answers, r)
		if err != nil {
			return turn.RuntimeFacts{}, err
		}
		return a.settleSuspended(ctx, ex, r, s)
	}
	if in.Ending == turn.EndingFailed {
		failResult(r, in.Code, in.Message)
	} else if err := a.finalise(ctx, ex, rt, in, answers, r); err != nil {
		return turn.RuntimeFacts{}, err
	}
	if rt.Story() {
		key := store.StreamKey{SessionID: in.SessionID, TurnID: in.TurnID, RuntimeID: rt.ID}
		if err := a.cfg.Streams.End(ctx, key); err != nil {
			a.cfg.Log.Sugar().Warnw("a story's stream was not ended", "session", in.SessionID, "turn", in.TurnID, "error", err)
		}
	}
	return a.settle(ctx, ex, r)
}

func failResult(r *turn.RuntimeResult, code, message string) {
	r.Status, r.Output, r.CanonicalValue = turn.RuntimeFailed, nil, nil
	r.Error = &turn.OutcomeError{Kind: turn.KindOf(code), Code: code, Message: clip(message)}
}

// finalise fills a result that did not fail in the loop.
func (a *Activities) finalise(
	ctx context.Context, ex *execution, rt *plugin.Runtime, in turn.FinishInput, answers []toolAnswer, r *turn.RuntimeResult,
) error {
	texts, err := a.finalTexts(ctx, in)
	if err != nil {
		return err
	}
	out := ending{rt: rt, in: in, answers: answers, texts: texts}
	value, code, message := out.value()
	if code == "" {
		if err := a.checkOutput(ex, rt, value); err != nil {
			code, message = turn.CodeOutputSchemaInvalid, "the output does not fit its schema: "+err.Error()
		}
	}
	if code != "" {
		failResult(r, code, message)
		return nil
	}
	r.Status, r.Output = turn.RuntimeSuccess, value
	if in.Ending == turn.EndingTool {
		r.Completion = "done"
	}
	effects := &turn.Effects{}
	var notifications []json.RawMessage
	for _, answer := range answers {
		r.Proposals = append(r.Proposals, answer.Proposals...)
		effects.Events = append(effects.Events, answer.Events...)
		notifications = append(notifications, answer.Notifications...)
	}
	if len(notifications) > 0 {
		if effects.Notifications, err = json.Marshal(notifications); err != nil {
			return err
		}
	}
	if len(effects.Events)+len(notifications) > 0 {
		r.Effects = effects
	}
	return nil
}

// finalTexts reads the replies that count as the run's final text.
func (a *Activities) finalTexts(ctx context.Context, in turn.FinishInput) ([]string, error) {
	entries := slices.Clone(in.Parts)
	if in.CapturedAt > 0 {
		entries = append(entries, in.CapturedAt)
	}
	var texts []string
	for _, at := range entries {
		var reply model.Message
		ok, err := a.entry(ctx, in.Scope, in.RuntimeID, at, &reply)
		if err != nil {
			return nil, err
		}
		if ok {
			texts = append(texts, reply.Content)
		}
	}
	return texts, nil
}

// ending is an ended run on its way to a value.
type ending struct {
	rt      *plugin.Runtime
	in      turn.FinishInput
	answers []toolAnswer
	texts   []string
}

// value gives the runtime's value, or the code of a failure (spec 03 §11.7):
// the completing tool's data, else final text, else the data of the last
// business call.
func (e *ending) value() (value json.RawMessage, code, message string) {
	schema := len(e.rt.IO.Output.Schema) > 0
	if e.in.Ending == turn.EndingTool && !e.rt.Story() {
		if schema {
			return e.completingData(), "", ""
		}
		return e.lastData(), "", ""
	}
	text := e.text()
	switch {
	case text != "" && e.rt.Story():
		return narrative(text), "", ""
	case text != "" && schema:
		if !json.Valid([]byte(text)) {
			return nil, turn.CodeOutputSchemaInvalid, "the answer is no JSON"
		}
		return json.RawMessage(text), "", ""
	case text != "":
		return envelopeOr(text), "", ""
	case e.rt.Story():
		return narrative(""), turn.CodeEmptyNarrative, "the run ended without story text"
	case e.everyCallFailed():
		return nil, turn.CodeToolFailedWithoutOutput, "every tool call failed and no text was written"
	case e.in.Ending == turn.EndingDone:
		return e.calls(), "", ""
	default:
		return e.lastData(), "", ""
	}
}

// text joins free prose of all parts; of schema output the last part counts.
func (e *ending) text() string {
	if len(e.texts) == 0 {
		return ""
	}
	if len(e.rt.IO.Output.Schema) > 0 && !e.rt.Story() {
		return strings.TrimSpace(e.texts[len(e.texts)-1])
	}
	var parts []string
	for _, t := range e.texts {
		if t = tool.SanitiseStory(t); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n\n")
}

// completingData is the data of the completing tool's answer.
func (e *ending) completingData() json.RawMessage {
	for _, a := range e.answers {
		if a.Record.ID == e.in.Tool && len(a.Data) > 0 {
			return a.Data
		}
	}
	return e.lastData()
}

// lastData is the data of the last successful business call, else an empty
// narrative.
func (e *ending) lastData() json.RawMessage {
	for _, a := range slices.Backward(e.answers) {
		if a.Record.OK && business(a.Record.Name) && len(a.Data) > 0 {
			return a.Data
		}
	}
	return narrative("")
}

// calls is what runtime-done leaves without text: the business calls.
func (e *ending) calls() json.RawMessage {
	type call struct {
		Name   string          `json:"name"`
		Output json.RawMessage `json:"output"`
	}
	var list []call
	for _, a := range e.answers {
		if a.Record.OK && business(a.Record.Name) {
			list = append(list, call{a.Record.Name, a.Record.Result})
		}
	}
	if len(list) == 0 {
		return narrative("")
	}
	b, err := json.Marshal(map[string]any{"toolCalls": list})
	if err != nil {
		return narrative("")
	}
	return b
}

func (e *ending) everyCallFailed() bool {
	failed := false
	for _, a := range e.answers {
		if a.Record.OK && business(a.Record.Name) {
			return false
		}
		failed = failed || !a.Record.OK
	}
	return failed
}

func business(name string) bool { return name != turn.ToolRuntimeDone && name != turn.ToolSearchTools }

func narrative(text string) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(map[string]string{"narrativeOutput": text}) != nil {
		return json.RawMessage(`{"narrativeOutput":""}`)
	}
	return json.RawMessage(strings.TrimSpace(b.String()))
}

// envelopeOr takes a JSON object as it is and prose as narrative text.
func envelopeOr(text string) json.RawMessage {
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return narrative(text)
}
