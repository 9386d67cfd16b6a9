package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
)

// sent is one request as the server got it.
type sent struct {
	URL    string // as it was addressed, before it was led to the test server
	Header http.Header
	Body   []byte
}

func (s sent) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(s.Body, &m); err != nil {
		t.Fatalf("body is no JSON: %v\n%s", err, s.Body)
	}
	return m
}

// answer is what the server says to one request.
type answer struct {
	status int
	header map[string]string
	body   string
	cut    bool // the connection breaks after the body
}

// sse makes a stream's body of payloads, one event each.
func sse(payloads ...string) answer {
	return answer{body: "data: " + strings.Join(payloads, "\n\ndata: ") + "\n\n", header: map[string]string{"Content-Type": "text/event-stream"}}
}

func plain(body string) answer { return answer{body: body} }

func failing(status int, body string) answer { return answer{status: status, body: body} }

// bench is a provider: a local HTTP server that records exact bytes and plays
// answers in order, the last one again and again. Whatever host a request is
// addressed to, it comes here.
type bench struct {
	t        *testing.T
	server   *httptest.Server
	mu       sync.Mutex
	requests []sent
	answers  []answer
	next     int
}

func newBench(t *testing.T, answers ...answer) *bench {
	t.Helper()
	b := &bench{t: t, answers: answers}
	b.server = httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.server.Close)
	return b
}

func (b *bench) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	original := r.Header.Get("X-Original-Url")
	r.Header.Del("X-Original-Url")
	b.requests = append(b.requests, sent{URL: original, Header: r.Header, Body: body})
	var a answer
	if len(b.answers) > 0 {
		a = b.answers[min(b.next, len(b.answers)-1)]
		b.next++
	}
	b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = io.WriteString(w, a.body)
	if a.cut {
		w.(http.Flusher).Flush()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
}

// RoundTrip leads any request to the test server.
func (b *bench) RoundTrip(r *http.Request) (*http.Response, error) {
	target, err := url.Parse(b.server.URL)
	if err != nil {
		return nil, err
	}
	led := r.Clone(r.Context())
	led.Header.Set("X-Original-Url", r.URL.String())
	led.URL.Scheme, led.URL.Host, led.Host = target.Scheme, target.Host, target.Host
	return b.server.Client().Transport.RoundTrip(led)
}

func (b *bench) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.requests)
}

func (b *bench) last() sent {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) == 0 {
		b.t.Fatal("no request was sent")
	}
	return b.requests[len(b.requests)-1]
}

// gateway gives a gateway over the llm.toml text whose requests come to the bench.
func (b *bench) gateway(llm string, change ...func(*model.Config)) *model.Gateway {
	b.t.Helper()
	g, err := tryGateway(b, llm, change...)
	if err != nil {
		b.t.Fatal(err)
	}
	return g
}

func tryGateway(base http.RoundTripper, llm string, change ...func(*model.Config)) (*model.Gateway, error) {
	slots, err := model.ParseSlots("llm.toml", []byte(llm))
	if err != nil {
		return nil, err
	}
	c := model.Config{
		Adapters: providers.Adapters(""), Jitter: func() float64 { return 1 }, Slots: slots, Transport: base,
		Keys: func(provider string) (string, error) { return "key-of-" + provider, nil },
	}
	for _, f := range change {
		f(&c)
	}
	return model.NewGateway(c)
}

// slot writes one [covel.story] table.
func slot(provider, modelID string, lines ...string) string {
	return fmt.Sprintf("[covel.story]\nprovider = %q\nmodel = %q\n%s\n", provider, modelID, strings.Join(lines, "\n"))
}

// relay writes a story slot of a provider that speaks a protocol on a host of its own.
func relay(protocol, modelID string, lines ...string) string {
	return slot("relay", modelID, append([]string{`baseUrl = "https://llm.acme.example"`, fmt.Sprintf("protocol = %q", protocol)}, lines...)...)
}

// The whole and streamed replies that say "ok", by protocol.
var okReply = map[string]answer{
	model.ProtocolChat:      plain(`{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`),
	model.ProtocolResponses: plain(`{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}],"usage":{"input_tokens":1,"output_tokens":1}}`),
	model.ProtocolAnthropic: plain(`{"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`),
	model.ProtocolGemini:    plain(`{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1}}`),
}

// body makes one call and gives the body that was sent, decoded.
func body(t *testing.T, llm string, params model.Params, change ...func(*model.Config)) map[string]any {
	t.Helper()
	b, _ := called(t, llm, params, change...)
	return b.last().json(t)
}

