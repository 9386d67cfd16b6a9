package anthropic

import (
	"encoding/json"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/wire"
)

// mark is a cache mark.
var mark = json.RawMessage(`{"type":"ephemeral"}`)

// emptySchema is what a tool without a schema gets.
var emptySchema = json.RawMessage(`{"type":"object","properties":{}}`)

// render writes the body of a request.
func render(req *model.Request) []byte {
	s := leadingText(req)
	turns := layOut(req)
	markMessages(req, turns)
	noteMarks(req, s, turns)

	w := wire.NewWriter(req.BodySize())
	w.Open('{')
	w.Key("model").String(req.Target.Model)
	w.Key("max_tokens").Int(req.MaxOutputTokens)
	if req.Stream {
		w.Key("stream").Bool(true)
	}
	switch {
	case len(s.blocks) > 0:
		w.Key("system").Open('[')
		for i := range s.blocks {
			writeBlock(w, &s.blocks[i])
		}
		w.Close(']')
	case s.plain != "":
		w.Key("system").String(s.plain)
	}
	w.Key("messages").Open('[')
	for i := range turns {
		w.Open('{').Key("role").String(turns[i].role).Key("content").Open('[')
		for j := range turns[i].blocks {
			writeBlock(w, &turns[i].blocks[j])
		}
		w.Close(']').Close('}')
	}
	w.Close(']')
	if len(req.Tools) > 0 {
		w.Key("tools").Open('[')
		for _, t := range req.Tools {
			writeTool(w, t)
		}
		w.Close(']')
	}
	writeChoice(w, req.Choice)
	for _, key := range req.Fields.Keys() {
		w.Key(key).Raw(req.Fields.Get(key))
	}
	return w.Close('}').Bytes()
}

func writeBlock(w *wire.Writer, b *block) {
	if b.kind == rawBlock {
		writeRaw(w, b)
		return
	}
	w.Open('{')
	switch b.kind {
	case textBlock:
		w.Key("type").String("text").Key("text").Text(b.text, model.Sentinel)
	case imageBlock:
		w.Key("type").String("image").Key("source").Open('{')
		if b.image.URL != "" {
			w.Key("type").String("url").Key("url").String(b.image.URL)
		} else {
			w.Key("type").String("base64").Key("media_type").String(b.image.MediaType).Key("data").String(b.image.Base64)
		}
		w.Close('}')
	case toolUse:
		w.Key("type").String("tool_use").Key("id").String(b.call.ID).Key("name").String(b.call.Name)
		w.Key("input").Raw(toolInput(b.call.Arguments))
	case toolResult:
		w.Key("type").String("tool_result").Key("tool_use_id").String(b.id).Key("content")
		if b.parts == nil {
			w.Text(b.text, model.Sentinel)
			break
		}
		w.Open('[')
		for i := range b.parts {
			writeBlock(w, &b.parts[i])
		}
		w.Close(']')
	case rawBlock:
	}
	if b.marked {
		w.Key("cache_control").Raw(mark)
	}
	w.Close('}')
}

// writeRaw sends a native item as it stands; a mark is added to a copy.
func writeRaw(w *wire.Writer, b *block) {
	if b.marked {
		if members, ok := wire.Members(b.raw); ok {
			w.Raw(wire.Object(append(members, wire.Member{Name: "cache_control", Value: mark})))
			return
		}
	}
	w.Raw(b.raw)
}

func writeTool(w *wire.Writer, t model.Tool) {
	schema := t.Parameters
	if len(schema) == 0 {
		schema = emptySchema
	}
	w.Open('{').Key("name").String(t.Name)
	if t.Description != "" {
		w.Key("description").String(t.Description)
	}
	w.Key("input_schema").Raw(schema).Close('}')
}

func writeChoice(w *wire.Writer, c *model.Choice) {
	switch {
	case c == nil, c.Raw == nil && c.Mode == model.ChoiceDefault:
	case c.Raw != nil:
		w.Key("tool_choice").Raw(c.Raw)
	case c.Mode == model.ChoiceNamed:
		w.Key("tool_choice").Open('{').Key("type").String("tool").Key("name").String(c.Name).Close('}')
	case c.Mode == model.ChoiceRequired:
		w.Key("tool_choice").Open('{').Key("type").String("any").Close('}')
	default:
		w.Key("tool_choice").Open('{').Key("type").String(c.Mode).Close('}')
	}
}
