package gemini

import (
	"encoding/json"
	"slices"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/wire"
)

// configKeys are the settings that belong into generationConfig.
var configKeys = []string{
	"temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "seed", "frequencyPenalty", "presencePenalty", "thinkingConfig",
}

// bodyKeys are the settings that belong beside it.
var bodyKeys = []string{"cachedContent", "safetySettings", "labels"}

// render writes the body of a request.
func render(req *model.Request) ([]byte, error) {
	system, contents, err := layOut(req)
	if err != nil {
		return nil, err
	}
	w := wire.NewWriter(req.BodySize())
	w.Open('{')
	w.Key("contents").Open('[')
	for i := range contents {
		writeContent(w, &contents[i])
	}
	w.Close(']')
	if len(system) > 0 {
		w.Key("systemInstruction").Open('{').Key("parts").Open('[')
		for _, text := range system {
			w.Open('{').Key("text").Text(text, model.Sentinel).Close('}')
		}
		w.Close(']').Close('}')
	}
	writeConfig(w, req)
	if len(req.Tools) > 0 {
		w.Key("tools").Open('[').Open('{').Key("functionDeclarations").Open('[')
		for _, t := range req.Tools {
			w.Open('{').Key("name").String(t.Name)
			if t.Description != "" {
				w.Key("description").String(t.Description)
			}
			if len(t.Parameters) > 0 {
				w.Key("parametersJsonSchema").Raw(withoutConst(t.Parameters))
			}
			w.Close('}')
		}
		w.Close(']').Close('}').Close(']')
	}
	writeChoice(w, req.Choice)
	for _, key := range req.Fields.Keys() {
		switch {
		case slices.Contains(bodyKeys, key):
			w.Key(key).Raw(req.Fields.Get(key))
		case !slices.Contains(configKeys, key):
			req.Warn("unsupported", key, "Gemini has no such setting; it was left out")
		}
	}
	return w.Close('}').Bytes(), nil
}

func writeContent(w *wire.Writer, c *content) {
	w.Open('{').Key("role").String(c.role).Key("parts").Open('[')
	for _, p := range c.parts {
		if p.raw != nil {
			w.Raw(p.raw)
			continue
		}
		w.Open('{').Key("text").Text(p.text, model.Sentinel).Close('}')
	}
	w.Close(']').Close('}')
}

func writeConfig(w *wire.Writer, req *model.Request) {
	w.Key("generationConfig").Open('{')
	for _, key := range req.Fields.Keys() {
		if slices.Contains(configKeys, key) && (key != "maxOutputTokens" || req.MaxOutputTokens == 0) {
			w.Key(key).Raw(req.Fields.Get(key))
		}
	}
	if req.MaxOutputTokens > 0 {
		w.Key("maxOutputTokens").Int(req.MaxOutputTokens)
	}
	if len(req.Schema) > 0 {
		w.Key("responseMimeType").String("application/json").Key("responseJsonSchema").Raw(withoutConst(req.Schema))
	}
	w.Close('}')
}

func writeChoice(w *wire.Writer, c *model.Choice) {
	if c == nil {
		return
	}
	w.Key("toolConfig")
	if c.Raw != nil {
		w.Raw(c.Raw)
		return
	}
	w.Open('{').Key("functionCallingConfig").Open('{').Key("mode")
	switch c.Mode {
	case model.ChoiceNamed:
		w.String("ANY").Key("allowedFunctionNames").Open('[').String(c.Name).Close(']')
	case model.ChoiceRequired:
		w.String("ANY")
	case model.ChoiceNone:
		w.String("NONE")
	default:
		w.String("AUTO")
	}
	w.Close('}').Close('}')
}

// Places of a JSON Schema where schemas stand.
var (
	schemaMaps  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	schemaLists = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	schemaOnes  = []string{"items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
)

// withoutConst writes const as an enum of one, where schemas stand only; a
// property that is called const stays.
func withoutConst(schema json.RawMessage) json.RawMessage {
	members, ok := wire.Members(schema)
	if !ok {
		return schema
	}
	for i := range members {
		m := &members[i]
		switch {
		case m.Name == "const":
			m.Name, m.Value = "enum", list([]json.RawMessage{m.Value})
		case slices.Contains(schemaMaps, m.Name):
			if inner, ok := wire.Members(m.Value); ok {
				for j := range inner {
					inner[j].Value = withoutConst(inner[j].Value)
				}
				m.Value = wire.Object(inner)
			}
		case slices.Contains(schemaLists, m.Name), slices.Contains(schemaOnes, m.Name):
			var items []json.RawMessage
			if json.Unmarshal(m.Value, &items) == nil {
				for j := range items {
					items[j] = withoutConst(items[j])
				}
				m.Value = list(items)
			} else {
				m.Value = withoutConst(m.Value)
			}
		}
	}
	return wire.Object(members)
}

func list(items []json.RawMessage) json.RawMessage {
	w := wire.NewWriter(64)
	w.Open('[')
	for _, item := range items {
		w.Raw(item)
	}
	return w.Close(']').Bytes()
}
