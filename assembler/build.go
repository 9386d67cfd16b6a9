package assembler

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
)

// build is one assembly under way.
type build struct {
	Input
	lang     locale.Lang
	warnings []Warning
}

func (b *build) warn(w Warning) { b.warnings = append(b.warnings, w) }

func (b *build) text(id string, args map[string]string) string { return b.Texts.Get(b.lang, id, args) }

// read parses stored JSON; what cannot be read is null and warned about.
func (b *build) read(item string, raw json.RawMessage) ordered.Value {
	v, err := jsonValue(raw)
	if err != nil {
		b.warn(Warning{Code: WarnTemplateValue, Item: item, Reason: err.Error()})
	}
	return v
}

// Build assembles system prompt and messages (spec 01 §4). Errors are
// *turn.Error: bad-tag, hidden-namespace, store-required, bad-limit.
func Build(in Input) (*Assembled, error) {
	b := &build{Input: in, lang: locale.Instruction(in.Turn.Locale, in.ForcedLanguage)}
	if in.Budget != nil {
		if err := in.Budget.Validate(); err != nil {
			return nil, err
		}
	}
	b.Story = slices.DeleteFunc(slices.Clone(in.Story), func(s Story) bool { return blank(clean(s.Content)) })
	data, err := b.turnData()
	if err != nil {
		return nil, err
	}
	segments := b.selectSegments()
	lore, warnings := ActivateLore(in.Snapshot.Lorebook, in.ScanTail, in.Turn.PlayerMessage, in.Texts, b.lang)
	b.warnings = append(b.warnings, warnings...)

	out := &Assembled{Language: b.lang, Lore: lore, Mode: ModeOf(in.Runtime)}
	b.systemPrompt(out, segments, lore)
	out.TurnContext = clean(joinNonEmpty(blankLine, data, joinSegments(segments, func(s placed) bool {
		return s.word == PositionSystem && s.Volatility == VolatilityTurn
	})))
	b.messages(out, segments, lore)
	if in.Budget != nil {
		b.prune(out)
	}
	out.Warnings = b.warnings
	return out, nil
}

func joinSegments(segments []placed, want func(placed) bool) string {
	var parts []string
	for _, s := range segments {
		if want(s) {
			parts = append(parts, s.Content)
		}
	}
	return strings.Join(parts, blankLine)
}

// section is one part of the system prompt; cached ones end in a sentinel.
type section struct {
	name   string
	text   string
	cached bool
}

// systemPrompt writes the seven sections (spec 01 §4.1).
func (b *build) systemPrompt(out *Assembled, segments []placed, lore []ActiveLore) {
	preamble := b.preamble()
	if !blank(preamble) {
		out.FrameworkHead = preamble + Sentinel
	}
	var activation string
	if b.Activation != nil && b.Activation.Source == sourceStage {
		activation = b.activation()
	}
	var worldLore string
	if b.Runtime.Story {
		worldLore = WorldLore(b.Snapshot.World.Lore)
	}
	stable := joinSegments(segments, func(s placed) bool {
		return s.Volatility != VolatilityTurn &&
			(s.word == PositionSystem || s.word == PositionPreHistory && s.role() == model.RoleSystem)
	})
	fresh := joinSegments(segments, func(s placed) bool {
		return s.Volatility == VolatilityTurn && s.word == PositionPreHistory && s.role() == model.RoleSystem
	})
	var prompt strings.Builder
	for _, s := range []section{
		{"preamble", preamble, true},
		{"body", b.body(), true},
		{"stable", joinNonEmpty(blankLine, worldLore, stable), true},
		{"lore-before", joinLore(lore, LoreBeforePlugin), false},
		{"events", joinNonEmpty("\n", b.availableEvents(), activation), false},
		{"lore-after", joinLore(lore, LoreAfterPlugin), true},
		{"fresh", fresh, false},
	} {
		if s.text = clean(s.text); blank(s.text) {
			continue
		}
		if prompt.Len() > 0 {
			prompt.WriteString(blankLine)
		}
		from := prompt.Len()
		prompt.WriteString(s.text)
		if s.cached {
			prompt.WriteString(Sentinel)
		}
		out.Sections = append(out.Sections, Section{s.name, ZoneSystem, from, prompt.Len(), s.cached})
	}
	out.SystemPrompt = prompt.String()
}

func (b *build) preamble() string {
	if b.Preamble != nil {
		return clean(*b.Preamble)
	}
	return Preamble(b.Texts, b.lang, b.Turn.Locale, b.Runtime)
}

// body interpolates the template. Blank lines around it go, so that no section
// border grows.
func (b *build) body() string {
	vars := &variables{in: b, roots: map[string]ordered.Value{}}
	return strings.TrimFunc(interpolate(b.Body, vars.read), unicode.IsSpace)
}

