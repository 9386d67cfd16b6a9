package model

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/covel-engine/covel/model/transport"
)

// Adapter speaks one wire protocol. It renders a request, sends it through
// req.HTTP and reads the reply. It is safe for concurrent use.
type Adapter interface {
	// Send makes one attempt on one target. With req.Stream events go to emit
	// as they arrive: tool calls only after the terminal event, and never a done
	// event (the result is the return value). Failures are *Error.
	Send(ctx context.Context, req *Request, emit func(Event)) (*Result, error)
}

// Request is one logical call bound to one target: names resolved, settings
// merged, messages validated. Adapters read it; they change only Warnings.
type Request struct {
	Target   Target
	Model    Model // capabilities, merged (spec 04 §4.2)
	Key      string
	Headers  map[string]string
	Identity Identity
	Messages []Message
	Tools    []Tool
	Schema   json.RawMessage
	Stream   bool
	// MaxOutputTokens is the output limit to send, 0 for none.
	MaxOutputTokens int
	// Fields are the free fields of the body: merged, checked, reasoning and
	// sampling already in wire form, in a fixed order.
	Fields *Fields
	// Choice is the tool choice to send, or nil to leave the field out.
	Choice *Choice
	// CacheKey is the prompt cache key to send, "" for none.
	CacheKey          string
	CacheHistoryMarks int
	LateSystem        string
	// History marks the messages that stood before the first late system message,
	// in the order in which the caller gave them; nil without a late one.
	History []bool
	// InsertSchema asks for the schema instruction (spec 04 §14).
	InsertSchema bool
	// Memory outlives the call: what the process learnt of endpoints.
	Memory *Memory
	// HTTP sends through the transport chain of spec 04 §1.3.
	HTTP *http.Client
	// Ceiling is the time after which nothing of this call may be waited for.
	Ceiling time.Time
	// Warnings collects what was left out.
	Warnings []Warning
	// Record is what the call record will say; adapters fill Body and marks.
	Record *RequestRecord

	budget *Budget
	chain  transport.Config
	calls  []*transport.Call
	count  func(text string) int
}

// Warn adds a warning to the result.
func (r *Request) Warn(kind, field, message string) {
	for _, w := range r.Warnings {
		if w.Kind == kind && w.Field == field {
			return
		}
	}
	r.Warnings = append(r.Warnings, Warning{Kind: kind, Field: field, Message: message})
}

// BodySize estimates a body's bytes, so that its buffer rarely grows.
func (r *Request) BodySize() int {
	size := 4096 + len(r.Schema)*2
	for i := range r.Messages {
		m := &r.Messages[i]
		size += len(m.Content) + len(m.ReasoningContent) + 96
		for _, p := range m.Parts {
			size += len(p.Text) + len(p.Image) + 96
		}
		for _, c := range m.ToolCalls {
			size += len(c.Arguments) + 128
		}
		if m.ProviderContinuation != nil {
			for _, item := range m.ProviderContinuation.Items {
				size += len(item)
			}
		}
	}
	for _, t := range r.Tools {
		size += len(t.Parameters) + len(t.Description) + 128
	}
	return size + size/16 // escapes
}

// untouched is a copy that no adapter has.
func (r *Request) untouched() *Request {
	c, record := *r, *r.Record
	c.Record, c.Warnings = &record, slices.Clone(r.Warnings)
	return &c
}

// Via gives a client whose transport chain ends in base instead of the
// network; for adapters that answer themselves.
func (r *Request) Via(base http.RoundTripper) *http.Client {
	c := r.chain
	c.Base = base
	return transport.Client(transport.New(c))
}

// Attempts is the number of sends that the call's budget has counted so far.
func (r *Request) Attempts() int { return r.budget.Attempts() }

// Count counts a text with the target's tokenizer.
func (r *Request) Count(text string) int { return r.count(text) }

// Choice is a tool choice: a mode and a name, or a player's own in native
// shape, which is sent as it is.
type Choice struct {
	Mode string
	Name string
	Raw  json.RawMessage
}

// Choice modes. The default one, nobody's preference, is auto too, but a
// protocol may leave it unsaid.
const (
	ChoiceDefault  = ""
	ChoiceAuto     = "auto"
	ChoiceNone     = "none"
	ChoiceRequired = "required"
	ChoiceNamed    = "named"
)

// EventKind names what an Event carries.
type EventKind string

// Event kinds (spec 04 §2.3).
const (
	EventText         EventKind = "text-delta"
	EventReasoning    EventKind = "reasoning-delta"
	EventToolArgument EventKind = "tool-argument-delta"
	EventToolCall     EventKind = "tool-call"
	EventDone         EventKind = "done"
)

// Event is one streamed piece of a reply. A tool-argument-delta only says that
// a call is being written; a tool-call is whole; done carries the result
// without text and calls.
type Event struct {
	Kind   EventKind
	Text   string
	Call   ToolCall
	Result *Result
}

// Memory is what the process learnt of endpoints; losing it does no harm.
type Memory struct{ marks sync.Map }

// Mark remembers a fact.
func (m *Memory) Mark(fact string) { m.marks.Store(fact, true) }

// Marked says whether a fact is remembered.
func (m *Memory) Marked(fact string) bool {
	_, ok := m.marks.Load(fact)
	return ok
}
