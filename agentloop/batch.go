package agentloop

import (
	"fmt"
	"slices"

	"github.com/covel-engine/covel/turn"
)

// batch is the tool calls of one reply.
type batch struct {
	reply int
	calls []turn.CallFact
	done  int // calls answered so far

	suspended  bool
	terminated bool
	finished   bool // runtime-done succeeded
	completed  bool // a completing tool succeeded
	failed     bool // a business tool failed
	// cut is the request that repeats a cut reply, nil for a whole one.
	cut *request
}

func (m *Machine) runBatch(calls []turn.CallFact) Command {
	if m.timeUp() {
		return m.timeOver()
	}
	m.move(running)
	m.batch = batch{reply: m.length - 1, calls: slices.Clone(calls)}
	return m.tools(RunTools{})
}

// cancelBatch answers calls that must not run, so that the transcript stays
// one that a provider takes.
func (m *Machine) cancelBatch(calls []turn.CallFact, then request) Command {
	m.move(cancelling)
	m.batch = batch{reply: m.length - 1, calls: slices.Clone(calls), cut: &then}
	return m.tools(RunTools{Cancelled: true, Because: turn.CancelCut})
}

func (m *Machine) tools(cmd RunTools) Command {
	cmd.Reply, cmd.Calls, cmd.From = m.batch.reply, m.batch.calls, m.batch.done
	cmd.TimeLeftMs = m.timeLeft()
	return Command{RunTools: &cmd}
}

func (m *Machine) toolFinished(out turn.ToolOutcome) Command {
	call := m.batch.calls[m.batch.done]
	if out.CallID != call.ID {
		return m.fail(turn.CodeHandlerError,
			fmt.Sprintf("agent loop: answer of call %q while call %q is due", out.CallID, call.ID))
	}
	m.batch.done++
	m.length = m.batch.reply + 1 + m.batch.done
	m.clock += out.ClockMs
	if m.state == running {
		if call.Name != turn.ToolRuntimeDone { // it leaves no record
			m.facts.ToolCalls++
		}
		if m.timeUp() { // what a tool delivers after the deadline is discarded
			return m.timeOver()
		}
		m.note(call, out)
	}
	left := m.batch.done < len(m.batch.calls)
	switch {
	case left && m.state == running && m.batch.suspended:
		m.move(cancelling)
		return m.tools(RunTools{Cancelled: true, Because: turn.CancelSuspended})
	case left && m.state == running && m.batch.terminated:
		m.move(cancelling)
		return m.tools(RunTools{Cancelled: true, Because: turn.CancelTerminated})
	case left:
		m.move(m.state)
		return Command{}
	}
	return m.batchOver()
}

// note books one executed or refused call.
func (m *Machine) note(call turn.CallFact, out turn.ToolOutcome) {
	name := out.Name
	if name == "" {
		name = call.Name
	}
	b := &m.batch
	b.suspended = b.suspended || out.Suspended
	b.terminated = b.terminated || out.Terminate
	m.remember(call)
	switch {
	case out.Suspended:
		return // no result yet: neither success nor failure
	case !out.OK && (out.Code == turn.ResultDenied || out.Code == turn.ResultCancelled):
		return // the record is "denied": neither success nor failure (spec 03 §11.3)
	}
	completing := slices.Contains(m.spec.AfterTools, name)
	m.work.called(name, out.OK, completing, call.ID)
	switch name {
	case turn.ToolRuntimeDone:
		b.finished = b.finished || out.OK
	case turn.ToolSearchTools:
	default:
		b.completed = b.completed || out.OK && completing
		b.failed = b.failed || !out.OK
	}
}

// remember keeps the calls that loop detection compares.
func (m *Machine) remember(call turn.CallFact) {
	m.recent = append(m.recent, call)
	if over := len(m.recent) - m.limits.window; over > 0 {
		m.recent = m.recent[over:]
	}
}

// batchOver decides after the last call of a batch, in the order of spec 03
// §11.3.
func (m *Machine) batchOver() Command {
	m.groups = true
	b := m.batch
	switch {
	case b.cut != nil:
		return m.next(*b.cut)
	case b.suspended:
		return m.end(turn.EndingSuspended)
	case b.finished:
		return m.doneEnding()
	case b.terminated:
		return m.contractOr(turn.EndingTerminate, "T17")
	case b.completed && !b.failed:
		return m.contractOr(turn.EndingTool, "T17")
	}
	if m.looping() {
		tool := b.calls[len(b.calls)-1].Name
		m.loopHits++
		if m.loopHits > 1 {
			return m.fail(turn.CodeToolLoopDetected, fmt.Sprintf("tool-loop detected for %s: %s", m.spec.RuntimeID, tool))
		}
		return m.next(request{notes: []turn.Note{{Text: "T21", Args: map[string]string{"tool": tool}}}})
	}
	return m.next(request{})
}

// looping says whether the last calls of the run are all the same (spec 03
// §11.9).
func (m *Machine) looping() bool {
	if m.limits.window == 0 || len(m.recent) < m.limits.window {
		return false
	}
	first := m.recent[0]
	for _, c := range m.recent[1:] {
		if c.Name != first.Name || c.Hash != first.Hash {
			return false
		}
	}
	return true
}
