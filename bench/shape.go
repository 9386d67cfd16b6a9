package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// The measured shape: stages x runtimes x (one model call + one tool call).
const (
	stages   = 3
	runtimes = 3
)

// benchPlugin is a plugin of nine agents whose only tool is note.
func benchPlugin() fs.FS {
	files := fstest.MapFS{
		"bench/PLUGIN.md": {Data: []byte(`---
id: bench
kind: plugin
description: Nine agents that each take a note.
version: 1.0.0
contributes:
  tools:
    - name: note
      handler: go:bench.note
      description: Takes a note.
      input: schemas/note.json
      idempotent: true
  data:
    notes: {schema: schemas/row.json, version: 1}
---
`)},
		"bench/schemas/note.json": {Data: []byte(`{"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string"}}}`)},
		"bench/schemas/row.json":  {Data: []byte(`{"type":"object"}`)},
	}
	for _, stage := range []string{"pre-turn", "narrative", "post-turn"} {
		for i := range runtimes {
			dir := fmt.Sprintf("bench/runtimes/%s-%d/", stage, i)
			files[dir+"RUNTIME.zh.md"] = &fstest.MapFile{Data: []byte("---\n---\n# 目的\n用工具 `note` 为本回合记一条笔记。\n")}
			files[dir+"RUNTIME.md"] = &fstest.MapFile{Data: fmt.Appendf(nil, `---
type: agent
schedule: {stage: %s}
agent:
  reasoning: false
  toolChoice: {name: note}
  tools: {plugin: [note]}
  loop:
    completion: {require: tool-use, afterTools: [note]}
---
# Purpose
Take one note of this turn with the tool `+"`note`"+`.
`, stage)}
		}
	}
	return files
}

func benchHandlers() plugin.Handlers {
	note := func(_ context.Context, call plugin.ToolCall) (plugin.ToolResult, error) {
		payload, err := json.Marshal(map[string]any{"namespace": "notes", "key": call.RuntimeID, "value": call.Arguments})
		return plugin.ToolResult{
			Summary: "noted", Proposals: []plugin.ProposedWrite{{Type: turn.ProposalPluginData, Payload: payload}},
		}, err
	}
	return plugin.Handlers{Tools: map[string]plugin.ToolHandler{"bench.note": note}}
}