// called makes one call that the provider answers with "ok".
func called(t *testing.T, llm string, params model.Params, change ...func(*model.Config)) (*bench, *model.Result) {
	t.Helper()
	slots, err := model.ParseSlots("llm.toml", []byte(llm))
	if err != nil {
		t.Fatal(err)
	}
	story, _ := slots.Lookup("story")
	b := newBench(t, okReply[story.Protocol])
	result, err := b.gateway(llm, change...).Call(context.Background(), "story", params, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b, result
}

// streamed makes one streamed call and gives its events.
func streamed(t *testing.T, llm string, params model.Params, a answer) ([]model.Event, *model.Result, error) {
	t.Helper()
	var events []model.Event
	result, err := newBench(t, a).gateway(llm).Stream(context.Background(), "story", params, func(e model.Event) { events = append(events, e) })
	return events, result, err
}

func msg(role model.Role, text string) model.Message { return model.Message{Role: role, Content: text} }

func system(text string) model.Message    { return msg(model.RoleSystem, text) }
func user(text string) model.Message      { return msg(model.RoleUser, text) }
func assistant(text string) model.Message { return msg(model.RoleAssistant, text) }

func calling(id, name, arguments string) model.Message {
	return model.Message{Role: model.RoleAssistant, Null: true, ToolCalls: []model.ToolCall{{ID: id, Name: name, Arguments: arguments}}}
}

func toolResult(id, text string) model.Message {
	return model.Message{Role: model.RoleTool, ToolCallID: id, Content: text}
}

func env(text string) string { return "<system-instruction>\n" + text + "\n</system-instruction>" }

func says(messages ...model.Message) model.Params { return model.Params{Messages: messages} }

// sentinel is ⟂ in the cases.
func sentinel(text string) string { return strings.ReplaceAll(text, "⟂", model.Sentinel) }

// at walks decoded JSON: keys and indexes.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%v: %v is no object", path, v)
			}
			v = m[s]
		case int:
			list, ok := v.([]any)
			if !ok || s >= len(list) {
				t.Fatalf("%v: no element %d in %v", path, s, v)
			}
			v = list[s]
		}
	}
	return v
}

// want compares decoded JSON with a JSON text.
func want(t *testing.T, what string, got any, wanted string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(wanted), &w); err != nil {
		t.Fatalf("%s: the wanted JSON is broken: %v", what, err)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var g any
	_ = json.Unmarshal(raw, &g)
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

func absent(t *testing.T, body map[string]any, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if v, ok := body[key]; ok {
			t.Errorf("%s is sent: %v", key, v)
		}
	}
}

// fails checks an error's code and that its message names each word.
func fails(t *testing.T, err error, code string, words ...string) *model.Error {
	t.Helper()
	e, ok := err.(*model.Error) //nolint:errorlint // the gateway returns it bare
	if !ok || e.Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("message %q does not name %q", e.Message, w)
		}
	}
	return e
}

// chunks cut a body into pieces of n bytes; a reader that gives them one by one.
type chunks struct {
	rest []byte
	n    int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(c.n, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

func contains(b []byte, s string) bool { return bytes.Contains(b, []byte(s)) }

// saying is a whole reply with that text, by protocol.
func saying(protocol, reply string) answer {
	a := okReply[protocol]
	a.body = strings.Replace(a.body, `"ok"`, string(mustJSON(reply)), 1)
	return a
}

// objectBody makes one object call that is answered with reply.
func objectBody(t *testing.T, llm string, params model.Params, reply string) map[string]any {
	t.Helper()
	slots, err := model.ParseSlots("llm.toml", []byte(llm))
	if err != nil {
		t.Fatal(err)
	}
	story, _ := slots.Lookup("story")
	b := newBench(t, saying(story.Protocol, reply))
	if _, err := b.gateway(llm).Object(context.Background(), "story", params, nil); err != nil {
		t.Fatal(err)
	}
	return b.last().json(t)
}

// replied makes one call that is answered with a.
func replied(t *testing.T, llm string, params model.Params, a answer) (*model.Result, error) {
	t.Helper()
	return newBench(t, a).gateway(llm).Call(context.Background(), "story", params, nil)
}

func mustReply(t *testing.T, llm string, params model.Params, a answer) *model.Result {
	t.Helper()
	r, err := replied(t, llm, params, a)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// override writes one parameter override.
func override(name string, value any) map[string]json.RawMessage {
	return map[string]json.RawMessage{"parameterOverrides": mustJSON(map[string]any{name: value})}
}

// metadata writes free settings.
func metadata(pairs ...any) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = json.RawMessage(pairs[i+1].(string))
	}
	return m
}

// chopped gives replies in pieces of n bytes.
type chopped struct {
	base http.RoundTripper
	n    int
}

func (c chopped) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(&chunks{rest: all, n: c.n})
	return resp, nil
}

// guardedConfig is a gateway's config with the real guarded connection, which
// counts its dials if dials is given, and then opens none.
func guardedConfig(slots *model.Slots, dials *int) model.Config {
	c := model.Config{
		Adapters: providers.Adapters(""), Slots: slots, NoRetry: true,
		Keys: func(provider string) (string, error) { return "key-of-" + provider, nil },
	}
	if dials != nil {
		c.Dial = func(context.Context, string, string) (net.Conn, error) {
			*dials++
			return nil, net.ErrClosed
		}
	}
	return c
}

// decoded reads a JSON text.
func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q is no JSON: %v", text, err)
	}
	return v
}

func (r recording) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.see(body)
	return r.base.RoundTrip(req)
}
