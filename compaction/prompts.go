package compaction

import (
	"embed"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
)

//go:embed texts/*.yaml
var catalogue embed.FS

const (
	// templateName is the file of the system prompt, without its suffixes.
	templateName = "history-summary"
	// sectionsMark is where the template wants the list of sections.
	sectionsMark = "{{sections}}"

	messagesTag  = "selected_history_messages"
	summariesTag = "selected_history_summaries"
)

// localePattern is what may reach a path or a prompt (spec 02 §6.12).
var localePattern = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// frames builds the texts of one attempt's requests.
type frames struct {
	texts    *locale.Texts
	lang     locale.Lang
	template string
	language string // as the language rule names it
}

// system gives the system prompt: the template with one bullet a section, a
// blank line, the language rule.
func (f *frames) system(sections []string) string {
	var list strings.Builder
	for i, name := range sections {
		if i > 0 {
			list.WriteByte('\n')
		}
		list.WriteString("- " + name)
	}
	prompt := strings.ReplaceAll(f.template, sectionsMark, list.String())
	return strings.TrimRight(prompt, " \t\r\n") + "\n\n" + f.texts.Get(f.lang, "P11.rule", map[string]string{"language": f.language})
}

// fresh gives the user message that asks for a summary of rows.
func (f *frames) fresh(rows []session.Message, budget int) string {
	shown := make([]string, 0, len(rows))
	for i := range rows {
		if !blank(rows[i].Content) {
			shown = append(shown, "["+string(rows[i].Role)+"]: "+Escape(rows[i].Content))
		}
	}
	return f.user("P11.fresh", messagesTag, strings.Join(shown, "\n\n"), budget)
}

// merge gives the user message that asks to merge summaries into one.
func (f *frames) merge(summaries []session.Summary, budget int) string {
	shown := make([]string, len(summaries))
	for i := range summaries {
		shown[i] = Escape(summaries[i].Content)
	}
	return f.user("P11.merge", summariesTag, strings.Join(shown, "\n\n---\n\n"), budget)
}

func (f *frames) user(text, tag, material string, budget int) string {
	task := f.texts.Get(f.lang, text, map[string]string{"tokens": strconv.Itoa(budget)})
	return task + "\n\n<" + tag + ">\n" + material + "\n</" + tag + ">"
}

func (f *frames) marker() string { return f.texts.Get(f.lang, "P11.marker", nil) }

// defaultSections are asked for when none are set.
func (f *frames) defaultSections() []string {
	names := make([]string, 3)
	for i := range names {
		names[i] = f.texts.Get(f.lang, "P11.section."+strconv.Itoa(i+1), nil)
	}
	return names
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// languageName names a locale's language in the instruction language, with the
// locale's code; a locale without a known name is its code.
func languageName(tag string, lang locale.Lang) string {
	parsed, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	namer := display.English.Languages()
	if lang == locale.Chinese {
		namer = display.Chinese.Languages()
	}
	base, script, _ := parsed.Raw()
	spoken := base.String()
	if s := script.String(); s != "Zzzz" {
		spoken += "-" + s
	} else if base.String() == "zh" { // the script says which Chinese it is
		s, _ := parsed.Script()
		spoken += "-" + s.String()
	}
	named, err := language.Parse(spoken)
	if err != nil {
		return tag
	}
	name := namer.Name(named)
	if name == "" || strings.EqualFold(name, spoken) || strings.HasPrefix(name, "Unknown") {
		return tag
	}
	if lang == locale.Chinese {
		return name + "（" + tag + "）"
	}
	return name + " (" + tag + ")"
}
