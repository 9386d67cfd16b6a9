package model_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
)

// longRequest is a request of about 150,000 tokens: a long system prompt, 300
// turns of history, tools.
func longRequest() model.Params {
	line := "The lantern swings over the water, and the ferryman counts your coins twice. “Not enough,” he says.\n"
	p := says(system(strings.Repeat(line, 200) + model.Sentinel + "\n\n" + strings.Repeat(line, 100) + model.Sentinel))
	for i := range 300 {
		p.Messages = append(p.Messages, user(fmt.Sprintf("turn %d: I go on. %s", i, line)), assistant(strings.Repeat(line, 17)))
	}
	p.Messages = append(p.Messages, system("turn data "+strings.Repeat(line, 20)), user("I light the lamp"))
	for i := range 20 {
		p.Tools = append(p.Tools, model.Tool{Name: fmt.Sprintf("tool-%d", i), Description: line, Parameters: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`)})
	}
	return p
}

// inMemory answers every request and counts the bytes that left.
type inMemory struct {
	reply string
	bytes int
}

func (m *inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	n, _ := io.Copy(io.Discard, r.Body)
	m.bytes = int(n)
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(m.reply)), Request: r}, nil
}

// BenchmarkCall150kTokens measures everything that happens to a long request
// between Call and the connection. The bar is 10 ms and three copies of the
// body a protocol.
func BenchmarkCall150kTokens(b *testing.B) {
	p := longRequest()
	tokens := 0
	for i := range p.Messages {
		tokens += model.EstimateTokens(p.Messages[i].Content)
	}
	for _, protocol := range model.ProtocolIDs() {
		if protocol == model.ProtocolScripted {
			continue
		}
		b.Run(protocol, func(b *testing.B) {
			base := &inMemory{reply: okReply[protocol].body}
			g, err := tryGateway(base, relay(protocol, "claude-opus-4-6"))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Call(context.Background(), "story", p, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(base.bytes), "body-bytes")
			b.ReportMetric(float64(tokens), "tokens")
		})
	}
}

// BenchmarkStream5kChunks measures a streamed reply of 5,000 pieces from the
// connection to onDelta.
func BenchmarkStream5kChunks(b *testing.B) {
	for _, protocol := range fuzzed {
		b.Run(protocol, func(b *testing.B) {
			s := scripts[protocol]
			payloads := append([]string{}, s.text[:len(s.text)-1]...)
			for range 5000 {
				payloads = append(payloads, s.text[len(s.text)-1])
			}
			g, err := tryGateway(&inMemory{reply: sse(append(payloads, s.terminal...)...).body}, relay(protocol, "m"))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Call(context.Background(), "story", says(user("u")), func(model.Delta) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
