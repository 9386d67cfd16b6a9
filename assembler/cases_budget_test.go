package assembler_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
)

// q4 is the estimator ceil(characters / 4).
type q4 struct{}

func (q4) Name() string          { return "q4" }
func (q4) Count(text string) int { return (len([]rune(text)) + 3) / 4 }

// sized makes a message of n tokens by q4.
func sized(role model.Role, n int) model.Message {
	return model.Message{Role: role, Content: strings.Repeat("x", 4*n)}
}

// alternating makes n messages of size tokens each, beginning with the user.
func alternating(n, size int) []model.Message {
	out := make([]model.Message, n)
	for i := range out {
		out[i] = sized([]model.Role{model.RoleUser, model.RoleAssistant}[i%2], size)
	}
	return out
}

// marker15 costs 15 tokens.
var marker15 = strings.Repeat("m", 60)

func prune(t *testing.T, system int, messages []model.Message, limit, protect int) assembler.Pruning {
	t.Helper()
	return assembler.Pruner{
		Cap: limit, Estimator: q4{}, Fixed: system, Marker: marker15, Protect: protect, Texts: texts(t),
	}.Prune(messages)
}

func wantPruned(t *testing.T, p assembler.Pruning, pruned, left, total int, over bool) {
	t.Helper()
	same(t, "pruned", p.Pruned, pruned)
	same(t, "messages", len(p.Messages), left)
	same(t, "total", p.Total, total)
	same(t, "over", p.OverBudget, over)
}

