package model

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// TagText marks the slots that answer with text; resolution by tag (spec 04
// §3.5) never crosses tags.
const TagText = "text"

// Slots is a checked llm.toml: one slot a table [covel.<slot>], in file order.
type Slots struct {
	// Dir is where relative script paths start, "" for the working directory.
	Dir string
	// File is the path the slots came from, "" when there was no file.
	File string
	list []*Slot
}

// Slot routes a use to a provider and model (spec 04 §3.2). Nil and zero
// fields were not given.
type Slot struct {
	BaseURL           string
	CacheHistoryMarks int
	CacheStrategy     string
	ContextWindow     int
	EmbeddingFormat   string
	Fallback          string
	Features          []string
	Headers           map[string]string
	Input             []string
	// LateSystem also holds what lateSystemAsUser said.
	LateSystem      string
	MaxOutputTokens *int
	// Metadata is providerRequestMetadata, merged into request bodies.
	Metadata        map[string]json.RawMessage
	Model           string
	Name            string
	Output          []string
	Pricing         *Pricing
	Protocol        string
	Provider        string
	ProviderOptions map[string]map[string]json.RawMessage
	ReasoningEffort string
	Tag             string
	Tokenizer       string

	// lateFolded says that LateSystem is what lateSystemAsUser stands for.
	lateFolded bool
}

// LoadSlots reads and checks llm.toml. Errors are CONFIG_ERROR and name file,
// line, field and the allowed values.
func LoadSlots(path string) (*Slots, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{Code: CodeConfig, Message: "llm.toml: " + err.Error(), Err: err}
	}
	slots, err := ParseSlots(path, data)
	if err != nil {
		return nil, err
	}
	slots.Dir = filepath.Dir(path)
	return slots, nil
}

// ScriptedSlots plays every slot by the named script, or by the storyteller
// (spec 04 §3.1, §17). It holds the usual text slots; any other name resolves
// to the first of them.
func ScriptedSlots(script string) *Slots {
	s := &Slots{}
	for _, name := range []string{"story", "default", "plugin", "fast", "memory", "utility", "balance"} {
		s.list = append(s.list, &Slot{Name: name, Provider: ProviderScripted, Model: script, Protocol: ProtocolScripted, Tag: TagText})
	}
	return s
}

// WithScript gives a copy in which a script plays every text slot, as
// COVEL_LLM_SCRIPT asks for. Other slots stay.
func (s *Slots) WithScript(script string) *Slots {
	c := &Slots{Dir: s.Dir, File: s.File}
	for _, slot := range s.list {
		if slot.Tag == TagText {
			slot = &Slot{
				Name: slot.Name, Provider: ProviderScripted, Model: script, Protocol: ProtocolScripted, Tag: TagText,
				ContextWindow: slot.ContextWindow, MaxOutputTokens: slot.MaxOutputTokens,
			}
		}
		c.list = append(c.list, slot)
	}
	return c
}

// Names lists the slots in file order.
func (s *Slots) Names() []string {
	names := make([]string, len(s.list))
	for i, slot := range s.list {
		names[i] = slot.Name
	}
	return names
}

// Lookup gives the slot of exactly that name.
func (s *Slots) Lookup(name string) (*Slot, bool) {
	i := slices.IndexFunc(s.list, func(slot *Slot) bool { return slot.Name == name })
	if i < 0 {
		return nil, false
	}
	return s.list[i], true
}

// firstOfTag gives the first slot that has the tag.
func (s *Slots) firstOfTag(tag string) (*Slot, bool) {
	for _, slot := range s.list {
		if slot.Tag == tag {
			return slot, true
		}
	}
	return nil, false
}

// baseURLs lists the base URLs that the file gives a provider.
func (s *Slots) baseURLs(provider string) []string {
	var urls []string
	for _, slot := range s.list {
		if slot.Provider == provider && slot.BaseURL != "" {
			urls = append(urls, slot.BaseURL)
		}
	}
	return urls
}
