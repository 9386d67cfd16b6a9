package check_test

import "testing"

func TestRuntimeCases(t *testing.T) {
	t.Parallel()
	one := func(object string) pack { return pack{"PLUGIN.md": root(""), "runtimes/x/RUNTIME.md": runtime(object)} }
	with := func(rootMore, object string) pack {
		return pack{"PLUGIN.md": root(rootMore), "runtimes/x/RUNTIME.md": runtime(object)}
	}
	f := "runtimes/x/RUNTIME.md"
	story := "type: agent\nschedule: {stage: narrative}\nio: {visibility: story}\n"
	runPluginCases(t, []pluginCase{
		{id: "AF-036", files: one("type: agent\n"), want: []string{"E missing-field " + f + " schedule.stage setup pre-turn narrative post-turn audit"}},
		{id: "AF-037", note: "event", files: with("contributes:\n  events:\n    - {topic: a.b, schema: schemas/a.json, description: d}\n", "type: agent\nschedule: {stage: audit, trigger: {type: event, topic: a.b}}\n").and("schemas/a.json", "{}"), want: []string{"E forbidden-field " + f + " schedule.stage"}},
		{id: "AF-037", note: "manual", files: one("type: agent\nschedule: {stage: audit, trigger: {type: manual}}\n"), want: []string{"E forbidden-field " + f + " schedule.stage"}},
		{id: "AF-038", files: one("type: agent\nschedule: {trigger: {type: event}}\n"), want: []string{"E missing-field " + f + " schedule.trigger.topic"}},
		{id: "AF-039", files: one("type: agent\nschedule: {stage: midturn}\n"), want: []string{"E invalid-value " + f + ":3 midturn"}},
		{id: "AF-040", files: one("type: agent\nschedule:\n  stage: setup\n  trigger:\n    type: scheduled\n    interval: 2\n    cooldownTurns: 1\n"), want: []string{
			"E invalid-value " + f + ":6 schedule.trigger.type", "E forbidden-field " + f + ":7 interval", "E forbidden-field " + f + ":8 cooldownTurns",
		}},
		{id: "AF-041", files: with("optional: [a@1]\n", agentPost+"  needs: [{contract: a@1, scope: session}]\n"), want: []string{"E forbidden-field " + f + " needs[0].scope"}},
		{id: "AF-042", note: "narrative", files: one("type: agent\nschedule: {stage: narrative, completion: {mode: detached}}\n"), want: []string{"E forbidden-field " + f + " completion.mode narrative"}},
		{id: "AF-042", note: "story", files: one("type: agent\nschedule: {stage: post-turn, completion: {mode: detached}}\nio: {visibility: story}\n"), want: []string{"E forbidden-field " + f + " completion.mode story"}},
		{id: "AF-042", note: "event", files: with("contributes:\n  events:\n    - {topic: a.b, schema: schemas/a.json, description: d}\n", "type: agent\nschedule: {trigger: {type: event, topic: a.b}, completion: {mode: detached}}\n").and("schemas/a.json", "{}"), want: []string{"E forbidden-field " + f + " completion.mode event"}},
		{id: "AF-043", note: "no settle", files: one(agentPost + "  completion: {mode: detached, maxSettleWaitMs: 30000}\n"), want: []string{"E forbidden-field " + f + " maxSettleWaitMs"}},
		{id: "AF-043", note: "too long", files: one(agentPost + "  completion: {mode: detached, settle: before-next-execution, maxSettleWaitMs: 120001}\n"), want: []string{"E invalid-value " + f + " maxSettleWaitMs 120001"}},
		{id: "AF-044", files: one(agentPost + "  needs: [other-plugin]\n"), want: []string{"E foreign-runtime " + f + " other-plugin fix:contract"}},
		{id: "AF-045", files: one(agentPost + "  needs: [p/gone]\n"), want: []string{"E unknown-reference " + f + " p/gone"}},
		{id: "AF-046", files: one(agentPost + "  needs: [{contract: action-check@1}]\n"), want: []string{"E undeclared-contract " + f + " schedule.needs[0] action-check@1"}},
		{id: "AF-047", files: pack{
			"PLUGIN.md": root(""), "runtimes/a/RUNTIME.md": runtime(agentPost + "  needs: [p/b]\n"), "runtimes/b/RUNTIME.md": runtime(agentPost + "  needs: [p/a]\n"),
		}, want: []string{"E dependency-cycle runtimes/a/RUNTIME.md p/a p/b"}},
		{id: "AF-048", note: "undeclared", files: with("contracts: {x@1: {schema: schemas/a.json}}\n", agentPost+"io: {output: {contract: x@1}}\n").and("schemas/a.json", "{}"), want: []string{"E undeclared-contract " + f + " io.output.contract x@1"}},
		{id: "AF-048", note: "two", files: pack{
			"PLUGIN.md": root("provides: [x@1]\ncontracts: {x@1: {schema: schemas/a.json}}\n"), "schemas/a.json": "{}",
			"runtimes/a/RUNTIME.md": runtime(agentPost + "io: {output: {contract: x@1}}\n"), "runtimes/b/RUNTIME.md": runtime(agentPost + "io: {output: {contract: x@1}}\n"),
		}, want: []string{"E ambiguous-producer runtimes/b/RUNTIME.md p/a p/b"}},
		{id: "AF-049", files: one(agentPost + "io: {output: {recordAs: k}}\n"), want: []string{"E forbidden-field " + f + " io.output.recordAs"}},
		{id: "AF-050", note: "select", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, scope: committed, recordAs: k, select: /a}}}\n"), want: []string{"E forbidden-field " + f + " io.inputs.n.select"}},
		{id: "AF-050", note: "empty select", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, scope: committed, recordAs: k, select: \"\"}}}\n"), want: []string{"E forbidden-field " + f + " io.inputs.n.select"}},
		{id: "AF-050", note: "recordAs", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, scope: committed}}}\n"), want: []string{"E missing-field " + f + " io.inputs.n.recordAs"}},
		{id: "AF-051", note: "no slash", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, select: narrativeOutput}}}\n"), want: []string{"E invalid-value " + f + " select narrativeOutput"}},
		{id: "AF-051", note: "escape", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, select: /a~2b}}}\n"), want: []string{"E invalid-value " + f + " select /a~2b"}},
		{id: "AF-052", note: "missing", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, accepts: schemas/none.json}}}\n"), want: []string{"E file-missing " + f + " schemas/none.json"}},
		{id: "AF-052", note: "no JSON", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, accepts: schemas/a.json}}}\n").and("schemas/a.json", "nope"), want: []string{"E schema-invalid schemas/a.json"}},
		{id: "AF-053", note: "optional", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, required: false, accepts: \"contract:ghost@1\"}}}\n"), want: []string{"W accepts-contract-unresolved " + f + " ghost@1"}},
		{id: "AF-053", note: "required", files: with("optional: [a@1]\n", agentPost+"io: {inputs: {n: {from: {contract: a@1}, accepts: \"contract:ghost@1\"}}}\n"), want: []string{"E contract-unpublished " + f + " ghost@1"}},
		{id: "AF-054", note: "zero", files: selfData("namespace: notes, as: a, maxEntries: 0"), want: []string{"E invalid-value " + f + " maxEntries 0"}},
		{id: "AF-054", note: "many", files: selfData("namespace: notes, as: a, maxEntries: 501"), want: []string{"E invalid-value " + f + " maxEntries 501"}},
		{id: "AF-054", note: "format", files: selfData("namespace: notes, as: a, format: table"), want: []string{"E invalid-value " + f + " format table"}},
		{id: "AF-054", note: "as", files: selfData("namespace: notes"), want: []string{"E missing-field " + f + " io.selfData[0].as"}},
		{id: "AF-055", files: selfData("namespace: _hidden.modifiers, as: a"), want: []string{"E invalid-value " + f + " namespace _hidden.modifiers"}},
		{id: "AF-056", note: "visibility", files: one(agentPost + "io: {visibility: public}\n"), want: []string{"E invalid-value " + f + " visibility public"}},
		{id: "AF-056", note: "concealed", files: one("type: agent\nschedule: {stage: narrative}\nio: {visibility: story, concealed: true}\n"), want: []string{"E forbidden-field " + f + " concealed"}},
		{id: "AF-060", files: one(agentPost + "agent:\n  loop:\n    maxSteps: 0\n    maxRetries: 6\n    loopDetection: 21\n    maxRecursionDepth: 51\n"), want: []string{
			"E invalid-value " + f + ":7 maxSteps", "E invalid-value " + f + ":8 maxRetries", "E invalid-value " + f + ":9 loopDetection", "E invalid-value " + f + ":10 maxRecursionDepth",
		}},
		{id: "AF-061", note: "auto", files: one(agentPost + "agent: {toolChoice: auto}\n"), want: []string{"E invalid-value " + f + " toolChoice auto"}},
		{id: "AF-061", note: "empty", files: one(agentPost + "agent: {toolChoice: {}}\n"), want: []string{"E missing-field " + f + " toolChoice.name"}},
		{id: "AF-061", note: "reasoning", files: one(agentPost + "agent: {reasoning: true}\n"), want: []string{"E invalid-value " + f + " reasoning true"}},
		{id: "AF-062", note: "story", files: one(story + "agent: {loop: {completion: {require: explicit}}}\n"), want: []string{"E forbidden-field " + f + " require story"}},
		{id: "AF-062", note: "schema", files: one(agentPost+"io: {output: {schema: schemas/a.json}}\nagent: {loop: {completion: {require: explicit}}}\n").and("schemas/a.json", "{}"), want: []string{"E forbidden-field " + f + " require output.schema"}},
		{id: "AF-063", note: "missing", files: one(agentPost + "agent: {history: {includeSummaries: true}}\n"), want: []string{"E missing-field " + f + " history.maxTurns"}},
		{id: "AF-063", note: "negative", files: one(agentPost + "agent: {history: {maxTurns: -1}}\n"), want: []string{"E invalid-value " + f + " history.maxTurns -1"}},
		{id: "AF-064", files: one(agentPost + "agent: {tools: {builtin: [delete-everything], plugin: [x]}}\n"), want: []string{"E unknown-reference " + f + " delete-everything", "E unknown-reference " + f + " \"x\""}},
		{id: "AF-065", files: one(agentPost + "agent: {loop: {completion: {afterTools: [y]}}}\n"), want: []string{"E unknown-reference " + f + " \"y\""}},
		{id: "AF-066", files: one(agentPost + "agent: {llm: {toolChoice: required}}\n"), want: []string{"E unknown-key " + f + " agent.llm fix:agent.toolChoice"}},
		{id: "AF-069", note: "handler", files: one("type: function\n" + postTurn), want: []string{"E missing-field " + f + " function.handler"}},
		{id: "AF-069", note: "agent", files: one(function + postTurn + "agent: {}\n"), want: []string{"E forbidden-field " + f + " agent"}},
		{id: "AF-069", note: "function", files: one(agentPost + "function: {handler: \"temporal:q/A\"}\n"), want: []string{"E forbidden-field " + f + " function"}},
		{id: "AF-070", note: "resource", files: one(function + postTurn + "effects: {writes: [\"db:*\"]}\n"), want: []string{"E invalid-value " + f + " db:*"}},
		{id: "AF-070", note: "twice", files: one(function + postTurn + "effects: {writes: [\"state:*\", \"state:*\"]}\n"), want: []string{"E invalid-value " + f + " state:*"}},
		{id: "AF-070", note: "path", files: one(function + postTurn + "permissions: {http: [{origin: \"https://a.example/x\"}]}\n"), want: []string{"E invalid-value " + f + " https://a.example/x"}},
		{id: "AF-070", note: "http", files: one(function + postTurn + "permissions: {http: [{origin: \"http://a.example\"}]}\n"), want: []string{"E invalid-value " + f + " http://a.example"}},
		{id: "AF-073", files: pack{"PLUGIN.md": root("provides: [{contract: x@1, default: true}]\n")}, want: []string{"E contract-unproduced PLUGIN.md x@1"}},
	})
	t.Run("AF-072", func(t *testing.T) {
		t.Parallel()
		a := pack{"PLUGIN.md": root("provides: [x@1]\ncontracts: {x@1: {schema: schemas/a.json}}\n" + inline(function+postTurn+"io: {output: {contract: x@1}}\n")), "schemas/a.json": `{"type":"object"}`}.write(t, "p")
		q := pack{"PLUGIN.md": "---\nid: q\nkind: plugin\ndescription: d\nprovides: [x@1]\ncontracts: {x@1: {schema: schemas/a.json}}\n" + inline(function+postTurn+"io: {output: {contract: x@1}}\n") + "---\n", "schemas/a.json": `{"type":"array"}`}.write(t, "q")
		expect(t, checkPlugins(t), []string{
			"E contract-schema-conflict " + slash(a) + "/PLUGIN.md x@1 p q", "E contract-schema-conflict " + slash(q) + "/PLUGIN.md x@1 p q",
		}, a, q)
	})
}

func (p pack) and(path, text string) pack {
	p[path] = text
	return p
}

func selfData(entry string) pack {
	return pack{
		"PLUGIN.md":             root("contributes:\n  data:\n    notes: {schema: schemas/a.json, version: 1}\n"),
		"schemas/a.json":        `{"type":"object"}`,
		"runtimes/x/RUNTIME.md": runtime(agentPost + "io: {selfData: [{" + entry + "}]}\n"),
	}
}
