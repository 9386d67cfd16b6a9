package scripted

import (
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/covel-engine/covel/model"
)

// Storyteller is the model id of the built-in storyteller.
const Storyteller = "storyteller"

// doneTool is the tool by which a runtime ends.
const doneTool = "runtime-done"

// cueRunes is how much of the player's text a story repeats.
const cueRunes = 60

//go:embed sentences/*.yaml
var sentenceFiles embed.FS

// sentences are the storyteller's lists in one language.
type sentences struct {
	Openings []string `yaml:"openings"`
	Results  []string `yaml:"results"`
	Joint    string   `yaml:"joint"`
	Scenes   []string `yaml:"scenes"`
	Themes   []theme  `yaml:"themes"`
	Closings []string `yaml:"closings"`
}

// theme is a list of scenes that the cue's words call up.
type theme struct {
	Words  []string `yaml:"words"`
	Scenes []string `yaml:"scenes"`
}

// loadSentences reads the lists of a language once.
var loadSentences = sync.OnceValues(func() (map[string]*sentences, error) {
	lists := map[string]*sentences{}
	for _, language := range []string{"en", "zh"} {
		data, err := sentenceFiles.ReadFile("sentences/" + language + ".yaml")
		if err != nil {
			return nil, err
		}
		s := &sentences{}
		if err := yaml.UnmarshalWithOptions(data, s, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("sentences/%s.yaml: %w", language, err)
		}
		lists[language] = s
	}
	return lists, nil
})

// scene is what the storyteller reads out of a prompt: the cue, and what
// followed it.
type scene struct {
	cue    string
	called map[string]bool // tools called in the exchange
	tools  []string        // summaries of the exchange's tool results
}

// tell answers a prompt by the first rule of spec 04 §17.3 that fits.
func tell(p *Prompt) (*Reply, error) {
	s := read(p)
	choosable := p.Choice.Mode != model.ChoiceNone
	if choosable {
		if tool := nextTool(p, s); tool != nil {
			return callOf(tool), nil
		}
	}
	if schema := answerSchema(p); schema != nil {
		return &Reply{Text: string(minimalInstance(schema))}, nil
	}
	if choosable {
		if tool := offered(p, doneTool); tool != nil {
			return callOf(tool), nil
		}
	}
	story, err := narrate(p, s)
	if err != nil {
		return nil, err
	}
	return &Reply{Text: story}, nil
}

// nextTool is the call that rules 1 to 3 ask for, nil for none.
func nextTool(p *Prompt, s *scene) *model.Tool {
	if p.Choice.Mode == model.ChoiceNamed && !s.called[p.Choice.Name] {
		if tool := offered(p, p.Choice.Name); tool != nil {
			return tool
		}
	}
	if p.Choice.Mode == model.ChoiceRequired {
		for i := range p.Tools {
			if p.Tools[i].Name != doneTool && !s.called[p.Tools[i].Name] {
				return &p.Tools[i]
			}
		}
		if tool := offered(p, doneTool); tool != nil {
			return tool
		}
	}
	for i := range p.Tools {
		if !s.called[p.Tools[i].Name] && holdsWord(s.cue, p.Tools[i].Name) {
			return &p.Tools[i]
		}
	}
	return nil
}

func offered(p *Prompt, name string) *model.Tool {
	i := slices.IndexFunc(p.Tools, func(t model.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Tools[i]
}

func callOf(t *model.Tool) *Reply {
	schema := t.Parameters
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	return &Reply{ToolCalls: []model.ToolCall{{Name: t.Name, Arguments: string(minimalInstance(schema))}}}
}

// read finds the cue, the last user message that does not start with "<", and
// the exchange that follows it.
func read(p *Prompt) *scene {
	s := &scene{called: map[string]bool{}}
	from := 0
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if m := p.Messages[i]; m.Role == model.RoleUser && !strings.HasPrefix(text(m), "<") {
			s.cue, from = text(m), i+1
			break
		}
	}
	for _, m := range p.Messages[from:] {
		for _, c := range m.ToolCalls {
			s.called[c.Name] = true
		}
		if m.Role == model.RoleTool {
			if summary := summaryOf(text(m)); summary != "" {
				s.tools = append(s.tools, summary)
			}
		}
	}
	return s
}

// summaryOf reads what a tool result says of itself: the envelope's summary or
// error message, else the text's first 80 runes.
func summaryOf(result string) string {
	var envelope struct {
		Summary string `json:"summary"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(result), &envelope) == nil {
		if envelope.Summary != "" {
			return envelope.Summary
		}
		if envelope.Error.Message != "" {
			return envelope.Error.Message
		}
	}
	return firstRunes(strings.TrimSpace(result), 80)
}

var responseFormat = regexp.MustCompile(`(?s)<response-format>(.*?)</response-format>`)

// answerSchema is the schema that the answer must match, nil for none.
func answerSchema(p *Prompt) json.RawMessage {
	if len(p.Schema) > 0 {
		return p.Schema
	}
	for i := len(p.Messages) - 1; i >= 0; i-- {
		m := p.Messages[i]
		if m.Role != model.RoleSystem && m.Role != model.RoleDeveloper && !strings.HasPrefix(text(m), "<system-instruction>") {
			continue
		}
		if found := responseFormat.FindStringSubmatch(text(m)); found != nil && json.Valid([]byte(found[1])) {
			return json.RawMessage(found[1])
		}
	}
	return nil
}

// narrate tells two to four sentences chosen by the hash of the messages.
func narrate(p *Prompt, s *scene) (string, error) {
	lists, err := loadSentences()
	if err != nil {
		return "", err
	}
	language, gap := "en", " "
	if strings.ContainsFunc(s.cue, func(r rune) bool { return r >= 0x4E00 && r <= 0x9FFF }) {
		language, gap = "zh", ""
	}
	l := lists[language]
	seed := p.seed()
	pick := func(list []string, at int) string {
		return list[binary.BigEndian.Uint32(seed[at*4:])%uint32(len(list))]
	}
	var story []string
	if s.cue != "" {
		story = append(story, strings.ReplaceAll(pick(l.Openings, 0), "{cue}", firstRunes(s.cue, cueRunes)))
	} else {
		story = append(story, pick(l.Scenes, 6))
	}
	if len(s.tools) > 0 {
		said := strings.TrimRight(strings.Join(s.tools, l.Joint), ".。!！?？")
		story = append(story, strings.ReplaceAll(pick(l.Results, 1), "{result}", said))
	}
	story = append(story, pick(l.scenesFor(s.cue), 2))
	if seed[31]%3 != 0 || len(story) < 2 {
		story = append(story, pick(l.Closings, 3))
	}
	return strings.Join(story, gap), nil
}

// scenesFor gives the scenes that the cue's words call up, or the general ones.
func (l *sentences) scenesFor(cue string) []string {
	lower := strings.ToLower(cue)
	var scenes []string
	for _, t := range l.Themes {
		if slices.ContainsFunc(t.Words, func(w string) bool { return holdsWord(lower, w) }) {
			scenes = append(scenes, t.Scenes...)
		}
	}
	if scenes == nil {
		return l.Scenes
	}
	return scenes
}

// holdsWord says whether a text holds a word whole: bounded by something other
// than a letter, a digit, '-' or '_'. Chinese is written without gaps, so a
// Chinese word counts wherever it stands.
func holdsWord(text, word string) bool {
	if word == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(word)
		if word[0] >= 0x80 || (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = end
	}
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
