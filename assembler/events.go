package assembler

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
)

// EventTopic is one topic of the event catalogue.
type EventTopic struct {
	Topic       string
	Description string
	Schema      json.RawMessage
	Advertise   bool
}

// EventCatalogue lists the advertised topics by code point with their required
// fields (spec 01 §8.7).
func EventCatalogue(topics []EventTopic, texts *locale.Texts, lang locale.Lang) string {
	sorted := slices.Clone(topics)
	slices.SortStableFunc(sorted, func(a, b EventTopic) int { return strings.Compare(a.Topic, b.Topic) })
	var lines []string
	for _, t := range sorted {
		if !t.Advertise {
			continue
		}
		line := "- " + t.Topic
		if d := Fold(t.Description); d != "" {
			line += ": " + d
		}
		schema, err := jsonValue(t.Schema)
		readable := err == nil && (schema.Kind == ordered.Object || schema.Kind == ordered.Null || schema.Kind == ordered.Bool)
		if required := requiredFields(schema); readable && len(required) > 0 {
			line += " (required: " + strings.Join(required, ", ") + ")"
		}
		lines = append(lines, line)
		switch {
		case !readable:
			lines = append(lines, "  "+texts.Get(lang, "T06", nil))
		case NeedsPlainObject(schema):
			lines = append(lines, "  schema: "+schema.JSON())
		}
	}
	return strings.Join(lines, "\n")
}

// requiredFields writes the top-level required fields as "field: type", in the
// order of the schema's properties.
func requiredFields(schema ordered.Value) []string {
	names := map[string]bool{}
	for _, r := range schema.Member("required").Items {
		names[r.Text] = r.Kind == ordered.String
	}
	var out []string
	for _, p := range schema.Member("properties").Members {
		if names[p.Key] {
			out = append(out, p.Key+": "+schemaType(p.Value))
			delete(names, p.Key)
		}
	}
	for _, r := range schema.Member("required").Items {
		if names[r.Text] {
			out = append(out, r.Text+": any")
			delete(names, r.Text)
		}
	}
	return out
}

func schemaType(schema ordered.Value) string {
	switch t := schema.Member("type"); {
	case t.Kind == ordered.String:
		return t.Text
	case t.Kind == ordered.Array && len(t.Items) > 0:
		words := make([]string, len(t.Items))
		for i, item := range t.Items {
			words[i] = item.Text
		}
		return strings.Join(words, "|")
	default:
		return "any"
	}
}

// NeedsPlainObject says whether a payload schema uses references, so that the
// tool definition of emit-event can only say "object".
func NeedsPlainObject(schema ordered.Value) bool {
	for _, m := range schema.Members {
		if m.Key == "$ref" && m.Value.Kind == ordered.String || m.Key == "$defs" || NeedsPlainObject(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(schema.Items, NeedsPlainObject)
}

// availableEvents is the <available-events> block, "" when the runtime does not
// advertise events or the catalogue is empty.
func (b *build) availableEvents() string {
	if !b.Runtime.AdvertiseEvents || blank(b.EventCatalogue) {
		return ""
	}
	return block("available-events", Escape(b.EventCatalogue)+blankLine+b.text("T05", nil))
}
