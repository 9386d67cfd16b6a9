package integration_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
)

// door is the API of a `covel serve` process.
type door struct {
	t       *testing.T
	address string
	secret  string
}

// serve starts an API process beside the rig's workers.
func (r *rig) serve(args ...string) (*door, *testenv.Process) {
	r.t.Helper()
	p := testenv.Start(r.t, testenv.Config{Args: append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...), Env: r.env})
	return &door{t: r.t, address: p.Ready.API}, p
}

// open sends a request and gives the answer, whose body the caller reads.
func (d *door) open(method, path, body string, header map[string]string) *http.Response {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.address+path, bytes.NewReader([]byte(body)))
	must(d.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if d.secret != "" {
		req.Header.Set("Authorization", "Bearer "+d.secret)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	must(d.t, err)
	d.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// send sends a request, wants a status, and reads the answer into v.
func (d *door) send(method, path, body string, status int, v any) {
	d.t.Helper()
	resp := d.open(method, path, body, nil)
	text, err := io.ReadAll(resp.Body)
	must(d.t, err)
	if resp.StatusCode != status {
		d.t.Fatalf("%s %s: %d %s; want %d", method, path, resp.StatusCode, text, status)
	}
	if v != nil {
		must(d.t, json.Unmarshal(text, v))
	}
}

// event is one server-sent event.
type event struct{ id, name, data string }

// events reads a stream's events one after another.
type events struct {
	t    *testing.T
	scan *bufio.Scanner
}

func (d *door) events(path, after string) *events {
	d.t.Helper()
	resp := d.open(http.MethodGet, path, "", map[string]string{"Last-Event-ID": after})
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(resp.Body)
		d.t.Fatalf("stream: %d %s", resp.StatusCode, text)
	}
	scan := bufio.NewScanner(resp.Body)
	scan.Buffer(nil, 1<<20)
	return &events{d.t, scan}
}

// next gives the next event; ok is false at the end of the stream.
func (e *events) next() (got event, ok bool) {
	for e.scan.Scan() {
		field, value, _ := strings.Cut(e.scan.Text(), ": ")
		switch field {
		case "id":
			got.id = value
		case "event":
			got.name = value
		case "data":
			got.data = value
		case "":
			if got.name != "" {
				return got, true
			}
		}
	}
	return event{}, false
}

// story follows a stream to its end as a player's client does: a reset drops
// the runtime's earlier text. It gives the told texts by runtime and all events.
func (e *events) story() (told map[string]string, all []event) {
	e.t.Helper()
	told = map[string]string{}
	for got, ok := e.next(); ok; got, ok = e.next() {
		all = append(all, got)
		var c stream.Chunk
		switch stream.Kind(got.name) {
		case stream.KindText:
			must(e.t, json.Unmarshal([]byte(got.data), &c))
			told[c.RuntimeID] += c.Text
		case stream.KindReset:
			must(e.t, json.Unmarshal([]byte(got.data), &c))
			told[c.RuntimeID] = ""
		}
	}
	return told, all
}

// TestHTTP plays a turn through the API: worker, API and database are apart.
func TestHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.worker("")
	d, api := r.serve()
	d.send(http.MethodPost, "/v1/sessions", `{"world":"lanternfall","id":"web"}`, http.StatusCreated, nil)
	var first turn.Outcome
	d.send(http.MethodPost, "/v1/sessions/web/turns?wait=60", `{"message":"I look around","turnId":"t0"}`, http.StatusOK, &first)

	var started turn.Outcome
	const body = `{"message":"I row to the drowned lighthouse","turnId":"t1"}`
	d.send(http.MethodPost, "/v1/sessions/web/turns", body, http.StatusAccepted, &started)
	if started.TurnID != "t1" || started.Status != turn.StatusRunning {
		t.Errorf("started %+v", started)
	}
	told, all := d.events("/v1/sessions/web/turns/t1/stream", "").story()
	last := all[len(all)-1]
	var outcome turn.Outcome
	must(t, json.Unmarshal([]byte(last.data), &outcome))
	if last.name != "turn.completed" || outcome.Status != turn.StatusCommitted || outcome.Narrative == "" {
		t.Fatalf("the stream ended with %+v", last)
	}
	if all[len(all)-2].name != "narrative.completed" || !strings.Contains(strings.Join(values(told), "\n"), outcome.Narrative) {
		t.Errorf("told %q, narrative %q", told, outcome.Narrative)
	}

	listenAgain(t, d, all)
	repeatStart(t, d, body, outcome)
	deleteWithToken(t, r)
	api.Stop()
}

// listenAgain comes back at each position and wants exactly the rest.
func listenAgain(t *testing.T, d *door, all []event) {
	t.Helper()
	for at, seen := range all {
		if seen.id == "" {
			continue
		}
		_, rest := d.events("/v1/sessions/web/turns/t1/stream", seen.id).story()
		if len(rest) != len(all)-at-1 || len(rest) > 2 && rest[0].id != all[at+1].id {
			t.Fatalf("after event %d came %d events, want %d", at, len(rest), len(all)-at-1)
		}
	}
}