func budgetCases() map[string]caseTest {
	return map[string]caseTest{
		"CA-105": func(t *testing.T) {
			for text, want := range map[string]int{strings.Repeat("a", 40): 10, "灯火未明": 4, "灯火abcdefgh": 4, "": 0, "abc": 1, "Hello, 世界": 4} {
				same(t, text, tokens.Covel{}.Count(text), want)
			}
		},
		"CA-106": func(t *testing.T) {
			m := model.Message{Role: model.RoleUser, Parts: []model.Part{{Type: "text", Text: "Look"}, {Type: "image", MediaRef: "a"}, {Type: "image", MediaRef: "b"}}}
			same(t, "cost", assembler.MessageCost(tokens.Covel{}, m), 3005)
			call := model.Message{Role: model.RoleAssistant, Name: "n", ToolCalls: []model.ToolCall{{ID: "c", Name: "t", Arguments: `{"a":1}`}}, ReasoningContent: "r"}
			same(t, "meta", assembler.MessageCost(q4{}, call), q4{}.Count(`{"name":"n","toolCalls":[{"id":"c","name":"t","arguments":"{\"a\":1}"}],"reasoningContent":"r"}`))
		},
		"CA-107": func(t *testing.T) {
			wantPruned(t, prune(t, 10, alternating(3, 10), 6000, 1), 0, 3, 40, false)
			wantPruned(t, prune(t, 20, alternating(3, 10), 50, 1), 0, 3, 50, false)
		},
		"CA-108": func(t *testing.T) { wantPruned(t, prune(t, 10, alternating(10, 10), 70, 2), 6, 5, 65, false) },
		"CA-109": func(t *testing.T) { wantPruned(t, prune(t, 0, alternating(8, 100), 250, 1), 6, 3, 215, false) },
		"CA-110": func(t *testing.T) { wantPruned(t, prune(t, 0, alternating(1, 2500), 500, 1), 0, 1, 2500, true) },
		"CA-111": func(t *testing.T) { wantPruned(t, prune(t, 0, alternating(10, 1000), 4000, 2), 6, 5, 4015, true) },
		"CA-112": func(t *testing.T) { wantPruned(t, prune(t, 10, alternating(6, 10), 20, 2), 2, 5, 65, true) },
		"CA-113": func(t *testing.T) {
			messages := []model.Message{sized("user", 100), sized("user", 10), sized("assistant", 10), sized("tool", 10)}
			wantPruned(t, prune(t, 10, messages, 80, 1), 1, 4, 55, false)
			// A result whose call went is never sent, wherever it stands.
			call := model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "c1", Name: "t"}}}
			split := []model.Message{sized("user", 100), call, sized("user", 1), {Role: model.RoleTool, ToolCallID: "c1", Content: "x"}}
			got := prune(t, 0, split, 60, 1)
			for _, m := range got.Messages {
				if m.Role == model.RoleTool && got.Pruned > 1 {
					t.Error("an orphaned result was kept")
				}
			}
		},
		"CA-114": func(t *testing.T) {
			for turns, want := range map[int][2]int{4: {0, 810}, 5: {3, 725}, 6: {3, 925}, 7: {6, 825}} {
				p := prune(t, 0, append(alternating(2*turns, 100), sized("user", 10)), 1000, 1)
				same(t, strconv.Itoa(turns), [2]int{p.Pruned, p.Total}, want)
			}
		},
		"CA-115": func(t *testing.T) {
			p := prune(t, 0, append(alternating(6, 100), model.Message{Role: "user", Content: "now"}), 200, 1)
			wantPruned(t, p, 5, 3, 116, false)
			same(t, "first", p.Messages[0].Content, marker15)
			same(t, "role", p.Messages[0].Role, model.RoleSystem)
			again := assembler.Pruner{Cap: 50, Estimator: q4{}, Marker: marker15, Protect: 1, Texts: texts(t)}.Prune(p.Messages)
			wantPruned(t, again, 1, 2, 16, false)
			for _, lang := range locale.Languages() {
				text := texts(t).Get(lang, "T08", nil)
				if strings.ContainsAny(text, "0123456789") || len([]rune(text)) > 100 || hasHan(text) != (lang == locale.Chinese) {
					t.Errorf("marker %q", text)
				}
			}
		},
		"CA-116": func(t *testing.T) {
			long := strings.Repeat("x", 400)
			out := build(t, inLocale(""), history("u "+long, "a "+long, "u "+long, "a "+long, "u recent", "a reply"), func(in *assembler.Input) {
				in.Budget = &assembler.Budget{Estimator: q4{}, Window: 150, ProtectLastUserTurns: 2}
			})
			got := flat(out.Messages)
			same(t, "first", got[0], "system:"+texts(t).Get("en", "T08", nil))
			same(t, "last", got[len(got)-1], "user:hello")
			if !slices.Contains(got, "user:recent") {
				t.Errorf("messages %q", got)
			}
			same(t, "player", out.Messages[out.PlayerIndex].Content, "hello")
		},
		"CA-117": func(t *testing.T) {
			out := build(t, inLocale(""), history("u old", "a old"), withSegments(segment("t", "ctx", "system", "turn")), func(in *assembler.Input) {
				in.Story = []assembler.Story{{Content: "tale"}}
				in.Budget = &assembler.Budget{Estimator: q4{}, Window: 20}
			})
			wantMessages(t, out.Messages, "system:"+texts(t).Get("en", "T08", nil), "system:ctx", "user:hello", "assistant:tale", "user:"+texts(t).Get("en", "T26", nil))
			same(t, "over", out.OverBudget, true)
			same(t, "pruned", out.PrunedMessageCount, 2)
		},
		"CA-118": func(t *testing.T) {
			check := func(b assembler.Budget) error {
				_, err := assembler.Build(input(t, func(in *assembler.Input) { in.Budget = &b }))
				return err
			}
			wantCode(t, check(assembler.Budget{Estimator: q4{}, Window: 1000, Reserve: 2000, Slot: "story"}), "bad-limit", "reservedForResponse", "2000", "story")
			wantCode(t, check(assembler.Budget{Estimator: q4{}}), "bad-limit", "maxInputTokens", "0")
			wantCode(t, check(assembler.Budget{Estimator: q4{}, Window: 9, ProtectLastUserTurns: -1}), "bad-limit", "protectLastUserTurns", "-1")
		},
	}
}

// priced costs a text by its leading number; the fixed texts have set prices.
type priced struct {
	marker, header, cut string
}

func (priced) Name() string { return "priced" }

func (p priced) Count(text string) int {
	switch {
	case text == p.marker, text == p.cut:
		return 30
	case strings.HasPrefix(text, p.header):
		return 10 + 12*strings.Count(text, "\n")
	}
	if i := strings.Index(text, "<tool_definitions>"); i == 0 {
		return 100
	} else if i > 0 {
		return 100 + p.Count(text[:i])
	}
	if meta, ok := strings.CutPrefix(text, `{"toolCalls":[{"id":"`); ok {
		text = meta
	}
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(text[:digits])
	if err != nil {
		return 0
	}
	return n
}

func pricedBudget(t *testing.T, limit int) assembler.Budget {
	t.Helper()
	return assembler.Budget{
		Estimator: priced{texts(t).Get("en", "T11", nil), texts(t).Get("en", "T12", nil), texts(t).Get("en", "T09", nil)},
		Lang:      "en", Texts: texts(t), Window: limit, Runtime: "narrator", Provider: "p", Model: "m", Slot: "story",
	}
}

