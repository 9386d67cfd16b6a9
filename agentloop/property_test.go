package agentloop

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/turn"
)

// drawSpec gives any agent that a manifest may declare.
func drawSpec(t *rapid.T) turn.AgentSpec {
	spec := turn.AgentSpec{
		RuntimeID: "p/x",
		MaxSteps:  rapid.IntRange(1, 6).Draw(t, "maxSteps"),
		TimeoutMs: int64(rapid.SampledFrom([]int{50, 1000, 60_000}).Draw(t, "timeoutMs")),
		Finalizer: rapid.Bool().Draw(t, "finalizer"),
		HasSchema: rapid.Bool().Draw(t, "schema"),
		Story:     rapid.Bool().Draw(t, "story"),
		Require:   rapid.SampledFrom([]string{"", requireToolUse, requireExplicit}).Draw(t, "require"),
	}
	if rapid.Bool().Draw(t, "window set") {
		spec.LoopDetection = ptr(rapid.IntRange(0, 4).Draw(t, "window"))
	}
	if spec.Require == requireExplicit { // refused by the manifest otherwise
		spec.Story, spec.HasSchema = false, false
	}
	if rapid.Bool().Draw(t, "completes") {
		spec.AfterTools = []string{"submit"}
	}
	return spec
}

// rarely draws true about once in thirty times; small numbers are drawn most.
func rarely(t *rapid.T, label string) bool { return rapid.IntRange(0, 29).Draw(t, label) == 23 }

// world is a random driver that checks what every driver relies on.
type world struct {
	t       *rapid.T
	m       *Machine
	spec    turn.AgentSpec
	entries []string
	calls   int
	steps   map[int]bool
}

func (w *world) run(cmd Command) *Finish {
	for {
		n := 0
		for _, set := range []bool{cmd.CallModel != nil, cmd.RunTools != nil, cmd.Finish != nil} {
			if set {
				n++
			}
		}
		if n != 1 {
			w.t.Fatalf("command %+v has %d members", cmd, n)
		}
		if cmd.Finish != nil {
			return cmd.Finish
		}
		if rarely(w.t, "abort") {
			f := w.m.Aborted().Finish
			if f == nil || f.Code != turn.CodeTurnAborted {
				w.t.Fatalf("abort gave %+v", f)
			}
			return f
		}
		if cmd.CallModel != nil {
			cmd = w.reply(*cmd.CallModel)
			continue
		}
		cmd = w.answer(*cmd.RunTools)
	}
}

func (w *world) reply(c CallModel) Command {
	w.calls++
	w.steps[c.Step] = true
	switch {
	case c.Length != len(w.entries):
		w.t.Fatalf("call at %d of %d entries", c.Length, len(w.entries))
	case unpaired(w.entries) != "":
		w.t.Fatalf("call with unpaired tool call %s", unpaired(w.entries))
	case c.TimeLeftMs <= 0:
		w.t.Fatalf("call without time: %+v", c)
	case w.calls > 2*(w.spec.MaxSteps+2):
		w.t.Fatalf("%d model calls with %d steps", w.calls, w.spec.MaxSteps)
	}
	w.m.Steered(rapid.IntRange(0, 1).Draw(w.t, "steered"))
	out := turn.StepOutcome{Length: c.Length, Finish: "stop", ClockMs: int64(rapid.SampledFrom([]int{0, 0, 1, 40}).Draw(w.t, "clock"))}
	kind := rapid.SampledFrom([]string{"calls", "calls", "calls", "calls", "text", "blank", "corrected", "cut"}).Draw(w.t, "reply")
	if rarely(w.t, "overflow") {
		kind = "overflow"
	} else if rarely(w.t, "failed") {
		kind = "failed"
	}
	switch kind {
	case "overflow":
		out.Failed = codeOverflow
	case "failed":
		out.Failed = rapid.SampledFrom([]string{"PROVIDER_ERROR", codeCallTimeout}).Draw(w.t, "code")
	}
	if out.Failed != "" {
		return w.m.ModelReplied(out)
	}
	for _, n := range c.Notes {
		w.entries = append(w.entries, "note "+n.Text)
	}
	if w.spec.Story && rapid.Bool().Draw(w.t, "read in the call") {
		w.m.Steered(1)
		w.entries = append(w.entries, "interjection")
	}
	entry := "reply"
	if kind == "cut" {
		out.Finish = finishLength
	}
	out.HasText = kind == "text" || kind != "blank" && rapid.Bool().Draw(w.t, "text")
	if kind == "calls" || kind == "corrected" || kind == "cut" {
		for i := range rapid.IntRange(1, 3).Draw(w.t, "calls") {
			name := rapid.SampledFrom([]string{"work", "other", "work", "other", turn.ToolSearchTools, "submit", turn.ToolRuntimeDone}).Draw(w.t, "tool")
			out.Calls = append(out.Calls, turn.CallFact{
				ID: fmt.Sprintf("c%d-%d", w.calls, i), Name: name, Hash: rapid.SampledFrom([]string{"h1", "h2"}).Draw(w.t, "hash"),
			})
			if kind != "corrected" && !c.Finalizer {
				entry += " call=" + out.Calls[i].ID
			}
		}
	}
	w.entries = append(w.entries, entry)
	if kind == "corrected" {
		out.Corrected = true
		w.entries = append(w.entries, "correction")
	}
	out.Length = len(w.entries)
	return w.m.ModelReplied(out)
}

