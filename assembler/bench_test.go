package assembler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

// longSession is a 150,000-token history of 2,000 messages with every section
// filled.
func longSession(b *testing.B, est tokens.Estimator) assembler.Input {
	b.Helper()
	in := assembler.Input{
		Texts:   texts(b),
		Turn:    assembler.Turn{SessionID: "s", TurnID: "now", Locale: "en-US", PlayerMessage: "I light the lamp."},
		Runtime: assembler.Runtime{ID: "p1/main", PluginID: "p1"},
		Budget:  &assembler.Budget{Estimator: est, Window: 262_144, Reserve: 16_384},
	}
	full(&in)
	in.Snapshot.World.Lore = strings.Repeat("The keeper trims the lamp and counts the tides.\n", 600)
	text := strings.Repeat("The keeper trims the lamp. ", 11) // 297 bytes
	for i := range 2000 {
		role := []session.Role{session.RoleUser, session.RoleAssistant}[i%2]
		in.History = append(in.History, session.Message{Role: role, Content: fmt.Sprintf("%03d%s", i, text)})
	}
	return in
}

// BenchmarkAssemble150kTokens builds the context and fits the exact request.
func BenchmarkAssemble150kTokens(b *testing.B) {
	warm := tokens.NewCache(tokens.Covel{}, tokens.CacheConfig{})
	for name, est := range map[string]tokens.Estimator{"cached": warm, "cold-covel": tokens.Covel{}} {
		b.Run(name, func(b *testing.B) {
			in := longSession(b, est)
			budget := *in.Budget
			budget.Texts = in.Texts
			run := func() int {
				out, err := assembler.Build(in)
				if err != nil {
					b.Fatal(err)
				}
				_, report, err := budget.Apply(assembler.Request{System: out.SystemPrompt, Messages: out.Messages}, &assembler.Ledger{})
				if err != nil {
					b.Fatal(err)
				}
				return report.Estimate
			}
			n := run()
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(n), "tokens")
		})
	}
}

// BenchmarkLedgerReplay prunes and replays a tool loop of 40 groups.
func BenchmarkLedgerReplay(b *testing.B) {
	req := assembler.Request{System: strings.Repeat("rules ", 400)}
	for range 200 {
		req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Content: strings.Repeat("u", 300)}, model.Message{Role: model.RoleAssistant, Content: strings.Repeat("a", 900)})
	}
	req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Content: "go"})
	for i := range 40 {
		req.Messages = append(req.Messages, call(fmt.Sprint("call-", i), "read", `{"page":1}`, `{"ok":true,"summary":"read","data":"`+strings.Repeat("row ", 1000)+`"}`)...)
	}
	budget := assembler.Budget{Estimator: tokens.NewCache(tokens.Covel{}, tokens.CacheConfig{}), Lang: "en", Texts: texts(b), Window: 40_000}
	ledger := &assembler.Ledger{}
	if _, _, err := budget.Apply(req, ledger); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := budget.Apply(req, ledger); err != nil {
			b.Fatal(err)
		}
	}
}
