package assembler_test

import (
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tokens"
)

func ExampleBuild() {
	texts, err := locale.Load()
	if err != nil {
		panic(err)
	}
	out, err := assembler.Build(assembler.Input{
		Body:    "Be the ferryman.",
		Texts:   texts,
		Turn:    assembler.Turn{PlayerMessage: "I row"},
		Runtime: assembler.Runtime{ID: "narrator", PluginID: "narrator", Story: true},
		History: []session.Message{{Role: session.RoleAssistant, Content: "Fog lies on the water."}},
		Inputs:  []assembler.Slot{{Name: "check", InputSlot: one(`{"outcome":"success"}`, "dice-check", "roller", "")}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(assembler.StripSentinels(out.SystemPrompt))
	for _, m := range out.Messages {
		fmt.Println(m.Role+":", m.Content)
	}
	// Output:
	// Be the ferryman.
	// assistant: Fog lies on the water.
	// system: <runtime-inputs>
	// {"check":{"cardinality":"one","value":{"outcome":"success"},"source":{"pluginId":"dice-check","runtimeId":"roller"}}}
	// </runtime-inputs>
	// user: I row
}

func ExampleBudget_Apply() {
	texts, err := locale.Load()
	if err != nil {
		panic(err)
	}
	budget := assembler.Budget{Estimator: tokens.Covel{}, Lang: locale.English, Texts: texts, Window: 8192, Reserve: 2048}
	var ledger assembler.Ledger // kept for the whole run
	request := assembler.Request{System: "Be the ferryman.", Messages: []model.Message{{Role: model.RoleUser, Content: "I row"}}}
	fitted, report, err := budget.Apply(request, &ledger)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(fitted.Messages), report.Estimate, report.Limit)
	// Output: 1 6 6144
}

func ExampleModelFacingJSON() {
	shown, err := assembler.ModelFacingJSON(json.RawMessage(`{"sessionId":"s-1","mood":"calm","seenAt":"2031-01-02T03:04:05Z"}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(shown))
	// Output: {"mood":"calm"}
}

func ExampleInterpolate() {
	world := ordered.Obj(ordered.Member{Key: "name", Value: ordered.Str("Lantern<fall>")})
	vars := ordered.Obj(ordered.Member{Key: "world", Value: world})
	fmt.Println(assembler.Interpolate("{{ world.name }}\n<place>\n{{ world.name }}\n</place>", vars))
	// Output:
	// Lantern<fall>
	// <place>
	// Lantern&lt;fall&gt;
	// </place>
}
