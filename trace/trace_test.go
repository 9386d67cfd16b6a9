package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type bundle struct {
	store store.Store
	rec   *trace.Recorder
	now   time.Time
}

func setup(t *testing.T) *bundle {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{InMemory: true})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	must(t, st.Migrate(t.Context()))
	must(t, st.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.InsertSession(ctx, session.Session{
			ID: "s", WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en-US",
		})
	}))
	b := &bundle{store: st, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	b.rec = b.recorder(t)
	return b
}

// recorder is a recorder that remembers nothing yet, as after a restart.
func (b *bundle) recorder(t testing.TB) *trace.Recorder {
	t.Helper()
	rec, err := trace.NewRecorder(trace.Config{Store: b.store, Clock: func() time.Time {
		b.now = b.now.Add(time.Millisecond)
		return b.now
	}})
	must(t, err)
	return rec
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func scope(turnID string) turn.Scope {
	return turn.Scope{SessionID: "s", TurnID: turnID, ExecutionID: "x-" + turnID}
}

func (b *bundle) events(t testing.TB, typ string) []store.TraceEvent {
	t.Helper()
	events, err := b.store.TraceEvents(context.Background(), "s", "", typ)
	must(t, err)
	return events
}

func TestRepeatedEventsAreOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := trace.Event{Scope: scope("t1"), Type: trace.RuntimeStarted, Key: "narrator", Payload: map[string]string{"runtimeId": "narrator"}}
	for range 3 {
		must(t, b.rec.Record(t.Context(), e))
	}
	other := e
	other.Key, other.Payload = "guide", nil
	must(t, b.rec.Record(t.Context(), other))
	events := b.events(t, "")
	if len(events) != 2 || events[0].Seq != 0 || events[1].Seq != 1 {
		t.Fatalf("there are %d events, want 2 numbered 0 and 1", len(events))
	}
	if events[0].TraceID != "x-t1" || string(events[1].Payload) != "{}" {
		t.Fatalf("events are %+v", events)
	}
}

func body(messages ...string) json.RawMessage {
	return json.RawMessage(`{ "model":"m", "messages": [` + strings.Join(messages, " ,\n ") + `] ,"tools":[{"name":"roll"}],"stream":true}`)
}

func message(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func request(turnID string, step int, body json.RawMessage) trace.Request {
	return trace.Request{
		Scope: scope(turnID), RuntimeID: "narrator", Step: step, Slot: "story",
		Records: []model.RequestRecord{{Provider: "p", Protocol: "openai-chat", Model: "m", Body: body}},
	}
}

func TestRequestsComeBackByteForByte(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	var messages []string
	for i := range 70 {
		messages = append(messages, message(fmt.Sprint("line ", i)))
		bytes := body(append(messages, message(fmt.Sprint("context of ", i)))...)
		want = append(want, string(bytes))
		if i%9 == 0 {
			b.rec = b.recorder(t)
		}
		must(t, b.rec.RecordRequest(t.Context(), request(fmt.Sprint("t", i/2), i%2, bytes)))
		must(t, b.rec.RecordRequest(t.Context(), request(fmt.Sprint("t", i/2), i%2, bytes)))
	}
	calls, err := trace.ReadCalls(t.Context(), b.store, "s")
	must(t, err)
	if len(calls) != len(want) {
		t.Fatalf("%d requests are recorded, want %d", len(calls), len(want))
	}
	full := 0
	for i, e := range b.events(t, trace.LLMCalling) {
		if got := string(calls[i].Body()); got != want[i] {
			t.Fatalf("request %d comes back as %s\nwant %s", i, got, want[i])
		}
		one, err := trace.ReadRequest(t.Context(), b.store, e)
		must(t, err)
		if diff := cmp.Diff(calls[i], one); diff != "" {
			t.Fatalf("request %d read alone differs: %s", i, diff)
		}
		var p struct {
			Base  string   `json:"base"`
			Parts []string `json:"parts"`
		}
		must(t, json.Unmarshal(e.Payload, &p))
		if p.Base == "" {
			full++
		} else if len(p.Parts) > 3 {
			t.Errorf("request %d names %d new parts", i, len(p.Parts))
		}
		if i > 0 && i%32 == 0 && full < i/32 {
			t.Errorf("after %d requests there are %d full lists", i, full)
		}
	}
	if full < 3 || full > 12 {
		t.Errorf("%d of 70 requests are full lists", full)
	}
}

func TestCompactionStartsAFullList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := request("t1", 1, body(message("a")))
	one.Epoch = "e1"
	two := request("t1", 2, body(message("a"), message("b")))
	two.Epoch = "e2"
	must(t, b.rec.RecordRequest(t.Context(), one))
	must(t, b.rec.RecordRequest(t.Context(), two))
	for _, e := range b.events(t, trace.LLMCalling) {
		if strings.Contains(string(e.Payload), `"base"`) {
			t.Errorf("%s refers to a base across a compaction", e.Payload)
		}
	}
}

func TestConcealedAndUnboundRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hidden := request("t1", 1, body(message("secret")))
	hidden.Concealed = true
	must(t, b.rec.RecordRequest(t.Context(), hidden))
	plain := trace.Request{
		Scope: scope("t1"), RuntimeID: "guide", Step: 1, Tools: []model.Tool{{Name: "roll"}},
		Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{{Type: "image", Image: "data:image/png;base64,AAAA"}}}},
	}
	must(t, b.rec.RecordRequest(t.Context(), plain))
	calls, err := trace.ReadTurn(t.Context(), b.store, "s", "t1")
	must(t, err)
	if len(calls[0].Body()) != 0 || !calls[0].Concealed || calls[0].Records[0].Model != "m" {
		t.Errorf("the concealed request is %+v", calls[0])
	}
	if got := string(calls[1].Body()); !strings.Contains(got, "[image data omitted: 4 base64 characters]") || !strings.Contains(got, `"name":"roll"`) {
		t.Errorf("the unbound request is %s", got)
	}
}

func TestDamagedRequestIsNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	must(t, b.store.WithTx(t.Context(), func(ctx context.Context, tx store.Tx) error {
		_, err := tx.InsertTrace(ctx, store.TraceEvent{
			ID: "e", SessionID: "s", TraceID: "x", TurnID: "t1", Type: trace.LLMCalling,
			Payload: json.RawMessage(`{"runtimeId":"r","base":"gone","baseTurn":"t0","providerRequests":[{"parts":1}]}`),
		})
		return err
	}))
	_, err := trace.ReadCalls(t.Context(), b.store, "s")
	var damaged *trace.DamagedError
	if !errors.As(err, &damaged) || damaged.EventID != "e" || !strings.Contains(err.Error(), "gone") {
		t.Fatalf("reading gives %v, want a *DamagedError naming event and base", err)
	}
}

// Any sequence of bodies, from any mix of fresh and running recorders, comes
// back as it was.
func TestRecordingProperty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turnNo := 0
	rapid.Check(t, func(rt *rapid.T) {
		turnNo++
		n := rapid.IntRange(1, 12).Draw(rt, "requests")
		var want []string
		for i := range n {
			texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ü", "", "[1,2]", `{"x":[1]}`}), 0, 6).Draw(rt, "messages")
			for j := range texts {
				texts[j] = message(texts[j])
			}
			bytes := body(texts...)
			if rapid.Bool().Draw(rt, "odd") {
				bytes = json.RawMessage(rapid.SampledFrom([]string{`[1]`, `"text"`, `{"input":"x","contents":[]}`, `{"a":{"b":[1]},"input":[ 1 , {"x":[]} ]}`}).Draw(rt, "body"))
			}
			if rapid.Bool().Draw(rt, "restart") {
				b.rec = b.recorder(t)
			}
			req := request(fmt.Sprint("turn-", turnNo), i, bytes)
			req.Epoch = rapid.SampledFrom([]string{"", "e"}).Draw(rt, "epoch")
			must(t, b.rec.RecordRequest(t.Context(), req))
			want = append(want, string(bytes))
		}
		calls, err := trace.ReadTurn(t.Context(), b.store, "s", fmt.Sprint("turn-", turnNo))
		if err != nil {
			rt.Fatal(err)
		}
		for i, call := range calls {
			if string(call.Body()) != want[i] {
				rt.Fatalf("request %d comes back as %s, want %s", i, call.Body(), want[i])
			}
		}
	})
}

