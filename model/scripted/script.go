package scripted

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/covel-engine/covel/model"
)

// Script is a parsed script file.
type Script struct {
	file     string
	fallback bool // noMatch: storyteller
	entries  []entry
}

// entry is one reply of a script.
type entry struct {
	When       when        `yaml:"when"`
	Reasoning  string      `yaml:"reasoning"`
	Text       string      `yaml:"text"`
	ToolCalls  []entryCall `yaml:"toolCalls"`
	Finish     string      `yaml:"finish"`
	Usage      *entryUsage `yaml:"usage"`
	ChunkRunes int         `yaml:"chunkRunes"`
	DelayMs    int         `yaml:"delayMs"`
	Fault      *Fault      `yaml:"error"`
	Truncated  bool        `yaml:"truncated"`
	lastUser   *regexp.Regexp
}

// when holds the conditions of an entry; nil ones are not given.
type when struct {
	Slot     *string `yaml:"slot"`
	Runtime  *string `yaml:"runtime"`
	Turn     *int    `yaml:"turn"`
	Step     *int    `yaml:"step"`
	Attempt  *int    `yaml:"attempt"`
	LastUser *string `yaml:"lastUser"`
	LastTool *string `yaml:"lastTool"`
}

type entryCall struct {
	ID        string        `yaml:"id"`
	Name      string        `yaml:"name"`
	Arguments yaml.MapSlice `yaml:"arguments"`
}

type entryUsage struct {
	InputTokens           int64  `yaml:"inputTokens"`
	OutputTokens          int64  `yaml:"outputTokens"`
	CachedInputTokens     *int64 `yaml:"cachedInputTokens"`
	CacheWriteInputTokens *int64 `yaml:"cacheWriteInputTokens"`
}

// rawEntry keeps an entry's text, so that each is decoded on its own and its
// errors name its number.
type rawEntry []byte

func (r *rawEntry) UnmarshalYAML(b []byte) error {
	*r = slices.Clone(b)
	return nil
}

// LoadScript reads a script file. Errors are CONFIG_ERROR and name the file and
// the entry's number, from 1.
func LoadScript(path string) (*Script, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, &model.Error{Code: model.CodeConfig, Message: "scripted model: " + err.Error(), Err: err}
	}
	return ParseScript(filepath.Base(path), data)
}

// ParseScript checks the bytes of a script; name stands in the errors.
func ParseScript(name string, data []byte) (*Script, error) {
	var file struct {
		Version int        `yaml:"version"`
		NoMatch string     `yaml:"noMatch"`
		Replies []rawEntry `yaml:"replies"`
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.Strict()); err != nil {
		return nil, model.Configf("%s: %s", name, plainYAML(err))
	}
	if file.Version != 1 {
		return nil, model.Configf("%s: version: %d is not allowed; use 1", name, file.Version)
	}
	s := &Script{file: name}
	switch file.NoMatch {
	case "", "error":
	case Storyteller:
		s.fallback = true
	default:
		return nil, model.Configf("%s: noMatch: %q is not allowed; use error or storyteller", name, file.NoMatch)
	}
	for i, raw := range file.Replies {
		e, err := parseEntry(raw)
		if err != nil {
			return nil, model.Configf("%s: replies entry %d: %s", name, i+1, err)
		}
		s.entries = append(s.entries, *e)
	}
	return s, nil
}

// plainYAML is a parser's complaint without its drawing of the source.
func plainYAML(err error) string {
	line, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
	return line
}

func parseEntry(raw rawEntry) (*entry, error) {
	e := &entry{}
	if err := yaml.UnmarshalWithOptions(raw, e, yaml.Strict(), yaml.UseOrderedMap()); err != nil {
		return nil, errors.New(plainYAML(err))
	}
	if e.When.LastUser != nil {
		pattern, err := regexp.Compile(*e.When.LastUser)
		if err != nil {
			return nil, fmt.Errorf("when.lastUser: %w", err)
		}
		e.lastUser = pattern
	}
	if e.ChunkRunes < 0 || e.DelayMs < 0 {
		return nil, fmt.Errorf("chunkRunes %d, delayMs %d: negative values are not allowed", e.ChunkRunes, e.DelayMs)
	}
	for i, c := range e.ToolCalls {
		if c.Name == "" {
			return nil, fmt.Errorf("toolCalls[%d].name: missing", i)
		}
	}
	if f := e.Fault; f != nil {
		switch {
		case f.Connection != "" && f.Connection != "refused" && f.Connection != "reset":
			return nil, fmt.Errorf("error.connection: %q is not allowed; use refused or reset", f.Connection)
		case f.Connection == "" && (f.Status < 300 || f.Status > 599):
			return nil, fmt.Errorf("error.status: %d is not allowed; use 300 to 599, or error.connection", f.Status)
		}
	}
	return e, nil
}

// play answers a prompt by the first entry whose conditions all hold.
func (s *Script) play(p *Prompt) (*Reply, error) {
	for i := range s.entries {
		if e := &s.entries[i]; e.matches(p) {
			return s.reply(e, i+1, p)
		}
	}
	if s.fallback {
		return tell(p)
	}
	id := p.Identity
	return nil, model.Configf("%s: no reply matches slot %q, runtime %q, turn %d, step %d, attempt %d; add an entry or set noMatch: storyteller",
		s.file, id.Slot, id.RuntimeID, id.Turn, id.Step, p.Attempt)
}

func (s *Script) reply(e *entry, number int, p *Prompt) (*Reply, error) {
	r := &Reply{
		ChunkRunes: e.ChunkRunes, DelayMs: e.DelayMs, Fault: e.Fault, Finish: e.Finish, Reasoning: e.Reasoning, Text: e.Text,
		Truncated: e.Truncated,
	}
	if u := e.Usage; u != nil {
		r.Usage = model.Usage{
			InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedInputTokens: u.CachedInputTokens,
			CacheWriteInputTokens: u.CacheWriteInputTokens,
		}
	}
	for _, c := range e.ToolCalls {
		if offered(p, c.Name) == nil {
			return nil, model.Configf("%s: replies entry %d: calls the tool %q, which is not offered here", s.file, number, c.Name)
		}
		r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Name, Arguments: jsonOf(c.Arguments)})
	}
	return r, nil
}

// matches says whether every given condition holds.
func (e *entry) matches(p *Prompt) bool {
	w, id := e.When, p.Identity
	switch {
	case w.Slot != nil && *w.Slot != id.Slot,
		w.Runtime != nil && *w.Runtime != id.RuntimeID,
		w.Turn != nil && *w.Turn != id.Turn,
		w.Step != nil && *w.Step != id.Step,
		w.Attempt != nil && *w.Attempt != p.Attempt,
		e.lastUser != nil && !e.lastUser.MatchString(lastUser(p)),
		w.LastTool != nil && *w.LastTool != lastTool(p):
		return false
	}
	return true
}

// lastUser is the text of the last user message.
func lastUser(p *Prompt) string {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == model.RoleUser {
			return text(p.Messages[i])
		}
	}
	return ""
}

// lastTool names the tool whose result is the last message, "" for none.
func lastTool(p *Prompt) string {
	if len(p.Messages) == 0 {
		return ""
	}
	last := p.Messages[len(p.Messages)-1]
	if last.Role != model.RoleTool {
		return ""
	}
	for i := len(p.Messages) - 1; i >= 0; i-- {
		for _, c := range p.Messages[i].ToolCalls {
			if c.ID == last.ToolCallID {
				return c.Name
			}
		}
	}
	return ""
}
