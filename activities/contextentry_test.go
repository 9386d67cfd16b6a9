package activities

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestContextEntries: what a turn stores of its context follows what is new in
// it, and any worker rebuilds the same context.
func TestContextEntries(t *testing.T) {
	t.Parallel()
	const turns = 40
	l := newLab(t, labHandlers{})
	var scopes []turn.Scope
	for n := range turns {
		scope := l.begin(t, fmt.Sprintf("t-%d", n))
		if facts := l.agent(t, scope, "lab/teller", "narrative"); facts.Status != turn.RuntimeSuccess {
			t.Fatalf("turn %d: %+v", n, facts)
		}
		l.commit(t, scope)
		scopes = append(scopes, scope)
	}
	wholes := 0
	for n, scope := range scopes {
		entry, size := l.contextEntry(t, scope)
		if entry.Base == "" {
			wholes++
			continue
		}
		if size > 1500 || len(entry.New) > 6 {
			t.Errorf("turn %d stores %d bytes and %d new parts", n, size, len(entry.New))
		}
	}
	if most := 1 + turns/maxContextChain; wholes > most {
		t.Errorf("%d of %d entries are whole lists; %d are allowed", wholes, turns, most)
	}
	l.restart(t)
	for n, scope := range scopes {
		l.wantContext(t, scope, l.model.calls[n])
	}
}

// TestContextOfAnotherWorker: a worker that remembers nothing goes on with the
// stored context when records have changed since.
func TestContextOfAnotherWorker(t *testing.T) {
	t.Parallel()
	l := newLab(t, labHandlers{})
	for n := range 3 {
		scope := l.begin(t, fmt.Sprintf("t-%d", n))
		reply, err := l.CallModel(t.Context(), first(scope, "lab/teller", "narrative"))
		must(t, err)
		l.restart(t)
		in := first(scope, "lab/teller", "narrative")
		in.Step, in.Length = 2, reply.Length
		_, err = l.CallModel(t.Context(), in)
		must(t, err)
		one, two := l.model.calls[2*n], l.model.calls[2*n+1]
		if diff := cmp.Diff(one.Messages, two.Messages[:len(one.Messages)]); diff != "" {
			t.Errorf("turn %d: the second request changes the first: %s", n, diff)
		}
		if a, b := encode(t, one.Tools), encode(t, two.Tools); a != b {
			t.Errorf("turn %d: tools %s, then %s", n, a, b)
		}
		l.commit(t, scope)
	}
}

func (l *lab) contextEntry(t *testing.T, scope turn.Scope) (contextEntry, int) {
	t.Helper()
	rows, err := l.st.Transcript(t.Context(), turn.RunID(scope.ExecutionID, "lab/teller"), 0, 1)
	must(t, err)
	var entry contextEntry
	must(t, json.Unmarshal(rows[0].Content, &entry))
	return entry, len(rows[0].Content)
}

// wantContext checks the stored context of a run against its first request.
func (l *lab) wantContext(t *testing.T, scope turn.Scope, sent model.Params) {
	t.Helper()
	stored, err := l.context(t.Context(), scope, "lab/teller")
	must(t, err)
	messages := append([]model.Message{{Role: model.RoleSystem, Content: stored.System}}, stored.Messages...)
	if a, b := encode(t, sent.Messages), encode(t, messages); a != b {
		t.Errorf("%s: sent %s\nstored %s", scope.TurnID, a, b)
	}
	if a, b := encode(t, sent.Tools), encode(t, stored.Tools); a != b {
		t.Errorf("%s: sent tools %s\nstored %s", scope.TurnID, a, b)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

// TestSharedParts: what two lists share and what is new make the new list.
func TestSharedParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "c"})
		base := rapid.SliceOfN(part, 0, 8).Draw(t, "base")
		next := rapid.SliceOfN(part, 0, 8).Draw(t, "next")
		keep, tail := shared(base, next)
		if keep+tail > min(len(base), len(next)) {
			t.Fatalf("%d and %d parts are shared of %q and %q", keep, tail, base, next)
		}
		got := slices.Concat(base[:keep], next[keep:len(next)-tail], base[len(base)-tail:])
		if !slices.Equal(got, next) {
			t.Fatalf("%q, want %q", got, next)
		}
	})
}
