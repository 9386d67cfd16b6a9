package plugin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/source"
)

// checkProse reports what only covel check reports: unknown template paths in
// every body, and the style of English agent bodies (spec 05 §9).
func (p *pkg) checkProse(strict bool) {
	if !strict {
		return
	}
	for i, rf := range p.runtimes {
		r := p.manifest.Runtimes[i]
		if r.Type != "agent" {
			continue
		}
		p.checkTemplates(rf.file)
		for _, name := range variantNames {
			if v := p.variants[strings.TrimSuffix(rf.file.Path, ".md")+"."+name+".md"]; v != nil {
				p.checkTemplates(v)
			}
		}
		p.lint(rf.file)
	}
}

var placeholder = regexp.MustCompile(`\{\{([^}]+)\}\}`)

func (p *pkg) checkTemplates(file *source.File) {
	for i, line := range strings.Split(file.Body, "\n") {
		for _, m := range placeholder.FindAllStringSubmatch(line, -1) {
			path := strings.TrimSpace(m[1])
			if !p.knownVariable(strings.Split(path, ".")) {
				p.report.Warn("template-unknown", file.Path, file.BodyLine+i, "", fmt.Sprintf("template path %q is no variable and gives empty text", path), "Use a variable of chapter 01 §6.5, such as player.message.")
			}
		}
	}
}

// knownVariable follows spec 01 §6.5.
func (p *pkg) knownVariable(path []string) bool {
	if len(path) == 1 {
		return path[0] == "inputs" || path[0] == "userSettings"
	}
	switch path[0] + "." + path[1] {
	case "player.message", "characters.npcs", "session.id", "session.turnNumber", "world.name", "world.description", "world.tags", "world.lore":
		return len(path) == 2
	case "player.character":
		return len(path) == 2 || slices.Contains([]string{"id", "name", "type", "description", "fields"}, path[2])
	case "player.lastFormValues", "world.schema", "world.entries", "world.dimensions":
		return true
	}
	switch path[0] {
	case "inputs":
		return true
	case "userSettings":
		return slices.ContainsFunc(p.manifest.Contributes.Settings, func(s Setting) bool { return s.Key == path[1] })
	}
	return false
}

var (
	listItem    = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+`)
	sentenceEnd = regexp.MustCompile(`[.!?:](?:\s+|$)`)
	vague       = regexp.MustCompile(`(?i)\b(appropriate(?:ly)?|as needed|if necessary|etc\.?|various|somehow)(?:\W|$)`)
	should      = regexp.MustCompile(`(?i)\bshould\b`)
	replyLang   = regexp.MustCompile(`(?i)\b(?:reply|respond|answer|write|output|speak|narrate)\b[^.!?]*\bin\s+(?:english|chinese|french|german|japanese|korean|russian|spanish|simplified chinese)\b`)
)

// linter walks one body, paragraph by paragraph.
type linter struct {
	p     *pkg
	file  *source.File
	seen  map[string]bool
	voice bool
}

func (p *pkg) lint(file *source.File) {
	l := &linter{p: p, file: file, seen: map[string]bool{}}
	lines := strings.Split(file.Body, "\n")
	fenced := false
	for i := 0; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(text, "```"):
			fenced = !fenced
		case fenced || text == "":
		case strings.HasPrefix(text, "#"):
			l.voice = strings.EqualFold(strings.TrimSpace(strings.TrimLeft(text, "#")), "voice")
		default:
			i = l.block(lines, i)
		}
	}
}

// block lints a paragraph or a list item that begins at line i and gives its
// last line. Wrapped lines belong to it.
func (l *linter) block(lines []string, i int) int {
	start, step := i, listItem.MatchString(lines[i])
	parts := []string{listItem.ReplaceAllString(lines[i], "")}
	for i+1 < len(lines) {
		next := strings.TrimSpace(lines[i+1])
		if next == "" || strings.HasPrefix(next, "#") || strings.HasPrefix(next, "```") || listItem.MatchString(lines[i+1]) {
			break
		}
		parts = append(parts, next)
		i++
	}
	line := l.file.BodyLine + start
	for _, s := range sentences(strings.Join(parts, " ")) {
		l.sentence(s, line, step)
	}
	return i
}

func sentences(text string) []string {
	var out []string
	for text != "" {
		end := len(text)
		if m := sentenceEnd.FindStringIndex(text); m != nil {
			end = m[1]
		}
		if s := strings.TrimSpace(text[:end]); s != "" {
			out = append(out, s)
		}
		text = text[end:]
	}
	return out
}

func (l *linter) sentence(s string, line int, step bool) {
	warn := func(code, problem, fix string) {
		l.p.report.Warn(code, l.file.Path, line, "", problem+": "+quoteStart(s), fix)
	}
	limit, what := 25, "a sentence"
	if step {
		limit, what = 20, "a list step"
	}
	if words := len(strings.Fields(s)); words > limit && !l.voice {
		warn("lint-sentence-length", fmt.Sprintf("%s has %d words, at most %d are easy to follow", what, words, limit), "Split it.")
	}
	if should.MatchString(s) {
		warn("lint-should", `"should" leaves the model a choice`, "Write must, must not or can.")
	}
	if m := vague.FindStringSubmatch(s); m != nil {
		warn("lint-vague", fmt.Sprintf("%q says nothing exact", m[1]), "Say what exactly.")
	}
	if replyLang.MatchString(s) {
		warn("lint-output-language", "the sentence orders a reply language", "Remove it; the engine states the language.")
	}
	key := strings.ToLower(strings.Join(strings.Fields(s), " "))
	if l.seen[key] && len(strings.Fields(s)) > 2 {
		warn("lint-repeated", "a sentence stands twice", "Keep one of them.")
	}
	l.seen[key] = true
}

func quoteStart(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