// repeatStart: a repeated start joins the turn, another input is refused.
func repeatStart(t *testing.T, d *door, body string, outcome turn.Outcome) {
	t.Helper()
	var again turn.Outcome
	d.send(http.MethodPost, "/v1/sessions/web/turns?wait=60", body, http.StatusOK, &again)
	if again.Narrative != outcome.Narrative {
		t.Errorf("the repeat tells %q", again.Narrative)
	}
	var p struct {
		Code string `json:"code"`
	}
	d.send(http.MethodPost, "/v1/sessions/web/turns", `{"message":"Other","turnId":"t1"}`, http.StatusConflict, &p)
	if p.Code != turn.CodeTurnIDConflict {
		t.Errorf("code %q", p.Code)
	}
	d.send(http.MethodPost, "/v1/sessions/web/turns/t1/abort", "", http.StatusNotFound, &p)
	if p.Code != turn.CodeNoActiveTurn {
		t.Errorf("code %q", p.Code)
	}
	var list struct {
		Turns []turn.Outcome `json:"turns"`
	}
	d.send(http.MethodGet, "/v1/sessions/web/turns", "", http.StatusOK, &list)
	if len(list.Turns) < 2 || list.Turns[0].TurnID != "t1" {
		t.Errorf("list %+v", list)
	}
}

// deleteWithToken: on a guarded API a deletion leaves an entry that names the
// token, and a revoked token opens nothing.
func deleteWithToken(t *testing.T, r *rig) {
	t.Helper()
	var made struct{ ID, Secret string }
	must(t, json.Unmarshal([]byte(r.covel("token", "create", "--name", "ops", "--json")), &made))
	guarded, _ := r.serve("--require-token")
	guarded.send(http.MethodGet, "/v1/sessions/web", "", http.StatusUnauthorized, nil)
	guarded.secret = made.Secret
	guarded.send(http.MethodDelete, "/v1/sessions/web", "", http.StatusNoContent, nil)
	var audit []access.Entry
	must(t, json.Unmarshal([]byte(r.covel("audit", "--subject", "web", "--json")), &audit))
	if len(audit) == 0 || audit[0].Action != access.ActionDelete || audit[0].Actor != "token ops ("+made.ID+")" {
		t.Errorf("audit %+v", audit)
	}
	r.covel("token", "revoke", made.ID)
	guarded.send(http.MethodGet, "/v1/sessions", "", http.StatusUnauthorized, nil)
}

// TestHTTPSurvivesAWorker kills the worker in mid-story: the listener is told
// to drop the partial text and gets the whole story from the next worker. Then
// the API drains with a stream open.
func TestHTTPSurvivesAWorker(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := testenv.DataDir(t)
	writeFile(t, dir, "story.yaml", slowStory)
	r.env = append(r.env, "COVEL_LLM_CONFIG="+writeFile(t, dir, "llm.toml", "[covel.story]\nprovider = \"scripted\"\nmodel = \"story.yaml\"\n"))
	first := r.worker("")
	d, api := r.serve()
	d.send(http.MethodPost, "/v1/sessions", `{"world":"lanternfall","id":"web"}`, http.StatusCreated, nil)
	d.send(http.MethodPost, "/v1/sessions/web/turns?wait=60", `{"message":"I look around"}`, http.StatusOK, nil)
	d.send(http.MethodPost, "/v1/sessions/web/turns", `{"message":"I wait slowly","turnId":"t1"}`, http.StatusAccepted, nil)
	listener := d.events("/v1/sessions/web/turns/t1/stream", "")
	if got, ok := listener.next(); !ok || got.name != string(stream.KindText) {
		t.Fatalf("first event %+v", got)
	}
	first.Kill()
	r.worker("")
	told, all := listener.story()
	resets := 0
	for _, e := range all {
		if e.name == string(stream.KindReset) {
			resets++
		}
	}
	var outcome turn.Outcome
	must(t, json.Unmarshal([]byte(all[len(all)-1].data), &outcome))
	if resets == 0 || outcome.Status != turn.StatusCommitted || !strings.Contains(strings.Join(values(told), "\n"), outcome.Narrative) {
		t.Errorf("%d resets, told %q, outcome %+v", resets, told, outcome)
	}

	d.send(http.MethodPost, "/v1/sessions/web/turns", `{"message":"I wait slowly again","turnId":"t2"}`, http.StatusAccepted, nil)
	open := d.events("/v1/sessions/web/turns/t2/stream", "")
	if _, ok := open.next(); !ok {
		t.Fatal("no event")
	}
	api.Stop()
	open.story() // ends: the server drained
}

func values(m map[string]string) []string {
	var all []string
	for _, v := range m {
		all = append(all, v)
	}
	return all
}
