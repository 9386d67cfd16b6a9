package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/covel-engine/covel/plugin"
)

// A package with one function runtime and the Go code that it names.
func ExampleLoad() {
	bundled := fstest.MapFS{"coin/PLUGIN.md": {Data: []byte(`---
id: coin
kind: plugin
description: Flips a coin before each turn.
provides: [coin-flip@1]
contracts: {coin-flip@1: {schema: schemas/flip.json}}
runtime:
  type: function
  schedule: {stage: pre-turn}
  io: {output: {contract: coin-flip@1}}
  function: {handler: "go:coin/flip", idempotent: true}
---
`)}, "coin/schemas/flip.json": {Data: []byte(`{"enum": ["heads", "tails"]}`)}}

	flip := func(_ context.Context, call plugin.FunctionCall) (plugin.FunctionResult, error) {
		side := "heads"
		if len(call.PlayerMessage)%2 == 1 { // follows from the call, so a repeat gives the same
			side = "tails"
		}
		value, err := json.Marshal(side)
		return plugin.FunctionResult{Value: value}, err
	}
	gen, findings, err := plugin.Load(plugin.Config{
		Bundled:  bundled,
		Handlers: plugin.Handlers{Functions: map[string]plugin.FunctionHandler{"coin/flip": flip}},
	})
	if err != nil || len(findings) > 0 {
		fmt.Println(findings, err)
		return
	}
	runtime, _ := gen.Runtime("coin")
	run, _ := gen.Function("coin")
	result, err := run(context.Background(), plugin.FunctionCall{View: plugin.View{PlayerMessage: "I call it"}})
	fmt.Println(runtime.Schedule.Stage, string(result.Value), err)
	// Output: pre-turn "tails" <nil>
}

// A finding says where, what and what to do.
func ExampleLoad_findings() {
	bundled := fstest.MapFS{"coin/PLUGIN.md": {Data: []byte("---\nid: coin\nkind: plugin\ndescription: Flips.\npriority: 5\n---\n")}}
	_, findings, err := plugin.Load(plugin.Config{Bundled: bundled})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	// Output:
	// PLUGIN.md:5: error unknown-key: key priority with value 5 is not known here
	// Fix: Use schedule.needs and schedule.after instead.
}

func ExampleGeneration_Resolve() {
	bundled := fstest.MapFS{
		"teller/PLUGIN.md": {Data: []byte("---\nid: teller\nkind: core\ndescription: Tells.\nprovides: [{contract: narrative-engine@2, default: true}]\ncontracts: {narrative-engine@2: {schema: s.json}}\nruntime:\n  type: function\n  schedule: {stage: narrative}\n  io: {visibility: story, output: {contract: narrative-engine@2}}\n  function: {handler: \"temporal:q/Tell\"}\n---\n")},
		"teller/s.json":    {Data: []byte(`{"type":"object"}`)},
		"dice/PLUGIN.md":   {Data: []byte("---\nid: dice\nkind: plugin\ndescription: Rolls.\nrequires: [narrative-engine@2]\n---\n")},
	}
	gen, _, err := plugin.Load(plugin.Config{Bundled: bundled})
	if err != nil {
		fmt.Println(err)
		return
	}
	resolution, err := gen.Resolve(plugin.Request{Requested: []string{"dice"}})
	fmt.Println(resolution.Active, err)
	_, err = gen.Resolve(plugin.Request{Requested: []string{"dice"}, Excluded: []string{"teller"}})
	fmt.Println(err)
	// Output:
	// [dice teller] <nil>
	// plugin.Resolve: session requires contract narrative-engine@2, but its providers are excluded: teller; stop excluding one (excluded)
}
