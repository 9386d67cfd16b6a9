package agentloop

import (
	"slices"
	"strings"
	"testing"

	"github.com/covel-engine/covel/turn"
)

func ptr(n int) *int { return &n }

func repeat(n int, r reply) []reply { return slices.Repeat([]reply{r}, n) }

// explicit is the contract of TE-079 to TE-084.
var explicit = turn.AgentSpec{Require: "explicit", AfterTools: []string{"save-facts"}, MaxSteps: 4}

func failing(names ...string) func(string, string) turn.ToolOutcome {
	return func(name, hash string) turn.ToolOutcome {
		if slices.Contains(names, name) || strings.HasPrefix(hash, "bad") {
			return turn.ToolOutcome{Code: turn.ResultExecutionError}
		}
		return turn.ToolOutcome{OK: true}
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	type want struct {
		ending turn.Ending
		code   string
		calls  int
		ran    string
	}
	cases := []struct {
		id      string
		spec    turn.AgentSpec
		replies []reply
		tools   func(name, hash string) turn.ToolOutcome
		abortAt int
		want    want
		check   func(t *testing.T, s *script, f *Finish)
	}{
		{id: "TE-071", spec: turn.AgentSpec{Story: true, MaxSteps: 1}, replies: []reply{text()},
			want: want{turn.EndingText, "", 1, ""},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.CapturedAt != 1 || f.Length != 2 {
					t.Errorf("captured at %d of %d, want 1 of 2", f.CapturedAt, f.Length)
				}
			}},
		{id: "TE-072", replies: []reply{calls("mark"), text()},
			want: want{turn.EndingText, "", 2, "mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				if s.asked[1].Length != 3 { // context, assistant, tool
					t.Errorf("second call at %d, want 3", s.asked[1].Length)
				}
			}},
		{id: "TE-075", spec: turn.AgentSpec{MaxSteps: 2}, replies: repeat(2, calls("mark")),
			want: want{turn.EndingFailed, turn.CodeMaxSteps, 2, "mark mark"}},
		{id: "TE-076", replies: []reply{calls("rm", "mark bad1", "mark bad2"), text()},
			tools: func(name, hash string) turn.ToolOutcome {
				return fails(map[string]string{"rm": turn.ResultUnauthorized, "mark": turn.ResultValidationError}[name])
			},
			want: want{turn.EndingText, "", 2, "rm mark mark"}},
		{id: "TE-077 accepted", replies: []reply{
			{corrected: true, calls: []string{"mark"}}, {corrected: true, calls: []string{"mark"}}, text()},
			want: want{turn.EndingText, "", 3, ""}},
		{id: "TE-077 third correction", replies: repeat(3, reply{corrected: true, text: true}),
			want: want{turn.EndingFailed, turn.CodeCorrectionLimit, 3, ""}},
		{id: "TE-078", replies: []reply{calls("search-tools"), calls("fly"), text()},
			want: want{turn.EndingText, "", 3, "search-tools fly"}},
		{id: "TE-079", spec: explicit, replies: []reply{text(), text()},
			want: want{turn.EndingFailed, turn.CodeRequireExplicit, 2, ""},
			check: func(t *testing.T, s *script, f *Finish) {
				if !strings.Contains(f.Message, "agent.loop.completion.require") || !strings.Contains(f.Message, "explicit") {
					t.Errorf("message %q names neither field nor value", f.Message)
				}
				if notes(s.asked[1]) != "T18" || s.asked[1].ToolChoice != "" || s.asked[1].Notes[0].Args["tools"] != "`save-facts`" {
					t.Errorf("correction %+v", s.asked[1])
				}
			}},
		{id: "TE-080", spec: explicit, replies: []reply{calls("runtime-done")},
			want: want{turn.EndingDone, "", 1, "runtime-done"}},
		{id: "TE-081", spec: explicit, replies: []reply{text(), calls("save-facts")},
			want: want{turn.EndingTool, "", 2, "save-facts"},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.Tool != "c2-0" || f.CapturedAt != 0 {
					t.Errorf("finish %+v: want the completing call c2-0, no final text", f)
				}
			}},
		{id: "TE-082", spec: explicit, replies: []reply{calls("broken-read"), calls("runtime-done")}, tools: failing("broken-read"),
			want: want{turn.EndingFailed, turn.CodeRequireExplicit, 2, "broken-read runtime-done"}},
		{id: "TE-083", spec: explicit, replies: []reply{calls("save-facts bad"), calls("save-facts good")}, tools: failing(),
			want: want{turn.EndingTool, "", 2, "save-facts save-facts"}},
		{id: "TE-084", spec: explicit, replies: []reply{calls("broken-read"), calls("save-facts")}, tools: failing("broken-read"),
			want: want{turn.EndingFailed, turn.CodeRequireExplicit, 2, "broken-read save-facts"}},
		{id: "TE-085", replies: []reply{text()}, want: want{turn.EndingText, "", 1, ""}},
		{id: "TE-086", spec: turn.AgentSpec{AfterTools: []string{"mark"}}, replies: []reply{calls("mark")},
			want: want{turn.EndingTool, "", 1, "mark"}},
		{id: "TE-087", replies: []reply{calls("mark"), calls("runtime-done")},
			want: want{turn.EndingDone, "", 2, "mark runtime-done"}},
		{id: "TE-088", spec: explicit, replies: []reply{calls("read-facts bad"), calls("read-facts good"), calls("runtime-done")}, tools: failing(),
			want: want{turn.EndingDone, "", 3, "read-facts read-facts runtime-done"}},
		{id: "TE-090", spec: turn.AgentSpec{MaxSteps: 2, Finalizer: true}, replies: []reply{calls("mark"), calls("mark"), text()},
			want: want{turn.EndingText, "", 3, "mark mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				if c := s.last(); !c.Finalizer || c.ToolChoice != "none" || notes(c) != "T34" {
					t.Errorf("finalizer call %+v", c)
				}
				if f.CapturedAt != f.Length-1 {
					t.Errorf("captured at %d of %d", f.CapturedAt, f.Length)
				}
			}},
		{id: "TE-091", spec: turn.AgentSpec{MaxSteps: 2}, replies: repeat(2, calls("mark")),
			want: want{turn.EndingFailed, turn.CodeMaxSteps, 2, "mark mark"}},
		{id: "TE-093", spec: turn.AgentSpec{Finalizer: true}, replies: []reply{calls("mark"), {failed: "context-overflow"}, text()},
			want: want{turn.EndingText, "", 3, "mark"}},
		{id: "TE-102", replies: []reply{{failed: "CONFIG_ERROR"}}, want: want{turn.EndingFailed, "CONFIG_ERROR", 1, ""}},
		{id: "TE-103", spec: turn.AgentSpec{TimeoutMs: 1000}, replies: []reply{{failed: "call-timeout", clock: 1000}},
			want: want{turn.EndingFailed, turn.CodeTimeout, 1, ""}},
		{id: "TE-104", spec: turn.AgentSpec{RuntimeID: "npc/x", MaxSteps: 20}, replies: repeat(20, calls("mark same")),
			want: want{turn.EndingFailed, turn.CodeToolLoopDetected, 4, "mark mark mark mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.Message != "tool-loop detected for npc/x: mark" {
					t.Errorf("message %q", f.Message)
				}
				for i, c := range s.asked {
					if hint := notes(c) == "T21"; hint != (i == 3) {
						t.Errorf("call %d notes %q", i+1, notes(c))
					}
				}
				if s.asked[3].Notes[0].Args["tool"] != "mark" {
					t.Errorf("hint %+v", s.asked[3].Notes)
				}
			}},
		{id: "TE-105", spec: turn.AgentSpec{LoopDetection: ptr(0), MaxSteps: 5}, replies: repeat(5, calls("mark same")),
			want: want{turn.EndingFailed, turn.CodeMaxSteps, 5, "mark mark mark mark mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				for i, c := range s.asked {
					if len(c.Notes) > 0 {
						t.Errorf("call %d notes %q", i+1, notes(c))
					}
				}
			}},
		{id: "TE-106", spec: turn.AgentSpec{Story: true}, replies: []reply{{text: true, steer: 1}},
			want: want{turn.EndingText, "", 1, ""},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.CapturedAt != 2 { // context, interjection, reply
					t.Errorf("captured at %d, want 2", f.CapturedAt)
				}
			}},
		{id: "TE-107", spec: turn.AgentSpec{Story: true}, replies: []reply{{text: true, late: 1}, {text: true, steer: 0}},
			want: want{turn.EndingText, "", 2, ""},
			check: func(t *testing.T, s *script, f *Finish) {
				if !slices.Equal(f.Parts, []int{1}) || f.CapturedAt != 2 {
					t.Errorf("parts %v and captured %d, want [1] and 2", f.Parts, f.CapturedAt)
				}
			}},
		{id: "TE-112", replies: []reply{calls("save-facts", "suspend", "read-facts")},
			tools: func(name, _ string) turn.ToolOutcome {
				return turn.ToolOutcome{OK: true, Suspended: name == "suspend"}
			},
			want: want{turn.EndingSuspended, "", 1, "save-facts suspend"},
			check: func(t *testing.T, s *script, f *Finish) {
				if got := strings.Join(s.answers, " "); got != "save-facts:ok suspend:ok read-facts:CANCELLED" {
					t.Errorf("answers %s", got)
				}
				if f.Length != 5 {
					t.Errorf("length %d, want 5", f.Length)
				}
			}},
		{id: "TE-116", replies: []reply{calls("suspend"), text()},
			tools: func(string, string) turn.ToolOutcome { return fails(turn.ResultDenied) },
			want:  want{turn.EndingText, "", 2, "suspend"}},
		{id: "TE-133", replies: []reply{calls("mark"), {failed: "context-overflow"}},
			want: want{turn.EndingFailed, "context-overflow", 2, "mark"}},
		{id: "TE-143", abortAt: 1, want: want{turn.EndingFailed, turn.CodeTurnAborted, 0, ""}},
		{id: "TE-145", spec: turn.AgentSpec{RuntimeID: "npc/x", TimeoutMs: 1000}, replies: []reply{calls("slow")},
			tools: func(string, string) turn.ToolOutcome { return turn.ToolOutcome{OK: true, ClockMs: 3000} },
			want:  want{turn.EndingFailed, turn.CodeTimeout, 1, "slow"},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.Message != `agent runtime "npc/x" timed out after 1000ms` {
					t.Errorf("message %q", f.Message)
				}
			}},

		// Rules of the chapter beyond the listed cases.
		{id: "a reply cut at the output limit is asked for once more", replies: []reply{{finish: "length", text: true}, text()},
			want: want{turn.EndingText, "", 2, ""},
			check: func(t *testing.T, s *script, f *Finish) {
				if notes(s.last()) != "T16" || s.last().Step != 1 {
					t.Errorf("second call %+v: want T16 in the same step", s.last())
				}
			}},
		{id: "the calls of a cut reply do not run", replies: []reply{{finish: "length", calls: []string{"mark", "mark"}}, calls("mark"), text()},
			want: want{turn.EndingText, "", 3, "mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				if got := strings.Join(s.answers, " "); got != "mark:CANCELLED mark:CANCELLED mark:ok" || notes(s.asked[1]) != "T16" {
					t.Errorf("answers %s, then %q", got, notes(s.asked[1]))
				}
			}},
		{id: "M-140 cut twice", replies: repeat(2, reply{finish: "length", calls: []string{"mark"}}),
			want: want{turn.EndingFailed, "PROVIDER_ERROR", 2, ""}},
		{id: "M-140 a cut story of text only is kept", spec: turn.AgentSpec{Story: true}, replies: []reply{{finish: "length", text: true}},
			want: want{turn.EndingText, "", 1, ""}},
		{id: "tool use missing after text", spec: turn.AgentSpec{Require: "tool-use"}, replies: []reply{text(), calls("mark"), text()},
			want: want{turn.EndingText, "", 3, "mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				if s.asked[1].ToolChoice != "required" || notes(s.asked[1]) != "T17" || s.asked[2].ToolChoice != "" {
					t.Errorf("correction %+v, then %+v", s.asked[1], s.asked[2])
				}
			}},
		{id: "tool use missing after runtime-done", spec: turn.AgentSpec{Require: "tool-use"}, replies: []reply{calls("runtime-done"), calls("runtime-done")},
			want: want{turn.EndingFailed, turn.CodeRequireToolUse, 2, "runtime-done runtime-done"},
			check: func(t *testing.T, s *script, f *Finish) {
				if notes(s.asked[1]) != "T19" {
					t.Errorf("notes %q", notes(s.asked[1]))
				}
			}},
		{id: "tool use gets one step beyond the last", spec: turn.AgentSpec{Require: "tool-use", MaxSteps: 1}, replies: []reply{text(), calls("mark")},
			want: want{turn.EndingExhausted, "", 2, "mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.CapturedAt != 1 {
					t.Errorf("captured at %d", f.CapturedAt)
				}
			}},
		{id: "tool use missing after used-up steps", spec: turn.AgentSpec{Require: "tool-use", MaxSteps: 2}, replies: repeat(3, calls("mark")), tools: failing("mark"),
			want: want{turn.EndingFailed, turn.CodeRequireToolUse, 3, "mark mark mark"}},
		{id: "search-tools is no business work", spec: turn.AgentSpec{Require: "tool-use"}, replies: []reply{calls("search-tools"), text(), text()},
			want: want{turn.EndingFailed, turn.CodeRequireToolUse, 3, "search-tools"}},
		{id: "terminate cancels the rest", replies: []reply{calls("a", "stop", "b", "c").withText()},
			tools: func(name, _ string) turn.ToolOutcome { return turn.ToolOutcome{OK: true, Terminate: name == "stop"} },
			want:  want{turn.EndingTerminate, "", 1, "a stop"},
			check: func(t *testing.T, s *script, f *Finish) {
				if got := strings.Join(s.answers, " "); got != "a:ok stop:ok b:CANCELLED c:CANCELLED" || f.CapturedAt != 1 {
					t.Errorf("answers %s, captured at %d", got, f.CapturedAt)
				}
			}},
		{id: "a failed business tool in the batch keeps the run going", spec: turn.AgentSpec{AfterTools: []string{"mark"}}, replies: []reply{calls("bad", "mark"), text()}, tools: failing("bad"),
			want: want{turn.EndingText, "", 2, "bad mark"}},
		{id: "a denied call beside the completing one does not", spec: turn.AgentSpec{AfterTools: []string{"mark"}}, replies: []reply{calls("veto", "mark")},
			tools: func(name, _ string) turn.ToolOutcome {
				if name == "veto" {
					return fails(turn.ResultDenied)
				}
				return turn.ToolOutcome{OK: true}
			},
			want: want{turn.EndingTool, "", 1, "veto mark"}},
		{id: "runtime-done without story asks for it", spec: turn.AgentSpec{Story: true}, replies: []reply{calls("runtime-done"), text()},
			want: want{turn.EndingText, "", 2, "runtime-done"},
			check: func(t *testing.T, s *script, f *Finish) {
				if notes(s.last()) != "T20" || s.last().ToolChoice != "none" {
					t.Errorf("story request %+v", s.last())
				}
			}},
		{id: "a completing tool ends a story with its text", spec: turn.AgentSpec{Story: true, AfterTools: []string{"mark"}}, replies: []reply{calls("mark").withText()},
			want: want{turn.EndingTool, "", 1, "mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.CapturedAt != 1 {
					t.Errorf("captured at %d, want 1", f.CapturedAt)
				}
			}},
		{id: "steps run out with text beside calls", spec: turn.AgentSpec{MaxSteps: 1}, replies: []reply{calls("mark").withText()},
			want: want{turn.EndingExhausted, "", 1, "mark"}},
		{id: "a finalizer without answer leaves the failure", spec: turn.AgentSpec{MaxSteps: 1, Finalizer: true}, replies: []reply{calls("mark"), {}},
			want: want{turn.EndingFailed, turn.CodeMaxSteps, 2, "mark"}},
		{id: "a failed rescue leaves the overflow", spec: turn.AgentSpec{Finalizer: true}, replies: []reply{calls("mark"), {failed: "context-overflow"}, {failed: "PROVIDER_ERROR"}},
			want: want{turn.EndingFailed, "context-overflow", 3, "mark"},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.Message != "text of context-overflow" {
					t.Errorf("message %q", f.Message)
				}
			}},
		{id: "no rescue without a tool group", spec: turn.AgentSpec{Finalizer: true}, replies: []reply{{failed: "context-overflow"}},
			want: want{turn.EndingFailed, "context-overflow", 1, ""}},
		{id: "late steering without a step left", spec: turn.AgentSpec{Story: true, MaxSteps: 1}, replies: []reply{{text: true, late: 1}},
			want: want{turn.EndingText, "", 1, ""}},
		{id: "a blank last answer keeps the part before it", spec: turn.AgentSpec{Story: true}, replies: []reply{{text: true, late: 1}, {}},
			want: want{turn.EndingText, "", 2, ""},
			check: func(t *testing.T, s *script, f *Finish) {
				if f.CapturedAt != 1 || len(f.Parts) != 0 {
					t.Errorf("captured %d, parts %v", f.CapturedAt, f.Parts)
				}
			}},
		{id: "a time limit reached with text beside calls", spec: turn.AgentSpec{TimeoutMs: 100}, replies: []reply{calls("slow").withText()},
			tools: func(string, string) turn.ToolOutcome { return turn.ToolOutcome{OK: true, ClockMs: 100} },
			want:  want{turn.EndingExhausted, "", 1, "slow"}},
		{id: "a window of one counts as two", spec: turn.AgentSpec{LoopDetection: ptr(1)}, replies: repeat(9, calls("mark same")),
			want: want{turn.EndingFailed, turn.CodeToolLoopDetected, 3, "mark mark mark"}},
		{id: "denied calls count as a loop", replies: repeat(9, calls("mark same")), tools: func(string, string) turn.ToolOutcome { return fails(turn.ResultDenied) },
			want: want{turn.EndingFailed, turn.CodeToolLoopDetected, 4, "mark mark mark mark"}},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			s := &script{t: t, replies: c.replies, tools: c.tools, abortAt: c.abortAt}
			f := s.run(New(c.spec))
			got := want{f.Ending, f.Code, len(s.asked), strings.Join(s.ran, " ")}
			if got != c.want {
				t.Errorf("ended %+v, want %+v; finish %+v", got, c.want, f)
			}
			if c.check != nil {
				c.check(t, s, f)
			}
		})
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	t.Run("TE-113", func(t *testing.T) {
		t.Parallel()
		first := &script{t: t, replies: []reply{calls("save-facts", "suspend")},
			tools: func(name, _ string) turn.ToolOutcome {
				return turn.ToolOutcome{OK: true, Suspended: name == "suspend"}
			}}
		if f := first.run(New(explicit)); f.Ending != turn.EndingSuspended || f.Length != 4 {
			t.Fatalf("first run ended %+v", f)
		}
		again := &script{t: t, replies: []reply{text()}}
		f := again.run(Resume(explicit, Seed{Length: 4, Calls: []turn.CompletedCall{{ID: "c1-0", Name: "save-facts", Success: true}}}))
		if f.Ending != turn.EndingText || f.Tool != "c1-0" || f.Length != 5 || len(again.ran) != 0 {
			t.Errorf("resume ended %+v after %v", f, again.ran)
		}
	})
	t.Run("captured text is the answer of used-up time", func(t *testing.T) {
		t.Parallel()
		s := &script{t: t, replies: []reply{{calls: []string{"mark"}, clock: 70_000}}}
		if f := s.run(Resume(turn.AgentSpec{}, Seed{Length: 4, CapturedAt: 1})); f.Ending != turn.EndingExhausted || f.CapturedAt != 1 {
			t.Errorf("ended %+v", f)
		}
	})
	t.Run("a tool that was open stays open", func(t *testing.T) {
		t.Parallel()
		s := &script{t: t, replies: []reply{calls("runtime-done")}}
		f := s.run(Resume(explicit, Seed{Length: 4, Calls: []turn.CompletedCall{{Name: "read"}, {Name: "search-tools"}}}))
		if f.Code != turn.CodeRequireExplicit || !strings.Contains(f.Message, "read") || strings.Contains(f.Message, "search") {
			t.Errorf("ended %+v", f)
		}
	})
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	m := New(turn.AgentSpec{})
	if f := m.ModelReplied(turn.StepOutcome{}).Finish; f == nil || f.Code != turn.CodeHandlerError || !strings.Contains(f.Message, "ModelReplied in state Ready") {
		t.Errorf("reply before start: %+v", f)
	}
	if f := m.Start().Finish; f == nil || f.Code != turn.CodeHandlerError {
		t.Errorf("an ended machine answered %+v", f)
	}
	m = New(turn.AgentSpec{})
	m.Start()
	m.ModelReplied(turn.StepOutcome{Length: 2, Calls: []turn.CallFact{{ID: "a"}, {ID: "b"}}})
	if f := m.ToolFinished(turn.ToolOutcome{CallID: "b", OK: true}).Finish; f == nil || f.Code != turn.CodeHandlerError {
		t.Errorf("answers out of order: %+v", f)
	}
	m = New(turn.AgentSpec{})
	m.Start()
	m.ModelReplied(turn.StepOutcome{Length: 2, HasText: true})
	if f := m.Aborted().Finish; f == nil || f.Ending != turn.EndingText {
		t.Errorf("abort after the end: %+v", f)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	m := New(turn.AgentSpec{})
	m.Start()
	m.ModelReplied(turn.StepOutcome{Length: 2, Calls: []turn.CallFact{{ID: "a", Name: "x"}}, ClockMs: 10, CostMicroUSD: 3, Usage: turn.Usage{Input: 5, Output: 2}})
	m.ToolFinished(turn.ToolOutcome{CallID: "a", OK: true, ClockMs: 7})
	m.ModelReplied(turn.StepOutcome{Length: 4, HasText: true, ClockMs: 1, CostMicroUSD: 4, Usage: turn.Usage{Input: 6}})
	want := Facts{Steps: 2, ToolCalls: 1, Usage: turn.Usage{Input: 11, Output: 2}, CostMicroUSD: 7, ClockMs: 18}
	if got := m.Facts(); got != want || m.ClockUsed() != 18 {
		t.Errorf("facts %+v, want %+v", got, want)
	}
}
