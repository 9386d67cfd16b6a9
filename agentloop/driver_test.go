package agentloop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/turn"
)

// script is a driver with a fixed list of replies. It keeps the transcript as
// a real one does, so that pairing and lengths can be checked.
type script struct {
	t       *testing.T
	replies []reply
	// tools answers a call by its name; nil answers ok.
	tools func(name, hash string) turn.ToolOutcome

	m       *Machine
	asked   []CallModel
	ran     []string // names of the executed calls
	answers []string // "name:ok", "name:CODE" of every answered call
	entries []string
	abortAt int // model call to abort before, 1-based
}

// reply is one scripted reply. calls are "name" or "name hash".
type reply struct {
	text      bool
	calls     []string
	corrected bool
	failed    string
	finish    string
	clock     int64
	// steer is sent while the call runs; late ones are not read by it.
	steer, late int
}

func text() reply                        { return reply{text: true} }
func calls(names ...string) reply        { return reply{calls: names} }
func (r reply) withText() reply          { r.text = true; return r }
func (s *script) last() CallModel        { return s.asked[len(s.asked)-1] }
func fails(code string) turn.ToolOutcome { return turn.ToolOutcome{Code: code} }

func (s *script) run(m *Machine) *Finish {
	s.t.Helper()
	s.m = m
	for len(s.entries) < m.length {
		s.entries = append(s.entries, "context")
	}
	cmd := m.Start()
	for range 500 {
		switch {
		case cmd.Finish != nil:
			return cmd.Finish
		case cmd.CallModel != nil:
			if s.abortAt == len(s.asked)+1 {
				cmd = m.Aborted()
				continue
			}
			cmd = s.call(*cmd.CallModel)
		case cmd.RunTools != nil:
			cmd = s.batch(*cmd.RunTools)
		default:
			s.t.Fatal("the machine gave no command")
		}
	}
	s.t.Fatal("the machine does not end")
	return nil
}

func (s *script) call(c CallModel) Command {
	s.t.Helper()
	s.asked = append(s.asked, c)
	if len(s.entries) != c.Length {
		s.t.Fatalf("call %d at length %d, the transcript has %d entries", len(s.asked), c.Length, len(s.entries))
	}
	if open := unpaired(s.entries); open != "" {
		s.t.Fatalf("call %d with unpaired tool call %s", len(s.asked), open)
	}
	if len(s.asked) > len(s.replies) {
		s.t.Fatalf("unexpected model call %d: %+v", len(s.asked), c)
	}
	r := s.replies[len(s.asked)-1]
	out := turn.StepOutcome{Length: c.Length, Finish: r.finish, HasText: r.text, Corrected: r.corrected, Failed: r.failed, ClockMs: r.clock}
	if r.failed != "" {
		out.Message = "text of " + r.failed
		s.m.Steered(r.steer + r.late)
		return s.m.ModelReplied(out)
	}
	for _, n := range c.Notes {
		s.entries = append(s.entries, "note "+n.Text)
	}
	for range r.steer {
		s.entries = append(s.entries, "interjection")
	}
	entry := "reply"
	for i, c := range r.calls {
		name, hash, _ := strings.Cut(c, " ")
		fact := turn.CallFact{ID: fmt.Sprintf("c%d-%d", len(s.asked), i), Name: name, Hash: hash}
		if hash == "" {
			fact.Hash = fact.ID
		}
		out.Calls = append(out.Calls, fact)
		if !r.corrected {
			entry += " call=" + fact.ID
		}
	}
	s.entries = append(s.entries, entry)
	if r.corrected {
		s.entries = append(s.entries, "correction")
	}
	out.Length = len(s.entries)
	s.m.Steered(r.steer + r.late)
	return s.m.ModelReplied(out)
}

func (s *script) batch(b RunTools) Command {
	s.t.Helper()
	for i := b.From; i < len(b.Calls); i++ {
		c := b.Calls[i]
		if want := b.Reply + 1 + i; len(s.entries) != want {
			s.t.Fatalf("answer %d goes to %d, the transcript has %d entries", i, want, len(s.entries))
		}
		out := turn.ToolOutcome{OK: true}
		switch {
		case b.Cancelled:
			out = fails(turn.ResultCancelled)
		case s.tools != nil:
			out = s.tools(c.Name, c.Hash)
		}
		out.CallID, out.Name = c.ID, c.Name
		if !b.Cancelled {
			s.ran = append(s.ran, c.Name)
		}
		word := out.Code
		if out.OK {
			word = "ok"
		}
		s.answers = append(s.answers, c.Name+":"+word)
		s.entries = append(s.entries, "result="+c.ID)
		if cmd := s.m.ToolFinished(out); cmd != (Command{}) {
			return cmd
		}
	}
	s.t.Fatal("the batch is over and the machine gave no command")
	return Command{}
}

// unpaired names a call that has no result right behind its reply.
func unpaired(entries []string) string {
	for i, e := range entries {
		n := 0
		for _, word := range strings.Fields(e) {
			id, ok := strings.CutPrefix(word, "call=")
			if !ok {
				continue
			}
			n++
			if i+n >= len(entries) || entries[i+n] != "result="+id {
				return id
			}
		}
	}
	return ""
}

func notes(c CallModel) string {
	var ids []string
	for _, n := range c.Notes {
		ids = append(ids, n.Text)
	}
	return strings.Join(ids, " ")
}
