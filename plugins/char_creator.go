package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

// registerCharCreator adds the char-creator package's code (spec 05 §15.3).
func registerCharCreator(h *plugin.Handlers) {
	h.Entries["char-creator"] = plugin.Registration{Segments: map[string]plugin.SegmentHandler{
		"characters": func(_ context.Context, v plugin.View) ([]plugin.Segment, error) {
			return append(assembler.ExistingCharacters(v.Characters), assembler.CharacterFields(v.Characters)...), nil
		},
	}}
	h.Guards["char-creator/player-init-guard"] = func(_ context.Context, c plugin.FunctionCall) (plugin.GuardResult, error) {
		if _, ok := assembler.CurrentCharacter(c.Session.Seats, c.Characters); ok {
			return plugin.GuardResult{Skip: true, Value: json.RawMessage(`{}`)}, nil
		}
		return plugin.GuardResult{}, nil
	}
	h.Tools["char-creator/create-character-form"] = createCharacterForm
}

type formField struct {
	ID       string       `json:"id"`
	Label    string       `json:"label"`
	Type     string       `json:"type"` // text, number, select or toggle
	Options  []formOption `json:"options,omitempty"`
	Required bool         `json:"required,omitempty"`
}

type formOption struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// createCharacterForm shows a form for fields of the character schema and
// suspends; the submitted values are the resume's data.
func createCharacterForm(_ context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
	var args struct {
		Title    string   `json:"title"`
		FieldIDs []string `json:"fieldIds"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return plugin.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	schema, err := source.ParseJSON(c.CharacterSchema)
	if err != nil {
		schema = &source.Node{Kind: source.Map} // a session without a schema
	}
	known := []string{"name", "description"}
	attributes := map[string]*source.Node{}
	if list := schema.Get("attributes"); list != nil {
		for _, a := range list.Items {
			attributes[a.Get("id").Str()] = a
			known = append(known, a.Get("id").Str())
		}
	}
	properties := map[string]any{}
	required := []string{}
	fields := make([]formField, len(args.FieldIDs))
	for i, id := range args.FieldIDs {
		if !slices.Contains(known, id) {
			return refuse("fieldIds[%d] %q is no field; use %s", i, id, strings.Join(known, ", ")), nil
		}
		fields[i] = fieldFor(id, attributes[id])
		properties[id] = answerSchema(fields[i], attributes[id])
		if fields[i].Required {
			required = append(required, id)
		}
	}
	resume, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		return plugin.ToolResult{}, fmt.Errorf("encode resume schema: %w", err)
	}
	form, err := propose(turn.ProposalInteractionRequest, map[string]any{
		"interactionId": interactionID(c), "type": "form", "title": args.Title, "fields": fields,
	})
	if err != nil {
		return plugin.ToolResult{}, err
	}
	return plugin.ToolResult{
		Summary: "waiting for the player's answers", Proposals: []plugin.ProposedWrite{form},
		Suspend: &plugin.SuspendMark{Reason: "The player fills in the character form.", ResumeSchema: resume},
	}, nil
}

func fieldFor(id string, attribute *source.Node) formField {
	f := formField{ID: id, Label: attribute.Get("name").StrOr(id), Type: "text", Required: id == "name"}
	switch attribute.Get("type").Str() {
	case "number":
		f.Type = "number"
	case "boolean":
		f.Type = "toggle"
	case "enum":
		f.Type = "select"
		for _, o := range attribute.Get("options").Strings() {
			f.Options = append(f.Options, formOption{Value: o, Label: o})
		}
	}
	return f
}

// answerSchema accepts what a form field gives, and the attribute's own type.
func answerSchema(f formField, attribute *source.Node) map[string]any {
	switch f.Type {
	case "number":
		s := map[string]any{"type": "number"}
		for from, to := range map[string]string{"min": "minimum", "max": "maximum"} {
			if v, ok := attribute.Get(from).Float(); ok {
				s[to] = v
			}
		}
		return s
	case "toggle":
		return map[string]any{"type": "boolean"}
	case "select":
		values := make([]string, len(f.Options))
		for i, o := range f.Options {
			values[i] = o.Value
		}
		return map[string]any{"enum": values}
	}
	if f.Required {
		return map[string]any{"type": "string", "minLength": 1}
	}
	return map[string]any{"type": []string{"string", "array", "object"}}
}

// characterFields keeps those fields of a card that the schema allows.
func characterFields(schema json.RawMessage, fields *source.Node) json.RawMessage {
	rules, err := world.ParseCharacterSchema(schema)
	if err != nil || fields == nil {
		return nil
	}
	kept := &source.Node{Kind: source.Map}
	for _, f := range fields.Fields {
		if rules.Refuses(f.Key, f.Value.JSON()) == "" {
			kept.Fields = append(kept.Fields, f)
		}
	}
	if len(kept.Fields) == 0 {
		return nil
	}
	return kept.JSON()
}

// interactionID is the same for every attempt of a call.
func interactionID(c plugin.ToolCall) string {
	sum := sha256.Sum256([]byte(c.Scope.ExecutionID + "\n" + c.RuntimeID + "\n" + c.CallID))
	return "form-" + hex.EncodeToString(sum[:6])
}
