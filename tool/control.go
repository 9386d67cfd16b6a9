package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

func emitEvent(_ context.Context, in invocation) (answer, *refusal) {
	args := struct {
		Topic string
		Data  json.RawMessage
	}{Data: json.RawMessage("{}")}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	if in.emitted(args.Topic) {
		return answer{summary: "skipped"}, nil
	}
	if err := in.set.packages.CheckEvent(args.Topic, args.Data); err != nil {
		field := "topic"
		for _, e := range in.set.packages.Events() {
			if e.Topic == args.Topic {
				field = "data"
			}
		}
		var broken *plugin.SchemaError
		if !errors.As(err, &broken) {
			return answer{}, violation(in.Name, Problem{field, err.Error()})
		}
		var problems []Problem
		for _, v := range broken.Violations {
			problems = append(problems, Problem{dotted("/data" + v.Path), v.Problem})
		}
		return answer{}, violation(in.Name, problems...)
	}
	return answer{
		summary: fmt.Sprintf("event %s is emitted", args.Topic),
		events:  []turn.Event{{Topic: args.Topic, Data: args.Data}},
	}, nil
}

func suspend(_ context.Context, in invocation) (answer, *refusal) {
	var mark plugin.SuspendMark
	if refused := in.decode(&mark); refused != nil {
		return answer{}, refused
	}
	return answer{suspend: &mark}, nil
}

func runtimeDone(context.Context, invocation) (answer, *refusal) {
	return answer{summary: "The run ends."}, nil
}

// foundTools is the data of a search-tools result.
type foundTools struct {
	Tools []foundTool `json:"tools"`
}

type foundTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func searchTools(_ context.Context, in invocation) (answer, *refusal) {
	args := struct {
		Query string
		Limit int
	}{Limit: 5}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	var candidates []foundTool
	var texts []string
	for _, e := range in.set.entries {
		if e.deferred && e.exists() {
			candidates = append(candidates, foundTool{e.name, e.def.Description})
			texts = append(texts, e.name+" "+e.def.Description)
		}
	}
	found := foundTools{Tools: []foundTool{}}
	for _, i := range Rank(texts, args.Query, args.Limit) {
		found.Tools = append(found.Tools, candidates[i])
	}
	data, refused := encode(found)
	return answer{summary: fmt.Sprintf("%d tools; they can be called from the next step on", len(found.Tools)), data: data}, refused
}
