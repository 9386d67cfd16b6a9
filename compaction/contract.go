package compaction

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

// ExtensionPoint is the contract of this package; exactly one provider may be
// active (spec 02 §5.1).
const ExtensionPoint = "history.compact@2"

// Input is what a provider gets (spec 02 §5.2).
type Input struct {
	Messages          []session.Message `json:"messages"`
	ExistingSummaries []session.Summary `json:"existingSummaries"`
	// ContextWindow and InputWindow are W and I, in tokens.
	ContextWindow   int    `json:"contextWindow"`
	InputWindow     int    `json:"inputWindow"`
	EstimatedTokens int    `json:"estimatedTokens"`
	Estimator       string `json:"estimator"`
	InputEstimator  string `json:"inputEstimator"`
	Locale          string `json:"locale"`
	SummaryBudget   Budget `json:"summaryBudget"`
}

// Output is what a provider answers; nil means that there is nothing to do.
type Output struct {
	Summaries []Segment `json:"summaries"`
}

// Segment is one new summary: of raw rows, or of saved summaries.
type Segment struct {
	MessageIDs         []string `json:"messageIds"`
	ReplacesSummaryIDs []string `json:"replacesSummaryIds"`
	Content            string   `json:"content"`
	FocusSections      []string `json:"focusSections"`
	Truncated          bool     `json:"truncated,omitempty"`
}

// Provider condenses history. Anything but a result or nothing to do is an
// error, best a *Error.
type Provider func(ctx context.Context, in Input, use Services) (*Output, error)

// Services are what a provider may use besides its input.
type Services struct {
	// Call makes one model call on slot fast, tools off. It is nil when there
	// is no gateway.
	Call func(ctx context.Context, req Request) (Reply, error)
	// Estimator measures story content, InputEstimator summary requests.
	Estimator      tokens.Estimator
	InputEstimator tokens.Estimator
	// Reserve is the output limit of a call, in tokens.
	Reserve int
}

// Request is one summary request: a system prompt and one user message.
type Request struct {
	System string
	User   string
	// MaxOutput is the most tokens of the reply.
	MaxOutput int
}

// Reply is a model's answer; FinishReason is that of spec 04 §15.3 or the
// protocol's own word.
type Reply struct {
	Text         string
	FinishReason string
}

// DecodeOutput reads a remote provider's answer. A missing or wrongly typed
// member is invalid_result, naming its path; unknown members are ignored.
func DecodeOutput(raw json.RawMessage) (*Output, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	root, err := object("result", raw)
	if err != nil {
		return nil, err
	}
	list, err := member[[]json.RawMessage](root, "", "summaries", "a list", true)
	if err != nil {
		return nil, err
	}
	out := &Output{Summaries: make([]Segment, len(list))}
	for i, item := range list {
		path := fmt.Sprintf("summaries[%d]", i)
		o, err := object(path, item)
		if err != nil {
			return nil, err
		}
		s := &out.Summaries[i]
		if s.MessageIDs, err = member[[]string](o, path+".", "messageIds", "a list of texts", true); err != nil {
			return nil, err
		}
		if s.ReplacesSummaryIDs, err = member[[]string](o, path+".", "replacesSummaryIds", "a list of texts", true); err != nil {
			return nil, err
		}
		if s.Content, err = member[string](o, path+".", "content", "a text", true); err != nil {
			return nil, err
		}
		if s.FocusSections, err = member[[]string](o, path+".", "focusSections", "a list of texts", true); err != nil {
			return nil, err
		}
		if s.Truncated, err = member[bool](o, path+".", "truncated", "true or false", false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func object(path string, raw json.RawMessage) (map[string]json.RawMessage, error) {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return nil, failf(InvalidResult, StepValidate, "%s must be an object", path)
	}
	return o, nil
}

// member reads one member of an object. JSON null is as wrong as another type.
func member[T any](o map[string]json.RawMessage, path, name, kind string, required bool) (T, error) {
	var value T
	raw, ok := o[name]
	if !ok && !required {
		return value, nil
	}
	if !ok {
		return value, failf(InvalidResult, StepValidate, "%s%s is missing; it must be %s", path, name, kind)
	}
	if string(raw) == "null" || json.Unmarshal(raw, &value) != nil || nullInside(raw, value) {
		return value, failf(InvalidResult, StepValidate, "%s%s must be %s", path, name, kind)
	}
	return value, nil
}

// nullInside finds a null item of a list of texts, which Go reads as "".
func nullInside(raw json.RawMessage, value any) bool {
	if _, texts := value.([]string); !texts {
		return false
	}
	var items []*string
	if json.Unmarshal(raw, &items) != nil {
		return true
	}
	for _, item := range items {
		if item == nil {
			return true
		}
	}
	return false
}
