package model

import (
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
)

// Traits are the words by which code knows what a model does (spec 04 §4.3).
const (
	TraitAdaptiveThinking    = "adaptive-thinking"
	TraitCacheBreakpoints    = "cache-breakpoints"
	TraitMaxCompletionTokens = "max-completion-tokens"
	TraitNativeLateSystem    = "native-late-system"
	TraitNoForcedTool        = "no-forced-tool"
	TraitNoPenalties         = "no-penalties"
	TraitNoSampling          = "no-sampling"
	TraitSummaryAuto         = "summary-auto"
	TraitThinkingAlwaysOn    = "thinking-always-on"
	TraitThinkingDefaultOn   = "thinking-default-on"
)

//go:embed models.toml
var builtinModels []byte

// Model is what is known of a model: one entry of the model table, or after
// resolution the merged capabilities of a target (spec 04 §4). Nil lists and
// zero numbers are unknown.
type Model struct {
	ID              string
	Match           string // exact or prefix
	Aliases         []string
	ContextWindow   int
	Family          string
	Features        []string
	Input           []string
	MaxOutputTokens int
	MinCacheTokens  int
	Output          []string
	Pricing         *Pricing
	// CacheReadShare and CacheWriteShare price cached tokens as a share of the
	// input price where no price of their own is known.
	CacheReadShare, CacheWriteShare float64
	Provider                        string
	ReasoningLevels                 []string
	Traits                          []string
}

// Has says whether the model has a trait.
func (m *Model) Has(trait string) bool { return slices.Contains(m.Traits, trait) }

// Table is the model table: the embedded file with a user's file merged in.
type Table struct{ entries []Model }

// embeddedTable reads the embedded file once.
var embeddedTable = sync.OnceValues(func() (*Table, error) { return ParseTable("models.toml", builtinModels) })

// LoadTable reads the embedded table and merges the user's models.toml over it
// by entry (id and match) and field. An empty path, or one where no file
// stands, leaves the embedded table.
func LoadTable(userFile string) (*Table, error) {
	t, err := embeddedTable()
	if err != nil || userFile == "" {
		return t, err
	}
	data, err := os.ReadFile(userFile)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, &Error{Code: CodeConfig, Message: "models.toml: " + err.Error(), Err: err}
	}
	return t.Merge(userFile, data)
}

// ParseTable reads a table file; name stands in the errors.
func ParseTable(name string, data []byte) (*Table, error) {
	return (&Table{}).Merge(name, data)
}

