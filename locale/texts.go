package locale

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
)

//go:embed texts/*.yaml
var catalogue embed.FS

// Languages lists the instruction languages.
func Languages() []Lang { return []Lang{English, Chinese} }

// Texts is one catalogue of fixed texts: every id in both languages, with the
// same placeholders. It is immutable and safe for concurrent use.
type Texts struct{ byLang map[Lang]map[string]string }

// Load reads and checks the framework's catalogue, rows T01 to T35 of spec 01
// §19.2. A text with variants has one entry each, as "T03.story".
func Load() (*Texts, error) {
	t, err := LoadCatalogue(catalogue, "texts")
	if err != nil {
		return nil, err
	}
	for n := 1; n <= 35; n++ {
		id := fmt.Sprintf("T%02d", n)
		if !slices.ContainsFunc(t.IDs(), func(have string) bool { return have == id || strings.HasPrefix(have, id+".") }) {
			return nil, badCatalogue("texts", id, "has no text")
		}
	}
	return t, nil
}

// LoadCatalogue reads dir/en.yaml and dir/zh.yaml, each a map from id to text,
// and checks them: the same ids and placeholders in both, no Han in English,
// Han in every Chinese text. Failures are *Error of code bad-catalogue.
func LoadCatalogue(fsys fs.FS, dir string) (*Texts, error) {
	t := &Texts{byLang: map[Lang]map[string]string{}}
	for _, lang := range Languages() {
		file := path.Join(dir, string(lang)+".yaml")
		raw, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, &Error{Code: CodeBadCatalogue, Field: file, Text: fmt.Sprintf("text catalogue %s cannot be read: %v", file, err), Err: err}
		}
		texts := map[string]string{}
		if err := yaml.Unmarshal(raw, &texts); err != nil {
			return nil, &Error{Code: CodeBadCatalogue, Field: file, Text: fmt.Sprintf("text catalogue %s is no map from id to text: %v", file, err), Err: err}
		}
		t.byLang[lang] = texts
	}
	if err := t.check(dir); err != nil {
		return nil, err
	}
	return t, nil
}

var placeholder = regexp.MustCompile(`\{([A-Za-z]+)\}`)

func (t *Texts) check(dir string) error {
	en, zh := t.byLang[English], t.byLang[Chinese]
	for _, id := range slices.Sorted(maps.Keys(zh)) {
		if _, ok := en[id]; !ok {
			return badCatalogue(dir, id, "has no English text")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(en)) {
		e, z := en[id], zh[id]
		switch {
		case strings.TrimSpace(e) == "":
			return badCatalogue(dir, id, "has a blank English text")
		case strings.TrimSpace(z) == "":
			return badCatalogue(dir, id, "has no Chinese text")
		case hasHan(e):
			return badCatalogue(dir, id, "has a Han character in its English text")
		case !hasHan(z):
			return badCatalogue(dir, id, "has no Han character in its Chinese text")
		case !slices.Equal(placeholders(e), placeholders(z)):
			return badCatalogue(dir, id, fmt.Sprintf("has placeholders %v in English and %v in Chinese", placeholders(e), placeholders(z)))
		}
	}
	return nil
}

func badCatalogue(dir, id, problem string) *Error {
	return &Error{Code: CodeBadCatalogue, Field: id, Text: fmt.Sprintf("text %s of catalogue %s %s", id, dir, problem)}
}

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func placeholders(s string) []string {
	var names []string
	for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// IDs lists the ids of the catalogue, sorted.
func (t *Texts) IDs() []string { return slices.Sorted(maps.Keys(t.byLang[English])) }

// Has says whether the catalogue holds an id.
func (t *Texts) Has(id string) bool {
	_, ok := t.byLang[English][id]
	return ok
}

// Placeholders lists the placeholders of an id, sorted.
func (t *Texts) Placeholders(id string) []string { return placeholders(t.byLang[English][id]) }

// Get gives a text with its placeholders {name} replaced by args, in one pass:
// inserted text is never scanned again, and a placeholder without an argument
// stays. A language that is none of the two reads English, an id that the
// catalogue lacks is empty.
func (t *Texts) Get(lang Lang, id string, args map[string]string) string {
	texts, ok := t.byLang[lang]
	if !ok {
		texts = t.byLang[English]
	}
	text := texts[id]
	if len(args) == 0 || !strings.Contains(text, "{") {
		return text
	}
	var b strings.Builder
	for {
		loc := placeholder.FindStringSubmatchIndex(text)
		if loc == nil {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:loc[0]])
		if value, ok := args[text[loc[2]:loc[3]]]; ok {
			b.WriteString(value)
		} else {
			b.WriteString(text[loc[0]:loc[1]])
		}
		text = text[loc[1]:]
	}
}
