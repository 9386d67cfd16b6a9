package agentloop

import (
	"fmt"
	"slices"

	"github.com/covel-engine/covel/turn"
)

const (
	codeOverflow    = "context-overflow"
	codeProvider    = "PROVIDER_ERROR"
	codeCallTimeout = "call-timeout"
	finishLength    = "length" // spec 04 §15.3
)

// textEnding is a reply without calls: contract, then late steering, then the
// end (spec 03 §11.4).
func (m *Machine) textEnding() Command {
	if m.unmet() != "" {
		note := "T17"
		if m.spec.Require == requireExplicit {
			note = "T18"
		}
		return m.contractOr(turn.EndingText, note)
	}
	if m.steered > m.read && m.stepsLeft() {
		// Free prose is joined; of schema output the last counts.
		if m.captured != 0 && !m.spec.HasSchema {
			m.parts = append(m.parts, m.captured)
			m.captured = 0
		}
		return m.next(request{})
	}
	return m.end(turn.EndingText)
}

// doneEnding is a batch with runtime-done (spec 03 §11.4).
func (m *Machine) doneEnding() Command {
	if m.unmet() != "" {
		return m.contractOr(turn.EndingDone, "T19")
	}
	if m.spec.Story && m.captured == 0 && len(m.parts) == 0 {
		m.withdrawn = true
		return m.next(request{notes: []turn.Note{{Text: "T20"}}})
	}
	return m.end(turn.EndingDone)
}

// corrected is a draft that a hook sent back.
func (m *Machine) corrected() Command {
	m.captured = 0
	m.hookCorrections++
	if m.hookCorrections > maxHookCorrections {
		return m.fail(turn.CodeCorrectionLimit,
			fmt.Sprintf("hooks corrected %d drafts of %q; at most %d corrections are taken", m.hookCorrections, m.spec.RuntimeID, maxHookCorrections))
	}
	return m.next(request{})
}

// cutReply repeats a step whose reply hit the output limit, once (spec 04
// §7.3). Its calls may be cut too, so none of them runs.
func (m *Machine) cutReply(req request, calls []turn.CallFact) Command {
	if req.again {
		return m.fail(codeProvider,
			fmt.Sprintf("the reply of %q was cut at the output limit twice; give its model slot a larger maxOutputTokens", m.spec.RuntimeID))
	}
	req.again = true
	req.notes = []turn.Note{{Text: "T16"}}
	if len(calls) > 0 && !m.timeUp() {
		return m.cancelBatch(calls, req)
	}
	return m.next(req)
}

// callFailed is a model call that failed for good.
func (m *Machine) callFailed(out turn.StepOutcome) Command {
	cause := failure{out.Failed, out.Message}
	switch {
	case out.Failed == codeOverflow && m.finalizerAllowed():
		return m.askFinalizer(cause)
	case out.Failed == codeCallTimeout && m.timeUp():
		return m.timeOver()
	}
	return m.failAs(cause)
}

// stepsOver: one extra step for a missing tool call, the finalizer, captured
// text, or failure, in this order.
func (m *Machine) stepsOver() Command {
	if m.spec.Require == requireToolUse && m.unmet() != "" {
		return m.contractOr(turn.EndingExhausted, "T17")
	}
	cause := failure{turn.CodeMaxSteps, fmt.Sprintf("agent runtime %q used its %d steps without an answer", m.spec.RuntimeID, m.limits.steps)}
	if m.finalizerAllowed() {
		return m.askFinalizer(cause)
	}
	return m.exhausted(cause)
}

func (m *Machine) timeOver() Command {
	return m.exhausted(failure{turn.CodeTimeout, fmt.Sprintf("agent runtime %q timed out after %dms", m.spec.RuntimeID, m.limits.timeoutMs)})
}

// exhausted takes captured text as the answer; contracts still apply.
func (m *Machine) exhausted(cause failure) Command {
	if !m.hasText() {
		return m.failAs(cause)
	}
	if why := m.unmet(); why != "" {
		return m.broken(why)
	}
	return m.end(turn.EndingExhausted)
}

func (m *Machine) hasText() bool { return m.captured != 0 || len(m.parts) > 0 }

// finalizerAllowed holds the conditions of spec 03 §11.6.
func (m *Machine) finalizerAllowed() bool {
	return m.spec.Finalizer && !m.finalized && m.groups && !m.timeUp() && m.unmet() == "" && !m.outputIsToolData()
}

// outputIsToolData says that only a completing tool's data can be the output
// (spec 03 §11.4), so that no prose could help.
func (m *Machine) outputIsToolData() bool {
	return m.spec.HasSchema && !m.spec.Story && m.spec.Require == requireToolUse &&
		len(m.spec.AfterTools) > 0 && !m.work.completed
}

func (m *Machine) askFinalizer(cause failure) Command {
	m.finalized = true
	return m.call(request{finalizer: true, notes: []turn.Note{{Text: "T34"}}, orElse: cause})
}

// finalizerReplied takes a usable answer; otherwise the run ends as it would
// have without the finalizer.
func (m *Machine) finalizerReplied(out turn.StepOutcome) Command {
	cut := out.Finish == finishLength && !m.spec.Story
	if out.Failed == "" && out.HasText && !out.Corrected && !cut {
		m.captured = m.length - 1
		return m.end(turn.EndingText)
	}
	cause := m.request.orElse
	if out.Failed == turn.CodeTurnAborted {
		return m.fail(out.Failed, out.Message)
	}
	if cause.code == codeOverflow {
		return m.failAs(cause)
	}
	return m.exhausted(cause)
}

// end finishes the run well, or suspends it.
func (m *Machine) end(ending turn.Ending) Command {
	f := Finish{Ending: ending, Tool: m.work.completedBy, Length: m.length, CapturedAt: m.captured, Parts: m.parts}
	if ending == turn.EndingTool && !m.spec.Story {
		f.CapturedAt, f.Parts = 0, nil // text beside calls is not final text (spec 03 §11.7)
	}
	if f.CapturedAt == 0 && len(f.Parts) > 0 { // the last answer was blank
		last := len(f.Parts) - 1
		f.CapturedAt, f.Parts = f.Parts[last], slices.Clone(f.Parts[:last])
	}
	return m.finishWith(f)
}

func (m *Machine) failAs(f failure) Command { return m.fail(f.code, f.message) }

func (m *Machine) fail(code, message string) Command {
	return m.finishWith(Finish{Ending: turn.EndingFailed, Code: code, Message: message, Length: m.length})
}

func (m *Machine) finishWith(f Finish) Command {
	m.move(ended)
	m.finish = &f
	return Command{Finish: m.finish}
}
