package agentloop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/continuation"
	"github.com/covel-engine/covel/turn"
)

// Values of agent.loop.completion.require (spec 03 §11.5).
const (
	requireToolUse  = "tool-use"
	requireExplicit = "explicit"
)

// work is what the run's tool calls achieved, as contracts see it.
type work struct {
	calls    []continuation.CompletionCall
	business bool
	done     bool // runtime-done succeeded
	// completedBy is the latest successful completing call.
	completedBy string
	completed   bool
	// open are the tools whose latest attempt failed, in order of failing.
	open []string
}

// called books one executed call. Only business calls count for contracts.
func (w *work) called(tool string, success, completing bool, id string) {
	done := tool == turn.ToolRuntimeDone
	w.calls = append(w.calls, continuation.CompletionCall{Name: tool, Success: success, Done: done})
	switch {
	case done:
		w.done = w.done || success
	case tool == turn.ToolSearchTools:
	case success:
		w.business = true
		w.open = slices.DeleteFunc(w.open, func(t string) bool { return t == tool })
		if completing {
			w.completed, w.completedBy = true, id
		}
	case !slices.Contains(w.open, tool):
		w.open = append(w.open, tool)
	}
}

// unmet says why the declared contract does not hold now, "" when it does.
func (m *Machine) unmet() string {
	switch m.spec.Require {
	case requireToolUse:
		if !m.work.business {
			return "no business tool call succeeded"
		}
	case requireExplicit:
		switch {
		case !m.work.completed && !m.work.done:
			return "neither a completing tool nor runtime-done succeeded"
		case len(m.work.open) > 0:
			return "the latest call of " + strings.Join(m.work.open, ", ") + " failed"
		}
	}
	return ""
}

// contractOr ends the run if the contract holds. A missing tool call is asked
// for once, with the note of the ending; an explicit contract is corrected
// only after bare text (T18).
func (m *Machine) contractOr(ending turn.Ending, note string) Command {
	why := m.unmet()
	if why == "" {
		return m.end(ending)
	}
	toolUse := m.spec.Require == requireToolUse
	if (toolUse || note == "T18") && m.contractCorrections < maxContractCorrections && !m.timeUp() {
		req := request{notes: []turn.Note{m.toolsNote(note)}, required: toolUse, extra: toolUse}
		if toolUse || m.stepsLeft() {
			m.contractCorrections++
			return m.next(req)
		}
	}
	return m.broken(why)
}

// broken fails the run for its contract.
func (m *Machine) broken(why string) Command {
	code := turn.CodeRequireToolUse
	if m.spec.Require == requireExplicit {
		code = turn.CodeRequireExplicit
	}
	return m.fail(code, fmt.Sprintf("agent.loop.completion.require is %s, but %s", m.spec.Require, why))
}

// toolsNote is a correction that names tools: the completing ones, else those
// that would do.
func (m *Machine) toolsNote(id string) turn.Note {
	names := m.spec.AfterTools
	switch {
	case len(names) > 0:
	case id == "T18":
		names = []string{turn.ToolRuntimeDone}
	default:
		names = m.spec.Tools
	}
	tools := "…"
	if len(names) > 0 {
		tools = "`" + strings.Join(names, "`, `") + "`"
	}
	return turn.Note{Text: id, Args: map[string]string{"tools": tools}}
}
