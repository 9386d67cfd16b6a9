package model

import "encoding/json"

// Role is the speaker of a message (spec 04 §2.1).
type Role string

// Roles. Developer counts as system in every rule.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a request (spec 04 §2.1). Content is plain text
// unless Parts is set; Null marks an assistant message without content.
type Message struct {
	Role                 Role          `json:"role"`
	Content              string        `json:"content"`
	Parts                []Part        `json:"parts,omitempty"`
	Null                 bool          `json:"null,omitempty"`
	Name                 string        `json:"name,omitempty"`
	ToolCalls            []ToolCall    `json:"toolCalls,omitempty"`
	ToolCallID           string        `json:"toolCallId,omitempty"`
	ReasoningContent     string        `json:"reasoningContent,omitempty"`
	ProviderContinuation *Continuation `json:"providerContinuation,omitempty"`
}

// Part is one part of a multi-part content: text, or an image as data URL,
// https URL, bare base64, or a media reference that the call resolves.
type Part struct {
	Type      string `json:"type"` // text or image
	Text      string `json:"text,omitempty"`
	Image     string `json:"image,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	// MediaRef names a stored picture (its SHA-256); bytes exist only in the
	// outgoing request (spec 01 §13).
	MediaRef string `json:"mediaRef,omitempty"`
}

// ToolCall is one call of an assistant message. Arguments is JSON text, kept
// as text.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Continuation holds the native items of an earlier reply (spec 04 §16).
type Continuation struct {
	Protocol string            `json:"protocol"`
	Model    string            `json:"model"`
	BaseURL  string            `json:"baseUrl"`
	Items    []json.RawMessage `json:"items"`
}

// Tool is one offered tool. Parameters is its JSON Schema.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// ToolChoice is the runtime's preference: the zero value leaves the choice to
// the model, Required wants any tool, Name one tool, None no tool.
type ToolChoice struct {
	Name     string `json:"name,omitempty"`
	Required bool   `json:"required,omitempty"`
	None     bool   `json:"none,omitempty"`
}

// Identity says whose call this is (spec 04 §2.2). Turn is the logical turn.
type Identity struct {
	SessionID string `json:"sessionId"`
	RuntimeID string `json:"runtimeId"`
	Turn      int    `json:"turn"`
	Step      int    `json:"step"`
	Slot      string `json:"slot"`
}

// Params is one request before it is bound to a target (spec 04 §2.2).
type Params struct {
	Messages       []Message       `json:"messages"`
	Tools          []Tool          `json:"tools,omitempty"`
	ResponseSchema json.RawMessage `json:"responseSchema,omitempty"`
	PromptCacheKey string          `json:"promptCacheKey,omitempty"`
	Identity       Identity        `json:"identity"`
	// ToolChoice and ReasoningOff are the runtime's preferences, never sent as
	// they stand; the player's slot settings win.
	ToolChoice   ToolChoice `json:"toolChoice,omitzero"`
	ReasoningOff bool       `json:"reasoningOff,omitempty"`
	// MaxOutputTokens is the budgeted request's reserve, 0 for none.
	MaxOutputTokens int `json:"maxOutputTokens,omitempty"`
	// Metadata is providerRequestMetadata: player and preset settings.
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
	// ProviderOptions are options by provider or protocol id (spec 04 §3.3).
	ProviderOptions map[string]map[string]json.RawMessage `json:"providerOptions,omitempty"`
	// Bindings say what slot names stand for in this request only.
	Bindings map[string]Binding `json:"bindings,omitempty"`
	// NoFallback keeps the primary target only.
	NoFallback bool `json:"noFallback,omitempty"`
	// Limits bound the call; the zero value gives the default budget.
	Limits Limits `json:"limits,omitzero"`
	// Budget is one that several calls share, as runtime retries do; nil makes a
	// fresh one from Limits.
	Budget *Budget `json:"-"`
}

// Binding says what a slot name stands for in one request: another slot or
// preset (Slot), or a target that replaces parts of the slot's own. Its list
// and number fields override the model's known capabilities (spec 04 §4.2).
type Binding struct {
	Slot            string   `json:"slot,omitempty"`
	Provider        string   `json:"provider,omitempty"`
	Protocol        string   `json:"protocol,omitempty"`
	Model           string   `json:"model,omitempty"`
	BaseURL         string   `json:"baseUrl,omitempty"`
	KeyRef          string   `json:"keyRef,omitempty"` // a name for the key provider, never a key
	Input           []string `json:"input,omitempty"`
	Output          []string `json:"output,omitempty"`
	Features        []string `json:"features,omitempty"`
	ContextWindow   int      `json:"contextWindow,omitempty"`
	MaxOutputTokens int      `json:"maxOutputTokens,omitempty"`
}

// Usage counts tokens; Input includes the cached part. Absent cache counters
// are nil.
type Usage struct {
	InputTokens           int64  `json:"inputTokens"`
	OutputTokens          int64  `json:"outputTokens"`
	CachedInputTokens     *int64 `json:"cachedInputTokens,omitempty"`
	CacheWriteInputTokens *int64 `json:"cacheWriteInputTokens,omitempty"`
}

// Finish reasons (spec 04 §15.3).
const (
	FinishStop          = "stop"
	FinishLength        = "length"
	FinishToolCalls     = "tool_calls"
	FinishContentFilter = "content_filter"
	FinishError         = "error"
	FinishOther         = "other"
)

// Result is one finished reply (spec 04 §2.3).
type Result struct {
	Text                 string        `json:"text"`
	FinishReason         string        `json:"finishReason"`
	RawFinishReason      string        `json:"rawFinishReason,omitempty"`
	Usage                Usage         `json:"usage"`
	CostUSD              *float64      `json:"costUSD,omitempty"`
	ToolCalls            []ToolCall    `json:"toolCalls,omitempty"`
	ReasoningContent     string        `json:"reasoningContent,omitempty"`
	ProviderContinuation *Continuation `json:"providerContinuation,omitempty"`
	Warnings             []Warning     `json:"warnings,omitempty"`
	// Records has one entry a target (spec 04 §18): what was sent and how it went.
	Records []RequestRecord `json:"-"`
}

// Warning tells what was left out of a request, and why.
type Warning struct {
	Kind    string `json:"kind"` // unsupported, compatibility or ignored
	Field   string `json:"field"`
	Message string `json:"message"`
}

// RequestRecord is what one target was sent (spec 04 §18). Body holds lengths
// in the place of image bytes and no key.
type RequestRecord struct {
	Provider string          `json:"provider"`
	Protocol string          `json:"protocol"`
	Model    string          `json:"model"`
	Origin   string          `json:"origin"`
	Body     json.RawMessage `json:"body,omitempty"`
	Attempts []SendRecord    `json:"attempts,omitempty"`
	// CacheMarks counts the marks sent; BelowMinimum says that the marked prefix
	// is shorter than what the model caches.
	CacheMarks      int       `json:"cacheMarks,omitempty"`
	BelowMinimum    bool      `json:"belowMinimum,omitempty"`
	CostUSD         *float64  `json:"costUSD,omitempty"`
	DurationMs      int64     `json:"durationMs,omitempty"`
	Error           string    `json:"error,omitempty"`
	RawFinishReason string    `json:"rawFinishReason,omitempty"`
	Usage           *Usage    `json:"usage,omitempty"`
	Warnings        []Warning `json:"warnings,omitempty"`
}

// SendRecord is one send of a request.
type SendRecord struct {
	Status int    `json:"status,omitempty"`
	WaitMs int64  `json:"waitMs,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Delta is one streamed piece of a reply.
type Delta struct {
	Text      string
	Reasoning string
}