func BenchmarkRecordRequest(b *testing.B) {
	st, err := sqlite.Open(b.Context(), sqlite.Config{InMemory: true})
	must(b, err)
	defer st.Close()
	must(b, st.Migrate(b.Context()))
	must(b, st.WithTx(b.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.InsertSession(ctx, session.Session{ID: "s", WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en"})
	}))
	bd := &bundle{store: st}
	rec := bd.recorder(b)
	messages := make([]string, 300)
	for i := range messages {
		messages[i] = message(strings.Repeat("word ", 400))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		messages[len(messages)-1] = message(fmt.Sprint("context ", i))
		must(b, rec.RecordRequest(b.Context(), request(fmt.Sprint("t", i), 1, body(messages...))))
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	call := func(turnID string, parts ...string) trace.Recorded {
		return trace.Recorded{SessionID: "s", TurnID: turnID, RuntimeID: "narrator", Unbound: json.RawMessage(
			`{"tools":[{"name":"write"}],"messages":[` + strings.Join(parts, ",") + `]}`)}
	}
	system := func(text string) string { return fmt.Sprintf(`{"role":"system","content":%q}`, text) }
	tool := len(`{"name":"write"}`)
	est := tokens.Covel{}
	only := func(t *testing.T, calls ...trace.Recorded) trace.RuntimePrefix {
		t.Helper()
		r := trace.Measure(calls, est)
		if len(r.Runtimes) != 1 {
			t.Fatalf("there are %d rows, want 1", len(r.Runtimes))
		}
		return r.Runtimes[0]
	}
	t.Run("CA-130", func(t *testing.T) {
		t.Parallel()
		one := call("t1", system("Keep the ledger."), system("rows: a\ninputs: one"))
		row := only(t, one, one, call("t2", system("Keep the ledger."), system("rows: a\ninputs: two")))
		if row.Turns != 2 || row.Calls != 3 || len(row.Pairs) != 1 {
			t.Fatalf("row is %+v, want 2 turns, 3 calls, 1 pair", row)
		}
		p := row.Pairs[0]
		if p.Shared != tool+16+16 || p.FirstDifference != "message 2 (system)" || p.Offset != 16 {
			t.Errorf("pair is %+v, want shared %d, message 2 (system), offset 16", p, tool+32)
		}
		if p.Was != "rows: a\ninputs: one" || p.Now != "rows: a\ninputs: two" {
			t.Errorf("windows are %q and %q", p.Was, p.Now)
		}
		table := trace.Measure([]trace.Recorded{one, call("t2", system("x"))}, est).Table()
		if !strings.Contains(table, "narrator                                2      2") || !strings.Contains(table, "message 1 (system) +0") {
			t.Errorf("table is\n%s", table)
		}
	})
	t.Run("CA-131", func(t *testing.T) {
		t.Parallel()
		long, short := call("t1", system("a"), system("b")), call("t1", system("a"))
		again := func(c trace.Recorded) trace.Recorded { c.TurnID = "t2"; return c }
		row := only(t, long, again(long))
		if row.Pairs[0].FirstDifference != "(identical)" || row.Percent() != 100 {
			t.Errorf("an identical request gives %+v, %d %%", row.Pairs[0], row.Percent())
		}
		if p := only(t, long, again(short)).Pairs[0]; p.FirstDifference != "(request ends earlier)" {
			t.Errorf("a shorter request gives %+v", p)
		}
		p := only(t, short, again(long)).Pairs[0]
		if p.FirstDifference != "message 2 (system)" || p.Offset != 0 || p.Was != "(no such part)" {
			t.Errorf("a longer request gives %+v", p)
		}
	})
	t.Run("CA-132", func(t *testing.T) {
		t.Parallel()
		report := trace.Measure([]trace.Recorded{call("t1", system("a"))}, est)
		raw, err := json.Marshal(report)
		must(t, err)
		if !strings.Contains(report.Table(), "(one turn only)") || !strings.Contains(string(raw), `"pairs":[]`) {
			t.Errorf("one turn gives\n%s%s", report.Table(), raw)
		}
	})
}

func TestParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want []trace.Part
	}{
		"system text": {`{"system":"s","messages":[{"role":"user","content":null}]}`, []trace.Part{
			{Label: "system", Text: "s"}, {Label: "message 1 (user)", Text: `{"role":"user","content":null}`}}},
		"system blocks": {`{"tools":[{"type":"x"},{"function":{"name":"f"}}],"system":[{"text":"a"}],"messages":[]}`, []trace.Part{
			{Label: "tool 1 (?)", Text: `{"type":"x"}`}, {Label: "tool 2 (f)", Text: `{"function":{"name":"f"}}`},
			{Label: "system block 1", Text: `{"text":"a"}`}}},
		"responses": {`{"instructions":"i","input":[{"type":"reasoning","id":"r"},{"role":"user","content":"hi"}]}`, []trace.Part{
			{Label: "instructions", Text: "i"}, {Label: "message 1 (reasoning)", Text: `{"type":"reasoning","id":"r"}`},
			{Label: "message 2 (user)", Text: "hi"}}},
		"gemini":  {`{"contents":[{"parts":[{"text":"x"}]}]}`, []trace.Part{{Label: "message 1 (?)", Text: `{"parts":[{"text":"x"}]}`}}},
		"nothing": {`17`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, trace.Parts(json.RawMessage(c.body))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	calls := []trace.Recorded{
		{SessionID: "s", TurnID: "1", RuntimeID: "r", Unbound: json.RawMessage(`{"messages":[{"role":"user","content":"` + strings.Repeat("x", 60) + `one"}]}`)},
		{SessionID: "s", TurnID: "2", RuntimeID: "r", Unbound: json.RawMessage(`{"messages":[{"role":"user","content":"` + strings.Repeat("x", 60) + `two"}]}`)},
	}
	got := trace.Measure(calls, tokens.Covel{}).Show("r")
	want := "session s runtime r\nturn 2: message 1 (user) +60\n  was: " + strings.Repeat("x", 40) + "one\n  now: " + strings.Repeat("x", 40) + "two\n"
	if got != want {
		t.Errorf("show gives\n%s\nwant\n%s", got, want)
	}
}