func joinLore(lore []ActiveLore, position string) string {
	var parts []string
	for _, l := range lore {
		if l.Position == position && !blank(l.Entry.Content) {
			parts = append(parts, strings.TrimSpace(l.Text))
		}
	}
	return strings.Join(parts, blankLine)
}

// layout writes messages and keeps the sections that they belong to.
type layout struct{ out *Assembled }

func (l layout) add(section string, messages ...model.Message) {
	out := l.out
	from := len(out.Messages)
	out.Messages = append(out.Messages, messages...)
	last := len(out.Sections) - 1
	switch {
	case len(messages) == 0:
	case last >= 0 && out.Sections[last].Zone == ZoneMessages && out.Sections[last].Name == section:
		out.Sections[last].To = len(out.Messages)
	default:
		out.Sections = append(out.Sections, Section{Name: section, Zone: ZoneMessages, From: from, To: len(out.Messages)})
	}
}

// messages writes the conversation (spec 01 §4.2). The base list is pre-history
// segments, history, player, story and cue; depth is counted on it, so an
// insertion never depends on turn context and pictures, which stand directly
// before the player's message.
func (b *build) messages(out *Assembled, segments []placed, lore []ActiveLore) {
	var before []model.Message
	for _, s := range segments {
		if s.word == PositionPreHistory && s.role() != model.RoleSystem {
			before = append(before, s.message())
		}
	}
	history := compaction.Place(b.History, b.Summaries)
	player := len(before) + len(history)
	size := player + 1
	if len(b.Story) > 0 {
		size += len(b.Story) + 1
	}
	inserted := depthMessages(size, segments, lore)
	out.Messages = make([]model.Message, 0, size+len(segments)+len(lore)+2)
	at, l := 0, layout{out}
	next := func(section string, m model.Message) {
		for _, d := range inserted[at] {
			l.add(d.section, d.Message)
		}
		if at == player {
			b.beforePlayer(l)
			out.PlayerIndex = len(out.Messages)
		}
		l.add(section, m)
		at++
	}
	for _, m := range before {
		next("pre-history", m)
	}
	for _, p := range history {
		next("history", b.historyMessage(p))
	}
	next("player", model.Message{Role: model.RoleUser, Content: b.playerMessage()})
	for _, s := range b.Story {
		next("story", model.Message{Role: model.RoleAssistant, Content: clean(s.Content), Name: s.Name})
	}
	if len(b.Story) > 0 {
		next("cue", model.Message{Role: model.RoleUser, Content: b.text("T26", nil)})
	}
	for _, d := range inserted[at] {
		l.add(d.section, d.Message)
	}
	for _, s := range segments {
		if s.word == PositionPostHistory {
			l.add("post-history", s.message())
		}
	}
	out.CurrentTurnUserMessages = b.currentTurnUsers(out)
}

// beforePlayer writes turn context and pictures.
func (b *build) beforePlayer(l layout) {
	if l.out.TurnContext != "" {
		l.add("turn-context", model.Message{Role: model.RoleSystem, Content: l.out.TurnContext})
	}
	if m, ok := b.pictureMessage(); ok {
		l.add("pictures", m)
	}
}

// currentTurnUsers is 1, one for the pictures, and the user messages behind the
// player's (spec 01 §2.2).
func (b *build) currentTurnUsers(out *Assembled) int {
	n := 1
	if _, ok := b.pictureMessage(); ok {
		n++
	}
	for _, m := range out.Messages[out.PlayerIndex+1:] {
		if m.Role == model.RoleUser {
			n++
		}
	}
	return n
}

// playerMessage is the player's text, or a cue when it is blank (spec 01 §4.3).
func (b *build) playerMessage() string {
	text := clean(b.Turn.PlayerMessage)
	switch {
	case !blank(text):
		return text
	case b.Turn.ManualRuntime != "":
		return b.text("T25", map[string]string{"runtimeId": b.Turn.ManualRuntime})
	default:
		return b.text("T24", nil)
	}
}

// insertion is a message put in by depth.
type insertion struct {
	model.Message
	section string
}

// depthMessages gives what is inserted before each index of a base list of n
// messages (spec 01 §14): lorebook rows by depth and order, then segments.
func depthMessages(n int, segments []placed, lore []ActiveLore) map[int][]insertion {
	out := map[int][]insertion{}
	insert := func(depth int, m model.Message, section string) {
		at := n - depth
		if depth >= n {
			at = 0
		}
		if depth == 0 {
			at = n
		}
		out[at] = append(out[at], insertion{m, section})
	}
	for _, l := range byDepth(lore) {
		insert(l.Depth, model.Message{Role: model.RoleSystem, Content: clean(l.Text)}, "lore-depth")
	}
	for _, s := range segments {
		if s.word == "" {
			insert(s.depth, s.message(), "depth")
		}
	}
	return out
}