// pricedGroup is one call of cost call and one result of cost result.
func pricedGroup(n, call, result int) []model.Message {
	id := strconv.Itoa(call) + "-" + strconv.Itoa(n)
	return []model.Message{
		{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: id, Name: "t"}}},
		{Role: model.RoleTool, ToolCallID: id, Content: strconv.Itoa(result) + " result " + strconv.Itoa(n)},
	}
}

func call(id, tool, args, result string) []model.Message {
	return []model.Message{
		{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: id, Name: tool, Arguments: args}}},
		{Role: model.RoleTool, ToolCallID: id, Content: result},
	}
}

func apply(t *testing.T, b assembler.Budget, req assembler.Request, ledger *assembler.Ledger) (assembler.Request, assembler.Report) {
	t.Helper()
	out, report, err := b.Apply(req, ledger)
	if err != nil {
		t.Fatal(err)
	}
	return out, report
}

func requestCases() map[string]caseTest {
	user := model.Message{Role: model.RoleUser, Content: "10 go"}
	return map[string]caseTest{
		"CA-119": func(t *testing.T) {
			req := assembler.Request{System: "100", Messages: []model.Message{user}}
			for n := range 4 {
				req.Messages = append(req.Messages, pricedGroup(n+1, 20, 250)...)
			}
			ledger := &assembler.Ledger{}
			out, report := apply(t, pricedBudget(t, 1000), req, ledger)
			same(t, "estimate", report.Estimate, 684)
			same(t, "elided", report.Elided, 2)
			same(t, "collapsed", report.Collapsed, 2)
			header := texts(t).Get("en", "T12", nil)
			wantMessages(t, out.Messages, "user:10 go", "system:"+header+"\n- t -> ok\n- t -> ok", "assistant:", "tool:250 result 3", "assistant:", "tool:250 result 4")
			again, report := apply(t, pricedBudget(t, 1000), req, ledger)
			same(t, "again", report.Estimate, 684)
			if !slices.Equal(flat(again.Messages), flat(out.Messages)) {
				t.Error("replay gives other messages")
			}
			same(t, "entries", len(ledger.Elisions)*10+len(ledger.Digests), 21)
		},
		"CA-120": func(t *testing.T) {
			req := assembler.Request{System: "100", Messages: append([]model.Message{user}, pricedGroup(1, 20, 250)...)}
			out, report := apply(t, pricedBudget(t, 380), req, &assembler.Ledger{})
			same(t, "estimate", report.Estimate, 380)
			same(t, "changed", report.Changed, false)
			if !slices.Equal(flat(out.Messages), flat(req.Messages)) {
				t.Error("the request changed")
			}
		},
		"CA-121": func(t *testing.T) {
			long := strings.Repeat("rows ", 400)
			req := assembler.Request{Messages: []model.Message{{Role: model.RoleUser, Content: "go"}}}
			req.Messages = append(req.Messages, call("1", "read", "{}", `{"ok":true,"summary":"s","data":{"rows":"`+long+`"},"staged":"w"}`)...)
			req.Messages = append(req.Messages, call("2", "read", "{}", long)...)
			req.Messages = append(req.Messages, call("3", "read", "{}", `{"ok":true,"summary":"`+long+`"}`)...)
			req.Messages = append(req.Messages, call("4", "read", "{}", "a")...)
			req.Messages = append(req.Messages, call("5", "read", "{}", "b")...)
			b := assembler.Budget{Estimator: tokens.Covel{}, Lang: "en", Texts: texts(t), Window: 1200}
			out, _ := apply(t, b, req, nil)
			marker := texts(t).Get("en", "T11", nil)
			same(t, "envelope", out.Messages[2].Content, `{"ok":true,"summary":"s","data":"`+marker+`","staged":"w"}`)
			same(t, "text", out.Messages[4].Content, marker)
			same(t, "no data", out.Messages[6].Content, req.Messages[6].Content)
			same(t, "length", len([]rune(marker)) <= 100, true)
		},
		"CA-122": func(t *testing.T) {
			args := `{"text":"` + strings.Repeat("y", 300) + `"}`
			group := []model.Message{
				{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "call-1", Name: "read", Arguments: args}, {ID: "call-2", Name: "write", Arguments: "{}"}}},
				{Role: model.RoleTool, ToolCallID: "call-1", Content: `{"ok":true,"summary":"` + strings.Repeat("z", 90) + `"}`},
				{Role: model.RoleTool, ToolCallID: "call-2", Content: `{"ok":false,"error":{"code":"NOT_FOUND","message":"m"}}`},
			}
			req := assembler.Request{Messages: append([]model.Message{{Role: model.RoleUser, Content: "go"}}, group...)}
			req.Messages = append(req.Messages, call("c", "x", "{}", "b")...)
			b := assembler.Budget{Estimator: tokens.Covel{}, Lang: "en", Texts: texts(t), Window: 100}
			out, _ := apply(t, b, req, nil)
			digest := out.Messages[1]
			same(t, "role", digest.Role, model.RoleSystem)
			lines := strings.Split(digest.Content, "\n")
			same(t, "lines", len(lines), 3)
			same(t, "first", lines[1], "- read "+args[:119]+"… -> ok: "+strings.Repeat("z", 79)+"…")
			same(t, "second", lines[2], "- write {} -> failed: NOT_FOUND")
			lacks(t, digest.Content, "call-")
			again, _ := apply(t, b, req, nil)
			same(t, "again", again.Messages[1].Content, digest.Content)
		},
		"CA-123": func(t *testing.T) {
			ledger := &assembler.Ledger{}
			req := assembler.Request{System: "100", Messages: []model.Message{user}}
			for n := range 3 {
				req.Messages = append(req.Messages, pricedGroup(n, 20, 250)...)
			}
			b := pricedBudget(t, 910)
			first, report := apply(t, b, req, ledger)
			same(t, "elided", report.Elided, 1)
			saved, err := json.Marshal(ledger)
			if err != nil {
				t.Fatal(err)
			}
			var read assembler.Ledger
			if err := json.Unmarshal(saved, &read); err != nil {
				t.Fatal(err)
			}
			req.Messages = append(req.Messages, pricedGroup(9, 20, 30)...)
			next, report := apply(t, b, req, &read)
			same(t, "elided again", report.Elided, 0)
			if !slices.Equal(flat(next.Messages)[:len(first.Messages)], flat(first.Messages)) {
				t.Errorf("%q\nis no continuation of %q", flat(next.Messages), flat(first.Messages))
			}
			// An id used twice is ambiguous: nothing is applied.
			twice := req
			twice.Messages = append(slices.Clone(req.Messages), pricedGroup(0, 20, 250)...)
			wide, _ := apply(t, pricedBudget(t, 9000), twice, &read)
			if !slices.Equal(flat(wide.Messages), flat(twice.Messages)) {
				t.Error("an ambiguous entry was applied")
			}
		},
		"CA-124": func(t *testing.T) {
			digits := strings.Repeat("0123456789", 40)
			text, saved := assembler.HeadTail(q4{}, digits, "\n...[cut]...\n", 49)
			same(t, "text", text, digits[:94]+"\n...[cut]...\n"+digits[400-93:])
			same(t, "length", len(text), 200)
			same(t, "saved", saved, 50)
			alone, _ := assembler.HeadTail(q4{}, digits, "\n...[cut]...\n", 1000)
			same(t, "alone", alone, "...[cut]...")
		},
		"CA-125": func(t *testing.T) {
			req := assembler.Request{System: "450", Messages: []model.Message{{Role: model.RoleUser, Content: "100"}}}
			_, _, err := pricedBudget(t, 500).Apply(req, nil)
			wantCode(t, err, "context-overflow", "550", "500", `"narrator"`, "provider: p, model: m, slot: story", "toolResultSaved", "summarySaved")
			var overflow *assembler.Overflow
			same(t, "rescuable", errors.As(err, &overflow) && overflow.Rescuable(), false)
		},
		"CA-126": func(t *testing.T) {
			req := assembler.Request{System: "50", Messages: append([]model.Message{user}, pricedGroup(1, 400, 20)...), Tools: []model.Tool{{Name: "t"}}}
			b := pricedBudget(t, 500)
			_, report, err := b.Apply(req, nil)
			wantCode(t, err, "context-overflow")
			var overflow *assembler.Overflow
			same(t, "rescuable", errors.As(err, &overflow) && overflow.Rescuable(), true)
			same(t, "numbers", [3]int{report.Fixed, report.Tools, report.Estimate}, [3]int{150, 100, 580})
			req.Tools, b.Emergency = nil, true
			out, report := apply(t, b, req, nil)
			same(t, "estimate", report.Estimate, 480)
			same(t, "messages", len(out.Messages), 3)
		},
	}
}
