package model

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
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
	// Options are the provider options that the protocol knows.
	Options map[string]json.RawMessage
	// Choice is the tool choice to send, or nil to leave the field out.
	Choice *Choice
	// CacheKey is the prompt cache key to send, "" for none.
	CacheKey          string
	CacheHistoryMarks int
	LateSystem        string
	// ReasoningEffort is the effort that the body asks for, "" when it asks for none.
	ReasoningEffort string
	// InsertSchema asks for the schema instruction (spec 04 §14).
	InsertSchema bool
	// HTTP is the transport chain of spec 04 §1.3, bound to this call's budget.
	HTTP *http.Client
	// Ceiling is the time after which nothing of this call may be waited for.
	Ceiling time.Time
	// Warnings collects what was left out.
	Warnings []Warning
	// Record is what the call record will say; adapters fill Body and marks.
	Record *RequestRecord
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

// Choice is a tool choice: a mode and a name, or a player's own in native
// shape, which is sent as it is.
type Choice struct {
	Mode string // auto, none, required or named
	Name string
	Raw  json.RawMessage
}

// Choice modes.
const (
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
