package compaction_test

import (
	"context"
	"fmt"
	"os"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

// Two slots set the windows, the windows set the threshold and the budgets.
func ExampleResolve() {
	settings := compaction.DefaultSettings()
	windows, err := compaction.Resolve(
		compaction.Slot{Name: "story", Window: 200_000, MaxOutput: 64_000},
		compaction.Slot{Name: "fast", Window: 32_000, Output: 2_000},
		settings,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(windows.Effective, windows.Input)
	fmt.Printf("%+v\n", compaction.BudgetFor(windows.Effective))
	fmt.Println(compaction.Due(18_000, windows.Effective, settings.Trigger), compaction.Due(18_001, windows.Effective, settings.Trigger))
	// Output:
	// 30000 30000
	// {MaxTokens:3600 MaxSegmentTokens:1200 MaxSegments:8}
	// false true
}

// The default strategy condenses everything but the newest rows.
func ExampleStrategy_Compact() {
	strategy, err := compaction.NewStrategy(compaction.StrategyConfig{
		Protection: &compaction.Protection{Messages: 1},
		Templates:  locale.NewLoader(os.DirFS("../plugins/history-compaction/prompts/server")).Load,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := []session.Message{
		{ID: "m1", SessionID: "s", TurnID: "t1", Role: session.RoleUser, Content: "I light the lamp."},
		{ID: "m2", SessionID: "s", TurnID: "t1", Role: session.RoleAssistant, Content: "The lamp burns. A door opens."},
		{ID: "m3", SessionID: "s", TurnID: "t2", Role: session.RoleUser, Content: "I go in."},
	}
	out, err := strategy.Compact(context.Background(), compaction.Input{
		Messages: rows, InputWindow: 10_000, Locale: "en-US", SummaryBudget: compaction.BudgetFor(10_000),
	}, compaction.Services{
		Estimator: tokens.Covel{}, InputEstimator: tokens.Covel{},
		Call: func(context.Context, compaction.Request) (compaction.Reply, error) {
			return compaction.Reply{Text: "Key events: the lamp was lit, a door opened."}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Summaries[0].MessageIDs, out.Summaries[0].Content)
	// Output:
	// [m1 m2] Key events: the lamp was lit, a door opened.
}
