package agentloop

import (
	"fmt"

	"github.com/covel-engine/covel/turn"
)

type state string

const (
	ready      state = "Ready"
	calling    state = "Calling"
	running    state = "Running"
	cancelling state = "Cancelling"
	ended      state = "Ended"
)

// Machine drives one run of one agent. It is not safe for concurrent use and
// needs no lock: a workflow coroutine owns it.
type Machine struct {
	spec   turn.AgentSpec
	limits limits
	state  state

	// length is the number of transcript entries that exist.
	length int
	step   int
	clock  int64
	facts  Facts

	// request is the model call under way; asked its command.
	request request
	asked   CallModel
	batch   batch

	// captured is the entry of the latest non-blank text, 0 for none; parts
	// are the answers that late steering put before it.
	captured int
	parts    []int

	work      work
	recent    []turn.CallFact
	loopHits  int
	groups    bool
	withdrawn bool // a story was asked for: tools are off

	hookCorrections     int
	contractCorrections int
	finalized           bool
	finish              *Finish

	// Interjections: accepted so far, accepted when the call was asked for,
	// and read so far.
	steered, steeredAtCall, read int

	// observe sees every transition; tests compare them with doc.go.
	observe func(from, to state)
}

// Facts are the machine's figures for progress and results.
type Facts struct {
	Steps        int
	ToolCalls    int
	Usage        turn.Usage
	CostMicroUSD int64
	ClockMs      int64
}

// New makes the machine of a fresh run. Set spec.RuntimeID, so that failure
// texts can name the runtime.
func New(spec turn.AgentSpec) *Machine {
	return &Machine{spec: spec, limits: limitsOf(spec), state: ready, length: 1}
}

// Start gives the first command.
func (m *Machine) Start() Command {
	if m.state != ready {
		return m.misuse("Start")
	}
	return m.next(request{})
}

// ModelReplied takes the outcome of the model call that was asked for.
func (m *Machine) ModelReplied(out turn.StepOutcome) Command {
	if m.state != calling {
		return m.misuse("ModelReplied")
	}
	m.account(out)
	req := m.request
	switch {
	case req.finalizer:
		return m.finalizerReplied(out)
	case out.Failed != "":
		return m.callFailed(out)
	case out.Corrected:
		return m.corrected()
	case out.Finish == finishLength && !(m.spec.Story && out.HasText && len(out.Calls) == 0):
		return m.cutReply(req, out.Calls)
	}
	if out.HasText {
		m.captured = m.length - 1
	}
	if len(out.Calls) == 0 {
		return m.textEnding()
	}
	return m.runBatch(out.Calls)
}

// ToolFinished takes the answer of the next call of the batch. The zero
// Command says: run the next one.
func (m *Machine) ToolFinished(out turn.ToolOutcome) Command {
	if m.state != running && m.state != cancelling {
		return m.misuse("ToolFinished")
	}
	return m.toolFinished(out)
}

// Steered tells that n more interjections were accepted for this run. Only
// story runtimes read them (spec 03 §11.10).
func (m *Machine) Steered(n int) {
	if m.spec.Story {
		m.steered += n
	}
}

// Aborted ends the run for the player's abort.
func (m *Machine) Aborted() Command {
	if m.state == ended {
		return Command{Finish: m.finish}
	}
	return m.fail(turn.CodeTurnAborted, "the player aborted the turn")
}

// ClockUsed is how much of the runtime's time limit is used, in milliseconds.
func (m *Machine) ClockUsed() int64 { return m.clock }

// Facts gives the figures so far.
func (m *Machine) Facts() Facts {
	f := m.facts
	f.Steps, f.ClockMs = m.step, m.clock
	return f
}

// request is what one model call is asked for.
type request struct {
	notes     []turn.Note
	required  bool
	finalizer bool
	extra     bool // allowed beyond the last step
	again     bool // repeats the step of a cut reply
	// orElse is the failure that a finalizer without answer leaves standing.
	orElse failure
}

type failure struct{ code, message string }

// next starts a step, or ends the run when steps or time are over.
func (m *Machine) next(req request) Command {
	switch {
	case m.timeUp():
		return m.timeOver()
	case req.again:
		return m.call(req)
	case m.step >= m.limits.steps && !req.extra:
		return m.stepsOver()
	}
	m.step++
	return m.call(req)
}

func (m *Machine) call(req request) Command {
	m.move(calling)
	m.request = req
	m.steeredAtCall = m.steered
	m.asked = CallModel{
		Step: m.step, Length: m.length, Notes: req.notes,
		Finalizer: req.finalizer, TimeLeftMs: m.timeLeft(),
	}
	switch {
	case req.required:
		m.asked.ToolChoice = "required"
	case m.withdrawn || req.finalizer:
		m.asked.ToolChoice = "none"
	}
	asked := m.asked
	return Command{CallModel: &asked}
}

// account books a reply's figures and how far it moved the transcript.
func (m *Machine) account(out turn.StepOutcome) {
	m.clock += out.ClockMs
	m.facts.Usage = m.facts.Usage.Add(out.Usage)
	m.facts.CostMicroUSD += out.CostMicroUSD
	m.groups = m.groups || out.Groups
	// What was accepted before the call is stored, so the call read it. Entries
	// beyond the expected ones are interjections that it read, possibly before
	// their signal came here.
	if out.Failed == "" {
		entries := len(m.asked.Notes) + 1
		if out.Corrected {
			entries++
		}
		m.read += max(0, out.Length-m.asked.Length-entries)
	}
	m.read = max(m.read, m.steeredAtCall)
	m.length = max(m.length, out.Length)
}

// stepsLeft says whether another step may start.
func (m *Machine) stepsLeft() bool { return m.step < m.limits.steps && !m.timeUp() }

func (m *Machine) timeUp() bool { return m.clock >= m.limits.timeoutMs }

func (m *Machine) timeLeft() int64 { return max(0, m.limits.timeoutMs-m.clock) }

func (m *Machine) move(to state) {
	if m.observe != nil {
		m.observe(m.state, to)
	}
	m.state = to
}

// misuse ends the run of a driver that broke the contract of doc.go.
func (m *Machine) misuse(event string) Command {
	if m.state == ended {
		return Command{Finish: m.finish}
	}
	return m.fail(turn.CodeHandlerError, fmt.Sprintf("agent loop: event %s in state %s", event, m.state))
}
