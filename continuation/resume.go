package continuation

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// Codes of refused resumes (spec 03 §19).
const (
	CodeInvalidData        = "invalid_resume_data"
	CodePlaceholderMissing = "resume_placeholder_missing"
)

// Placeholder is the result of a call that suspended, until it is resumed.
const Placeholder = `{"suspended":true}`

// ValidateData checks resume data against the suspension's schema, none
// meaning any JSON value. The error is invalid_resume_data and names the path.
func ValidateData(schema, data json.RawMessage) error {
	refuse := func(field, format string, args ...any) error {
		e := turn.Errorf("resume", CodeInvalidData, format, args...)
		e.Field = field
		return e
	}
	if !json.Valid(data) {
		return refuse("data", "data is no JSON value")
	}
	if len(schema) == 0 || string(schema) == "null" {
		return nil
	}
	compiled, err := plugin.CompileSchema(schema)
	if err != nil {
		return refuse("resumeSchema", "resumeSchema cannot be used: %v", err)
	}
	err = compiled.Validate(data)
	var broken *plugin.SchemaError
	if errors.As(err, &broken) && len(broken.Violations) > 0 {
		return refuse("data"+broken.Violations[0].Path, "data does not fit resumeSchema: %v", err)
	}
	if err != nil {
		return refuse("data", "data does not fit resumeSchema: %v", err)
	}
	return nil
}

// Answer puts the data into the transcript's messages: the placeholder of the
// suspended call becomes {"resumeData": …}; without a call the data becomes a
// user message at the end, a string as it is, anything else as JSON. The
// argument is not changed. A missing placeholder is resume_placeholder_missing.
func (p *Payload) Answer(messages []model.Message, data json.RawMessage) ([]model.Message, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, turn.Errorf("resume", CodeInvalidData, "data is no JSON value")
	}
	messages = slices.Clone(messages)
	if p.SuspendToolCallID == "" {
		content := compact.String()
		var text string
		if json.Unmarshal(data, &text) == nil && content[0] == '"' {
			content = text
		}
		return append(messages, model.Message{Role: model.RoleUser, Content: content}), nil
	}
	i, err := p.PlaceholderAt(messages)
	if err != nil {
		return nil, err
	}
	messages[i].Content = `{"resumeData":` + compact.String() + `}`
	return messages, nil
}

// PlaceholderAt finds the suspended call's placeholder.
func (p *Payload) PlaceholderAt(messages []model.Message) (int, error) {
	i := slices.IndexFunc(messages, func(m model.Message) bool {
		return m.Role == model.RoleTool && m.ToolCallID == p.SuspendToolCallID && m.Content == Placeholder
	})
	if i < 0 {
		return 0, turn.Errorf("resume", CodePlaceholderMissing, "the transcript %s holds no placeholder of call %q", p.Transcript.RunID, p.SuspendToolCallID)
	}
	return i, nil
}

// CountPolicy is the policy that a resume commits with: none while another
// suspension of the logical turn is unresolved, else the stored one (spec 03
// §12.5).
func (p *Payload) CountPolicy(unresolved int) turn.CountPolicy {
	if unresolved > 0 {
		return turn.CountNone
	}
	return p.ExecutionContext.CountPolicy
}

// Deadline is the instant at which an unclaimed suspension is cancelled, nil
// for none. It never overflows.
func Deadline(suspendedAt time.Time, deadlineMs int64) *time.Time {
	if deadlineMs <= 0 {
		return nil
	}
	const longest = math.MaxInt64 / int64(time.Millisecond)
	at := suspendedAt.Add(time.Duration(min(deadlineMs, longest)) * time.Millisecond)
	return &at
}