func (w *world) answer(b RunTools) Command {
	for i := b.From; i < len(b.Calls); i++ {
		if len(w.entries) != b.Reply+1+i {
			w.t.Fatalf("answer %d goes to %d, %d entries stand", i, b.Reply+1+i, len(w.entries))
		}
		out := turn.ToolOutcome{CallID: b.Calls[i].ID, Name: b.Calls[i].Name}
		if b.Cancelled {
			out.Code = turn.ResultCancelled
		} else {
			out.Code = rapid.SampledFrom([]string{"", "", "", turn.ResultDenied, turn.ResultExecutionError, turn.ResultUnauthorized}).Draw(w.t, "code")
			out.OK = out.Code == ""
			out.Terminate = rarely(w.t, "terminate")
			out.Suspended = out.OK && rarely(w.t, "suspend")
			out.ClockMs = int64(rapid.SampledFrom([]int{0, 0, 5, 30}).Draw(w.t, "clock"))
		}
		w.entries = append(w.entries, "result="+out.CallID)
		if cmd := w.m.ToolFinished(out); cmd != (Command{}) {
			return cmd
		}
	}
	w.t.Fatal("the batch is over without a command")
	return Command{}
}

// TestAnyScript drives random agents with random replies: the run ends within
// its limits, every request is one that a provider takes, and an ending keeps
// its promises.
func TestAnyScript(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt, spec: drawSpec(rt), entries: []string{"context"}, steps: map[int]bool{}}
		w.m = New(w.spec)
		f := w.run(w.m.Start())
		if len(w.steps) > w.spec.MaxSteps+1 {
			rt.Fatalf("%d steps of %d", len(w.steps), w.spec.MaxSteps)
		}
		if again := w.m.Start().Finish; again != f {
			rt.Fatal("an ended machine answers something else")
		}
		switch {
		case (f.Ending == turn.EndingFailed) != (f.Code != ""):
			rt.Fatalf("finish %+v", f)
		case f.Ending == turn.EndingFailed || f.Ending == turn.EndingSuspended:
			return
		case w.m.unmet() != "":
			rt.Fatalf("ended well with the contract open: %s", w.m.unmet())
		case f.CapturedAt != 0 && !strings.HasPrefix(w.entries[f.CapturedAt], "reply"):
			rt.Fatalf("captured entry %d is %q", f.CapturedAt, w.entries[f.CapturedAt])
		case f.Length != len(w.entries):
			rt.Fatalf("length %d of %d entries", f.Length, len(w.entries))
		case slices.Contains(f.Parts, f.CapturedAt) || !slices.IsSorted(f.Parts):
			rt.Fatalf("parts %v beside %d", f.Parts, f.CapturedAt)
		case f.Ending == turn.EndingExhausted && f.CapturedAt == 0:
			rt.Fatalf("exhausted without text: %+v", f)
		}
	})
}

// TestTransitions compares the table of doc.go with what the machine does in
// random runs: every row happens, and nothing happens that has no row.
func TestTransitions(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	type edge struct{ from, to state }
	declared := map[edge]bool{}
	for _, row := range regexp.MustCompile(`(?m)^//\t\| (\w+) +\|[^|]+\| (\w+) +\|$`).FindAllStringSubmatch(string(doc), -1) {
		declared[edge{state(row[1]), state(row[2])}] = false
	}
	delete(declared, edge{"state", "next"})
	if len(declared) < 10 {
		t.Fatalf("the table of doc.go has only %d transitions", len(declared))
	}
	record := func(from, to state) {
		if _, ok := declared[edge{from, to}]; !ok {
			t.Errorf("%s to %s has no row in doc.go", from, to)
		}
		declared[edge{from, to}] = true
	}
	drive := rapid.Custom(func(rt *rapid.T) *Finish {
		w := &world{t: rt, spec: drawSpec(rt), entries: []string{"context"}, steps: map[int]bool{}}
		w.m = New(w.spec)
		w.m.observe = record
		return w.run(w.m.Start())
	})
	for seed := range 2000 {
		drive.Example(seed)
	}
	abortIn := func(events ...func(m *Machine)) {
		m := New(turn.AgentSpec{})
		m.observe = record
		for _, e := range events {
			e(m)
		}
		m.Aborted()
	}
	start := func(m *Machine) { m.Start() }
	batch := func(m *Machine) {
		m.ModelReplied(turn.StepOutcome{Length: 2, Calls: []turn.CallFact{{ID: "a"}, {ID: "b"}}})
	}
	suspends := func(m *Machine) { m.ToolFinished(turn.ToolOutcome{CallID: "a", OK: true, Suspended: true}) }
	abortIn()
	abortIn(start)
	abortIn(start, batch)
	abortIn(start, batch, suspends)
	for e, happened := range declared {
		if !happened {
			t.Errorf("doc.go has a row from %s to %s that never happens", e.from, e.to)
		}
	}
}

func BenchmarkTwoStepRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m := New(turn.AgentSpec{AfterTools: []string{"submit"}})
		m.Start()
		m.ModelReplied(turn.StepOutcome{Length: 2, Calls: []turn.CallFact{{ID: "a", Name: "submit", Hash: "h"}}})
		if m.ToolFinished(turn.ToolOutcome{CallID: "a", Name: "submit", OK: true}).Finish == nil {
			b.Fatal("not ended")
		}
	}
}
