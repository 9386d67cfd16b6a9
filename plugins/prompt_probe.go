package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/turn"
)

// registerPromptProbe adds the prompt-probe package's code (spec 05 §15.10).
func registerPromptProbe(h *plugin.Handlers) {
	h.Entries["prompt-probe"] = plugin.Registration{
		Segments:   map[string]plugin.SegmentHandler{"probe": probeSegments},
		Extensions: map[string]plugin.ExtensionHandler{plugin.PointHistoryTransform + "/redact": probeRedact},
		Hooks:      map[string]plugin.HookHandler{"PostContextAssembly": probeDropPreamble},
	}
	h.Functions["prompt-probe/source"] = probeSource
	h.Functions["prompt-probe/wrap"] = func(_ context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
		value, err := marshal(map[string]json.RawMessage{"summary": c.Inputs["narrative"].Value})
		return plugin.FunctionResult{Value: value}, err
	}
	h.Functions["prompt-probe/ping"] = func(_ context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
		value, err := marshal(map[string]any{"event": c.Event})
		return plugin.FunctionResult{Value: value}, err
	}
	h.Tools["prompt-probe/probe-write"] = probeWrite
	h.Tools["prompt-probe/probe-long"] = probeLong
	h.Tools["prompt-probe/probe-fail"] = func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
		return plugin.ToolResult{Code: "EXECUTION_ERROR", Message: "the probe fails on purpose"}, nil
	}
	h.Tools["prompt-probe/probe-text"] = func(context.Context, plugin.ToolCall) (plugin.ToolResult, error) {
		return plugin.ToolResult{Text: "PROBE plain text"}, nil
	}
}

type probeSettings struct {
	DropPreamble bool   `json:"dropPreamble"`
	Redact       string `json:"redact"`
	BadSegment   bool   `json:"badSegment"`
}

func probeSettingsOf(v plugin.View) (probeSettings, error) {
	var s probeSettings
	if len(v.UserSettings) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(v.UserSettings, &s); err != nil {
		return s, fmt.Errorf("settings of prompt-probe: %w", err)
	}
	return s, nil
}

func probeSegments(_ context.Context, v plugin.View) ([]plugin.Segment, error) {
	settings, err := probeSettingsOf(v)
	if err != nil {
		return nil, err
	}
	story := assembler.Quoted(assembler.AudienceStory)
	segment := func(id, position, role, volatility string, order int) plugin.Segment {
		place := json.RawMessage(position)
		if !strings.HasPrefix(position, "{") {
			place = assembler.Quoted(position)
		}
		return plugin.Segment{ID: id, Content: "PROBE " + id, Position: place, Role: role, Audience: story, Volatility: volatility, Order: order}
	}
	out := []plugin.Segment{
		segment("p-stable", "system", "", "stable", 5),
		segment("p-session", "system", "", "session", 0),
		segment("p-turn", "system", "", "turn", -5),
		segment("p-self", "system", "", "session", 0),
		segment("p-contract", "system", "", "session", -1),
		segment("p-pre-system", "pre-history", "system", "session", 0),
		segment("p-pre-turn", "pre-history", "system", "turn", 0),
		segment("p-pre-user", "pre-history", "user", "session", 0),
		segment("p-pre-assistant", "pre-history", "assistant", "session", 0),
		segment("p-post", "post-history", "system", "session", 0),
		segment("p-depth-0", `{"depth":0}`, "system", "session", 0),
		segment("p-depth-2", `{"depth":2}`, "user", "session", 0),
		segment("p-depth-99", `{"depth":99}`, "system", "session", 0),
	}
	out[1].Content += " {{ session.id }}"
	out[2].Content += " a & <b>"
	out[3].Audience = assembler.Quoted(assembler.AudienceSelf)
	out[4].Audience = json.RawMessage(`{"contract":"` + plugin.RootContract + `"}`)
	if settings.BadSegment {
		out = append(out, segment("p-bad", "top", "system", "session", 0))
	}
	return out, nil
}

// probeRedact replaces the setting's text in every content member of a history.
func probeRedact(_ context.Context, v plugin.View, input json.RawMessage) (json.RawMessage, error) {
	settings, err := probeSettingsOf(v)
	if err != nil || settings.Redact == "" {
		return input, err
	}
	root, err := source.ParseJSON(input)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	var walk func(n *source.Node)
	walk = func(n *source.Node) {
		for _, item := range n.Items {
			walk(item)
		}
		for _, f := range n.Fields {
			if f.Key == "content" && f.Value.Kind == source.String {
				f.Value.Text = strings.ReplaceAll(f.Value.Text, settings.Redact, "[redacted]")
				continue
			}
			walk(f.Value)
		}
	}
	walk(root)
	return root.JSON(), nil
}

func probeDropPreamble(_ context.Context, c plugin.HookCall) (plugin.HookAnswer, error) {
	settings, err := probeSettingsOf(c.View)
	if err != nil || !settings.DropPreamble {
		return plugin.HookAnswer{}, err
	}
	return plugin.HookAnswer{Replace: json.RawMessage(`{"systemPrompt":"PROBE BODY"}`)}, nil
}

func probeSource(_ context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
	sum := sha256.Sum256([]byte(c.Scope.SessionID + "\n" + c.Scope.TurnID))
	stamp, err := uuid.FromBytes(sum[:16])
	if err != nil {
		return plugin.FunctionResult{}, fmt.Errorf("stamp: %w", err)
	}
	value, err := marshal(struct {
		Text    string `json:"text"`
		StampID string `json:"stampId"`
		MadeAt  string `json:"madeAt"`
	}{"PROBE source", stamp.String(), c.StartedAt.UTC().Format(time.RFC3339)})
	return plugin.FunctionResult{Value: value}, err
}

func probeWrite(_ context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
	var args struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return plugin.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	write, err := propose(turn.ProposalPluginData, dataWrite{Namespace: "notes", Key: args.Key, Value: args.Value})
	if err != nil {
		return plugin.ToolResult{}, err
	}
	return plugin.ToolResult{Summary: "wrote " + args.Key, Data: args.Value, Proposals: []plugin.ProposedWrite{write}}, nil
}

func probeLong(_ context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
	var args struct {
		Chars int `json:"chars"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return plugin.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	text := strings.Repeat("probe long text ", args.Chars/16+1)[:args.Chars]
	data, err := marshal(map[string]string{"text": text})
	return plugin.ToolResult{Summary: fmt.Sprintf("%d characters", args.Chars), Data: data}, err
}
