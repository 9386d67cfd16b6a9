package locale

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// SettingPromptsDir is the environment variable that replaces the shared prompt
// root. Callers open its value with os.OpenRoot and pass Root.FS to NewLoader,
// so that no link leads out of it.
const SettingPromptsDir = "COVEL_PROMPTS_DIR"

// LoadPrompt gives the text of a template in the best language for a locale.
// Loader.Load is one; a host may hand in its own (spec 01 §18).
type LoadPrompt func(name, tag string) (string, error)

// Loader finds prompt templates <name>[.<locale>].md inside one root.
type Loader struct{ root fs.FS }

// NewLoader reads below root and nowhere else.
func NewLoader(root fs.FS) *Loader { return &Loader{root: root} }

// Load reads the first file there is of: exact locale; main language when its
// default script is compatible (zh-Hant never reads zh); English; no suffix. An
// invalid locale skips the first two and never reaches a path. Without any file
// the error has code template-missing and lists the paths tried.
func (l *Loader) Load(name, tag string) (string, error) {
	var tried []string
	for _, path := range Candidates(name, tag) {
		if !fs.ValidPath(path) {
			return "", &Error{
				Code: CodeTemplateMissing, Field: "name", Value: name,
				Text: fmt.Sprintf("template name %q leaves the prompt root; use a relative path without ..", name),
			}
		}
		text, err := fs.ReadFile(l.root, path)
		switch {
		case err == nil:
			return strings.TrimPrefix(string(text), "\ufeff"), nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("read template %s: %w", path, err)
		}
		tried = append(tried, path)
	}
	return "", &Error{
		Code: CodeTemplateMissing, Field: "name", Value: name,
		Text: fmt.Sprintf("template %q has no file; looked for %s", name, strings.Join(tried, ", ")),
		Err:  fs.ErrNotExist,
	}
}

// Candidates lists the files that Load tries, in order.
func Candidates(name, tag string) []string {
	var paths []string
	add := func(path string) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if fam, ok := familyOf(tag); ok {
		add(name + "." + Canonical(tag) + ".md")
		if main, ok := familyOf(fam.base); ok && main == fam {
			add(name + "." + fam.base + ".md")
		}
	}
	add(name + ".en.md")
	add(name + ".md")
	return paths
}