// Merge gives a table in which the file's entries lie over this table's.
func (t *Table) Merge(name string, data []byte) (*Table, error) {
	doc, err := readTOML(name, data)
	if err != nil {
		return nil, err
	}
	if err := doc.root().only("model"); err != nil {
		return nil, err
	}
	list, ok := doc.tree["model"].([]any)
	if !ok && doc.tree["model"] != nil {
		return nil, doc.errorf("model", "write entries as [[model]]")
	}
	merged := &Table{entries: slices.Clone(t.entries)}
	for i, item := range list {
		values, ok := item.(map[string]any)
		if !ok {
			return nil, doc.errorf("model", "write entries as [[model]]")
		}
		entry := &tomlTable{file: doc, path: "model[" + itoa(i) + "]", values: values}
		if err := merged.mergeEntry(entry); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

var modelFields = []string{
	"aliases", "cacheReadShare", "cacheWriteShare", "contextWindow", "family", "features", "id", "input", "match",
	"maxOutputTokens", "minCacheTokens", "output", "pricing", "provider", "reasoningLevels", "traits",
}

func (t *Table) mergeEntry(e *tomlTable) error {
	id, err := e.text("id")
	if err != nil {
		return err
	}
	id = strings.ToLower(id)
	match := "exact"
	if e.values["match"] != nil {
		if match, err = e.word("match", []string{"exact", "prefix"}); err != nil {
			return err
		}
	}
	at := slices.IndexFunc(t.entries, func(m Model) bool { return m.ID == id && m.Match == match })
	if at < 0 {
		at = len(t.entries)
		t.entries = append(t.entries, Model{ID: id, Match: match})
	}
	m := t.entries[at]
	named := &tomlTable{file: e.file, path: e.path, values: e.values}
	for _, key := range e.keys() {
		if err := mergeModelField(&m, named, key); err != nil {
			var ce *Error
			if errors.As(err, &ce) {
				ce.Message += " (entry " + id + ")"
			}
			return err
		}
	}
	t.entries[at] = m
	return nil
}

func mergeModelField(m *Model, e *tomlTable, key string) (err error) {
	switch key {
	case "id", "match":
	case "aliases":
		m.Aliases, err = e.strings(key)
		for i, a := range m.Aliases {
			m.Aliases[i] = strings.ToLower(a)
		}
	case "cacheReadShare":
		m.CacheReadShare, err = e.amount(key)
	case "cacheWriteShare":
		m.CacheWriteShare, err = e.amount(key)
	case "contextWindow":
		m.ContextWindow, err = e.integer(key, 1)
	case "family":
		m.Family, err = e.word(key, families)
	case "features":
		m.Features, err = e.words(key, featureWords)
	case "input":
		m.Input, err = e.words(key, inputWords)
	case "maxOutputTokens":
		m.MaxOutputTokens, err = e.integer(key, 1)
	case "minCacheTokens":
		m.MinCacheTokens, err = e.integer(key, 0)
	case "output":
		m.Output, err = e.words(key, outputWords)
	case "pricing":
		var p *Pricing
		if p, err = parsePricing(e, key); err == nil {
			m.Pricing = mergePricing(m.Pricing, p)
		}
	case "provider":
		m.Provider, err = e.text(key)
	case "reasoningLevels":
		m.ReasoningLevels, err = e.words(key, effortWords)
	case "traits":
		m.Traits, err = e.strings(key)
	default:
		err = e.errorf(key, "unknown field; use one of %s", strings.Join(modelFields, ", "))
	}
	return err
}

// mergePricing lays the given prices of over on top of base.
func mergePricing(base, over *Pricing) *Pricing {
	if over == nil {
		return base
	}
	if base == nil {
		base = &Pricing{}
	}
	merged := *base
	from := pricingFields(over)
	for name, field := range pricingFields(&merged) {
		if v := *from[name]; v != nil {
			*field = v
		}
	}
	return &merged
}

// Lookup finds the entry of a model id: exact, alias, provider/id, longest
// prefix, longest alias prefix; then without a leading provider name, then the
// part after the last slash (spec 04 §4.2).
func (t *Table) Lookup(provider, id string) (Model, bool) {
	id = strings.ToLower(id)
	provider = strings.ToLower(provider)
	tried := []string{id}
	if rest, ok := strings.CutPrefix(id, provider+"/"); ok {
		tried = append(tried, rest)
	}
	if cut := strings.LastIndexByte(id, '/'); cut >= 0 {
		tried = append(tried, id[cut+1:])
	}
	for _, name := range tried {
		if m, ok := t.find(provider, name); ok {
			return m, true
		}
	}
	return Model{}, false
}

func (t *Table) find(provider, id string) (Model, bool) {
	for _, m := range t.entries {
		if m.Match == "exact" && m.ID == id {
			return m, true
		}
	}
	for _, m := range t.entries {
		if slices.Contains(m.Aliases, id) {
			return m, true
		}
	}
	for _, m := range t.entries {
		if m.Match == "exact" && (m.Provider != "" && m.Provider+"/"+m.ID == id || m.ID == provider+"/"+id) {
			return m, true
		}
	}
	best, length := Model{}, -1
	for _, m := range t.entries {
		if m.Match == "prefix" && len(m.ID) > length && strings.HasPrefix(id, m.ID) {
			best, length = m, len(m.ID)
		}
	}
	if length >= 0 {
		return best, true
	}
	for _, m := range t.entries {
		for _, a := range m.Aliases {
			if m.Match == "prefix" && len(a) > length && strings.HasPrefix(id, a) {
				best, length = m, len(a)
			}
		}
	}
	return best, length >= 0
}
