package gemini

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/wire"
)

// content is one wire content; its parts are JSON already, but for texts.
type content struct {
	role     string
	parts    []part
	textOnly bool // may merge with a neighbour of its role
}

// part is a text, or anything else in wire form.
type part struct {
	text string
	raw  json.RawMessage
}

// knownCall is a call of an earlier reply, as a result needs it.
type knownCall struct {
	name   string
	native string // its id, when the provider gave one
	seen   int
}

// layOut makes the system texts and the contents.
func layOut(req *model.Request) (system []string, contents []content, err error) {
	leading := model.Leading(req.Messages)
	calls := map[string]*knownCall{}
	merging := req.LateSystem != model.LateSystem
	add := func(c content) {
		if n := len(contents); merging && n > 0 && c.textOnly && contents[n-1].textOnly && contents[n-1].role == c.role {
			contents[n-1].parts = append(contents[n-1].parts, c.parts...)
			return
		}
		contents = append(contents, c)
	}
	for i := 0; i < len(req.Messages); i++ {
		m := &req.Messages[i]
		switch {
		case m.IsSystem() && (i < leading || !merging):
			system = append(system, m.Text())
		case m.IsSystem():
			if m.Text() != "" {
				e := model.Envelope(model.Message{Content: m.Text()})
				add(content{"user", []part{{text: e.Content}}, true})
			}
		case m.Role == model.RoleAssistant:
			c, err := modelContent(req, m, i, calls)
			if err != nil {
				return nil, nil, err
			}
			if len(c.parts) > 0 {
				add(c)
			}
		case m.Role == model.RoleTool:
			group := i
			for i+1 < len(req.Messages) && req.Messages[i+1].Role == model.RoleTool {
				i++
			}
			c, err := responses(req, group, i+1, calls)
			if err != nil {
				return nil, nil, err
			}
			add(c)
		default:
			c, err := userContent(m, i)
			if err != nil {
				return nil, nil, err
			}
			add(c)
		}
	}
	return system, contents, nil
}

// fileURL is the only remote image that the API takes.
var fileURL = regexp.MustCompile(`^https://generativelanguage\.googleapis\.com/v1(beta)?/files/[A-Za-z0-9_-]+$`)

func userContent(m *model.Message, index int) (content, error) {
	c := content{role: "user", textOnly: true}
	if len(m.Parts) == 0 {
		c.parts = []part{{text: m.Content}}
		return c, nil
	}
	for j, p := range m.Parts {
		if p.Type != "image" {
			c.parts = append(c.parts, part{text: p.Text})
			continue
		}
		c.textOnly = false
		image, _ := model.ParseImage(p) // checked by the gateway
		w := wire.NewWriter(len(image.Base64) + 96)
		switch {
		case image.URL == "":
			w.Open('{').Key("inlineData").Open('{').Key("mimeType").String(image.MediaType).Key("data").String(image.Base64).Close('}').Close('}')
		case fileURL.MatchString(image.URL) && image.MediaType != "":
			w.Open('{').Key("fileData").Open('{').Key("mimeType").String(image.MediaType).Key("fileUri").String(image.URL).Close('}').Close('}')
		default:
			return c, model.Configf("messages[%d].content[%d].image: %q cannot be sent; Gemini takes image bytes, or its own files with mediaType", index, j, image.URL)
		}
		c.parts = append(c.parts, part{raw: w.Bytes()})
	}
	return c, nil
}

// modelContent gives an earlier reply: its native parts at this very target,
// else its text and calls.
func modelContent(req *model.Request, m *model.Message, index int, calls map[string]*knownCall) (content, error) {
	for _, c := range m.ToolCalls {
		known := calls[c.ID]
		if known == nil {
			known = &knownCall{}
			calls[c.ID] = known
		}
		known.name, known.native = c.Name, ""
		known.seen++
	}
	k := m.ProviderContinuation
	if k != nil && k.Protocol == model.ProtocolGemini {
		native, signed, err := nativeCalls(k.Items, index)
		switch {
		case err != nil:
			return content{}, err
		case req.SameTarget(k):
			if err := sameCalls(native, m.ToolCalls, index); err != nil {
				return content{}, err
			}
			c := content{role: "model"}
			for _, item := range k.Items {
				c.parts = append(c.parts, part{raw: item})
			}
			for i, n := range native {
				calls[m.ToolCalls[i].ID].native = n.ID
			}
			return c, nil
		case signed:
			return content{}, model.Configf("messages[%d].providerContinuation: its signatures belong to model %q at %s, not to %q at %s; drop it or keep the model",
				index, k.Model, k.BaseURL, req.Target.Model, req.Target.BaseURL)
		}
	}
	c := content{role: "model", textOnly: len(m.ToolCalls) == 0}
	if text := m.Text(); text != "" {
		c.parts = append(c.parts, part{text: text})
	}
	for _, call := range m.ToolCalls {
		arguments, err := arguments(call.Arguments, index)
		if err != nil {
			return c, err
		}
		w := wire.NewWriter(len(arguments) + 64)
		w.Open('{').Key("functionCall").Open('{').Key("name").String(call.Name).Key("args").Raw(arguments).Close('}').Close('}')
		c.parts = append(c.parts, part{raw: w.Bytes()})
	}
	return c, nil
}

func arguments(text string, index int) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return json.RawMessage(`{}`), nil
	}
	if trimmed[0] != '{' || !json.Valid([]byte(trimmed)) {
		return nil, model.Configf("messages[%d].toolCalls.arguments: %q is not a JSON object", index, text)
	}
	return json.RawMessage(trimmed), nil
}

// responses gives the results of a group of calls as one content, in call order.
func responses(req *model.Request, from, to int, calls map[string]*knownCall) (content, error) {
	c := content{role: "user"}
	order := map[string]int{}
	if from > 0 {
		for i := from - 1; i >= 0; i-- {
			if req.Messages[i].Role == model.RoleAssistant {
				for place, call := range req.Messages[i].ToolCalls {
					order[call.ID] = place
				}
				break
			}
		}
	}
	places := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		m := &req.Messages[i]
		known := calls[m.ToolCallID]
		if known == nil || known.seen != 1 {
			return c, model.Configf("messages[%d].toolCallId: %q must match exactly one earlier call", i, m.ToolCallID)
		}
		w := wire.NewWriter(len(m.Content) + 64)
		w.Open('{').Key("functionResponse").Open('{')
		if known.native != "" {
			w.Key("id").String(known.native)
		}
		w.Key("name").String(known.name).Key("response").Raw(response(m)).Close('}').Close('}')
		at := len(places)
		for at > 0 && places[at-1] > order[m.ToolCallID] {
			at--
		}
		places = append(places[:at], append([]int{order[m.ToolCallID]}, places[at:]...)...)
		c.parts = append(c.parts[:at], append([]part{{raw: w.Bytes()}}, c.parts[at:]...)...)
	}
	return c, nil
}

// response is a tool result as an object: a JSON object as it stands, anything
// else under "result".
func response(m *model.Message) json.RawMessage {
	text := m.Content
	for _, p := range m.Parts {
		if p.Type == "image" {
			text += model.ImagePlaceholder
		} else {
			text += p.Text
		}
	}
	text = model.StripSentinels(text)
	trimmed := strings.TrimSpace(text)
	valid := json.Valid([]byte(trimmed))
	if valid && trimmed[0] == '{' {
		return json.RawMessage(trimmed)
	}
	w := wire.NewWriter(len(text) + 16)
	w.Open('{').Key("result")
	if valid {
		w.Raw(json.RawMessage(trimmed))
	} else {
		w.String(text)
	}
	return w.Close('}').Bytes()
}
