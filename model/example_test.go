package model_test

import (
	"context"
	"fmt"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/scripted"
)

// Without an llm.toml the storyteller plays every slot.
func ExampleGateway_Call() {
	gateway, err := model.NewGateway(model.Config{
		Adapters: map[string]model.Adapter{model.ProtocolScripted: scripted.New(scripted.Config{})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := gateway.Call(context.Background(), "story", model.Params{
		Messages: []model.Message{{Role: model.RoleUser, Content: "roll for it"}},
		Tools:    []model.Tool{{Name: "roll", Parameters: []byte(`{"type":"object","required":["sides"],"properties":{"sides":{"type":"integer","minimum":2}}}`)}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.FinishReason, reply.ToolCalls[0].Name, reply.ToolCalls[0].Arguments)
	// Output: tool_calls roll {"sides":2}
}

// A slot's target says where its calls go and what the model can do.
func ExampleGateway_Resolve() {
	slots, err := model.ParseSlots("llm.toml", []byte("[covel.story]\nprovider = \"anthropic\"\nmodel = \"claude-opus-4-6\"\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	gateway, err := model.NewGateway(model.Config{
		Adapters: map[string]model.Adapter{model.ProtocolScripted: scripted.New(scripted.Config{})}, Slots: slots,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	target, err := gateway.Resolve("story")
	fmt.Println(target.Protocol, target.BaseURL, target.Tokenizer, target.CacheStrategy, err)
	// Output: anthropic-messages-v1 https://api.anthropic.com covel anthropic-explicit <nil>
}

// A refused llm.toml says where and why.
func ExampleParseSlots() {
	_, err := model.ParseSlots("llm.toml", []byte("[covel.story]\nprovider = \"openai\"\nmodel = \"gpt-5.4\"\nthinking = true\n"))
	fmt.Println(err)
	// Output: llm.toml:4: covel.story.thinking: unknown field; set the thinking depth with reasoningEffort (provider-default, disabled, automatic, none, minimal, low, medium, high, xhigh, max)
}

func ExampleSplitSentinels() {
	closed, tail := model.SplitSentinels("preamble" + model.Sentinel + "\n\nbody\n" + model.Sentinel + "\n\ntail")
	fmt.Printf("%q %q\n", closed, tail)
	// Output: ["preamble" "\n\nbody"] "\n\ntail"
}

func ExampleRuntimeRetry() {
	tracker := model.RuntimeRetry{MaxRetries: 2}
	cut := &model.Result{FinishReason: model.FinishLength, Text: "{"}
	fmt.Println(tracker.AfterReply(cut))
	tracker.Hinted = true
	fmt.Println(tracker.AfterReply(cut))
	fmt.Println(tracker.AfterFailure(&model.Error{Code: model.CodeProvider, StatusCode: 503, Retriable: true}))
	// Output:
	// hinted
	// too-long
	// same
}
