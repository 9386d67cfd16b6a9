package assembler

import (
	"slices"
	"strings"

	"github.com/covel-engine/covel/locale"
)

// Mode is how a run ends (spec 01 §5). Text and tool list follow one value, so
// that they cannot disagree.
type Mode string

// Completion modes.
const (
	ModeStory            Mode = "story"
	ModeCompletingTool   Mode = "completing-tool"
	ModeStructuredOutput Mode = "structured-output"
	ModeRuntimeDone      Mode = "runtime-done"
)

// ToolRuntimeDone is the tool that ends a run in the last mode.
const ToolRuntimeDone = "runtime-done"

// ModeOf decides the mode; the first match wins.
func ModeOf(r Runtime) Mode {
	switch {
	case r.Story:
		return ModeStory
	case r.RequireToolUse && len(r.AfterTools) > 0:
		return ModeCompletingTool
	case hasSchema(r):
		return ModeStructuredOutput
	default:
		return ModeRuntimeDone
	}
}

func hasSchema(r Runtime) bool { return len(r.OutputSchema) > 0 && string(r.OutputSchema) != "null" }

// OffersRuntimeDone says whether runtime-done is among the offered tools.
func (m Mode) OffersRuntimeDone() bool { return m == ModeRuntimeDone }

// Preamble writes the framework preamble (spec 01 §5): one statement a line,
// each starting with its tag. Without a locale there is none.
func Preamble(texts *locale.Texts, lang locale.Lang, tag string, r Runtime) string {
	if blank(tag) {
		return ""
	}
	name := clean(locale.OutputName(tag))
	lines := []string{
		"[RUNTIME] " + texts.Get(lang, "T01.1", nil),
		"[RUNTIME] " + texts.Get(lang, "T01.2", nil),
		"[RUNTIME] " + texts.Get(lang, "T01.3", nil),
		"[LANGUAGE] " + texts.Get(lang, "T02.1", map[string]string{"language": name}),
		"[LANGUAGE] " + texts.Get(lang, "T02.2", nil),
	}
	for _, id := range completionTexts(r) {
		line := texts.Get(lang, id, map[string]string{"tool": completingTool(texts, lang, r)})
		lines = append(lines, "[COMPLETION] "+strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

func completionTexts(r Runtime) []string {
	switch ModeOf(r) {
	case ModeStory:
		return []string{"T03.story"}
	case ModeCompletingTool:
		return []string{"T03.completing-tool.1", "T03.completing-tool.2"}
	case ModeStructuredOutput:
		if len(r.AfterTools) > 0 {
			return []string{"T03.structured-output.tools"}
		}
		return []string{"T03.structured-output"}
	default:
		if r.RequireToolUse {
			return []string{"T03.runtime-done.1", "T03.runtime-done.required"}
		}
		return []string{"T03.runtime-done.1", "T03.runtime-done.optional"}
	}
}

// completingTool names the completing tools that the runtime knows.
func completingTool(texts *locale.Texts, lang locale.Lang, r Runtime) string {
	var names []string
	for _, after := range r.AfterTools {
		if slices.Contains(r.Tools, after) {
			names = append(names, "`"+after+"`")
		}
	}
	id := "T03.tool.several"
	switch len(names) {
	case 0:
		id = "T03.tool.none"
	case 1:
		id = "T03.tool.one"
	}
	return texts.Get(lang, id, map[string]string{"tools": strings.Join(names, lang.ListSeparator())})
}
