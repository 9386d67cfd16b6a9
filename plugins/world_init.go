package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/source"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

const (
	trackerRuntime = "world-init/dimension-tracker"
	editorRuntime  = "world-init/edit-dimensions"
)

// readTools are the tools a tracker needs only for truncated dimensions.
var readTools = []string{"dimension-rule-get", "world-dimension-get", "world-dimension-list"}

// registerWorldInit adds the world-init package's code (spec 05 §15.2).
func registerWorldInit(h *plugin.Handlers, t texts) {
	h.Entries["world-init"] = plugin.Registration{
		Extensions: map[string]plugin.ExtensionHandler{plugin.PointWorldContext + "/world": worldContext},
		Segments: map[string]plugin.SegmentHandler{
			"dimensions": func(ctx context.Context, v plugin.View) ([]plugin.Segment, error) {
				return dimensionSegments(ctx, v, t)
			},
		},
		Hooks: map[string]plugin.HookHandler{
			"PreLLMCall": func(ctx context.Context, c plugin.HookCall) (plugin.HookAnswer, error) {
				return withoutReadTools(ctx, c, t)
			},
		},
	}
	h.Guards["world-init/schema-gen-guard"] = func(_ context.Context, c plugin.FunctionCall) (plugin.GuardResult, error) {
		if schema, err := world.ParseCharacterSchema(c.CharacterSchema); err == nil && schema != nil && len(schema.Attributes) > 0 {
			return plugin.GuardResult{Skip: true, Value: json.RawMessage(`{}`)}, nil
		}
		return plugin.GuardResult{}, nil
	}
	h.Guards["world-init/dimension-tracker-guard"] = func(ctx context.Context, c plugin.FunctionCall) (plugin.GuardResult, error) {
		all, err := dimensions(ctx, c.View)
		if err != nil {
			return plugin.GuardResult{}, err
		}
		if !slices.ContainsFunc(all, func(d assembler.Dimension) bool { return strings.TrimSpace(d.Rule) != "" }) {
			return plugin.GuardResult{Skip: true, Value: json.RawMessage(`{}`)}, nil
		}
		return plugin.GuardResult{}, nil
	}
	h.Functions["world-init/dimension-context"] = dimensionContext
	h.Functions["world-init/edit-dimensions"] = editDimensions
	h.Tools["world-init/initialize-world"] = initializeWorld
	h.Tools["world-init/update-dimensions"] = updateDimensions
	h.Tools["world-init/dimension-rule-get"] = dimensionRuleGet
}

// dimensions reads the stored dimensions in definition order. The execution's
// frozen snapshot wins for value and version, so that a retry sees the state of
// its source turn.
func dimensions(ctx context.Context, v plugin.View) ([]assembler.Dimension, error) {
	stored, err := rows(ctx, v.Data, "_dimensions")
	if err != nil {
		return nil, err
	}
	var records []world.Dimension
	for _, row := range stored {
		var d world.Dimension
		if err := json.Unmarshal(row.Value, &d); err != nil {
			return nil, fmt.Errorf("stored dimension %s: %w", row.Key, err)
		}
		d.ID = row.Key
		records = append(records, d)
	}
	slices.SortStableFunc(records, func(a, b world.Dimension) int { return a.Order - b.Order })
	var frozen map[string]struct {
		Value   json.RawMessage `json:"value"`
		Version int             `json:"version"`
	}
	if len(v.Dimensions) > 0 {
		if err := json.Unmarshal(v.Dimensions, &frozen); err != nil {
			return nil, fmt.Errorf("frozen dimensions: %w", err)
		}
	}
	out := make([]assembler.Dimension, len(records))
	for i, d := range records {
		out[i] = assembler.Dimension{
			ID: d.ID, Name: textOf(d.Name), Description: textOf(d.Description), Schema: d.Schema, Value: d.Value,
			Version: d.Version, Rule: textOf(d.UpdateRule),
		}
		if f, ok := frozen[d.ID]; ok && f.Version > 0 {
			out[i].Value, out[i].Version = f.Value, f.Version
		}
	}
	return out, nil
}

func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// snapshots is the value of contract world.dimensions@1, in definition order.
func snapshots(all []assembler.Dimension) json.RawMessage {
	root := &source.Node{Kind: source.Map}
	for _, d := range all {
		s := &source.Node{Kind: source.Map}
		add := func(key string, n *source.Node) { s.Fields = append(s.Fields, source.Field{Key: key, Value: n}) }
		if d.Name != "" {
			add("name", &source.Node{Kind: source.String, Text: d.Name})
		}
		if d.Description != "" {
			add("description", &source.Node{Kind: source.String, Text: d.Description})
		}
		if n, err := source.ParseJSON(d.Schema); err == nil {
			add("schema", n)
		}
		value, err := source.ParseJSON(d.Value)
		if err != nil {
			value = &source.Node{Kind: source.Null}
		}
		add("value", value)
		add("version", &source.Node{Kind: source.Number, Text: fmt.Sprint(d.Version)})
		root.Fields = append(root.Fields, source.Field{Key: d.ID, Value: s})
	}
	return root.JSON()
}

func dimensionContext(ctx context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
	all, err := dimensions(ctx, c.View)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	return plugin.FunctionResult{Value: snapshots(all)}, nil
}

// worldContext provides session.world-context@1.
func worldContext(ctx context.Context, v plugin.View, _ json.RawMessage) (json.RawMessage, error) {
	all, err := dimensions(ctx, v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{
		"dimensions":        snapshots(all),
		"dimensionRecovery": map[string]string{"editorRuntimeId": editorRuntime, "trackerRuntimeId": trackerRuntime},
	}
	if len(v.CharacterSchema) > 0 && string(v.CharacterSchema) != "null" {
		out["schema"] = v.CharacterSchema
	}
	return json.Marshal(out)
}

func dimensionSegments(ctx context.Context, v plugin.View, t texts) ([]plugin.Segment, error) {
	if t.err != nil {
		return nil, t.err
	}
	all, err := dimensions(ctx, v)
	if err != nil {
		return nil, err
	}
	words := t.words(v)
	segments := assembler.WorldDimensions(all, v.Locale, words)
	return append(segments, assembler.TrackerSegments(all, words).Segments...), nil
}

// withoutReadTools takes the reading tools out of the tracker's requests when
// nothing is truncated (spec 05 §13).
func withoutReadTools(ctx context.Context, c plugin.HookCall, t texts) (plugin.HookAnswer, error) {
	if c.RuntimeID != trackerRuntime {
		return plugin.HookAnswer{}, nil
	}
	if t.err != nil {
		return plugin.HookAnswer{}, t.err
	}
	all, err := dimensions(ctx, c.View)
	if err != nil || len(assembler.TrackerSegments(all, t.words(c.View)).Truncated) > 0 {
		return plugin.HookAnswer{}, err
	}
	var payload struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(c.Payload, &payload); err != nil {
		return plugin.HookAnswer{}, fmt.Errorf("PreLLMCall payload: %w", err)
	}
	kept := slices.DeleteFunc(slices.Clone(payload.Tools), func(raw json.RawMessage) bool {
		var named struct {
			Name string `json:"name"`
		}
		return json.Unmarshal(raw, &named) == nil && slices.Contains(readTools, named.Name)
	})
	if len(kept) == len(payload.Tools) {
		return plugin.HookAnswer{}, nil
	}
	replace, err := json.Marshal(map[string]any{"tools": kept})
	return plugin.HookAnswer{Replace: replace}, err
}

type (
	dimensionUpdate struct {
		Updates []dimensionChange `json:"updates"`
		Receipt string            `json:"receipt,omitempty"`
	}
	dimensionChange struct {
		ID      string          `json:"id"`
		Value   json.RawMessage `json:"value"`
		Version int             `json:"version"`
		Reason  string          `json:"reason,omitempty"`
	}
)

// checkedUpdate compares wanted values with the stored dimensions: problem
// names the first that does not fit.
func checkedUpdate(all []assembler.Dimension, wanted []dimensionChange, ruledOnly bool) (update dimensionUpdate, problem string) {
	update.Updates = []dimensionChange{}
	seen := map[string]bool{}
	for i, w := range wanted {
		at := slices.IndexFunc(all, func(d assembler.Dimension) bool { return d.ID == w.ID })
		switch {
		case at < 0:
			ids := make([]string, len(all))
			for j, d := range all {
				ids[j] = d.ID
			}
			return update, fmt.Sprintf("updates[%d].id %q is no dimension; known: %s", i, w.ID, strings.Join(ids, ", "))
		case seen[w.ID]:
			return update, fmt.Sprintf("updates[%d].id %q stands twice; send one complete value", i, w.ID)
		case ruledOnly && strings.TrimSpace(all[at].Rule) == "":
			return update, fmt.Sprintf("updates[%d].id %q has no update rule and never changes", i, w.ID)
		}
		seen[w.ID] = true
		if err := world.CheckDimensionValue(all[at].Schema, w.Value); err != nil {
			return update, fmt.Sprintf("updates[%d].value of %q: %v", i, w.ID, err)
		}
		w.Version = all[at].Version
		update.Updates = append(update.Updates, w)
	}
	return update, ""
}

func updateDimensions(ctx context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
	var args dimensionUpdate
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return plugin.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	all, err := dimensions(ctx, c.View)
	if err != nil {
		return plugin.ToolResult{}, err
	}
	update, problem := checkedUpdate(all, args.Updates, true)
	if problem != "" {
		return refuse("%s", problem), nil
	}
	receipt := "settled"
	if len(update.Updates) == 0 {
		receipt = "no-change"
	}
	update.Receipt = receipt
	write, err := propose(turn.ProposalDimensionUpdate, update)
	if err != nil {
		return plugin.ToolResult{}, err
	}
	ids := make([]string, len(update.Updates))
	for i, u := range update.Updates {
		ids[i] = u.ID
	}
	data, err := json.Marshal(map[string]any{"receipt": receipt, "updated": ids})
	if err != nil {
		return plugin.ToolResult{}, fmt.Errorf("encode receipt: %w", err)
	}
	return plugin.ToolResult{Summary: receipt, Data: data, Proposals: []plugin.ProposedWrite{write}}, nil
}

func editDimensions(ctx context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
	var args dimensionUpdate
	if err := json.Unmarshal(c.Payload, &args); err != nil {
		return plugin.FunctionResult{}, fmt.Errorf("payload: %w", err)
	}
	all, err := dimensions(ctx, c.View)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	update, problem := checkedUpdate(all, args.Updates, false)
	if problem != "" {
		return plugin.FunctionResult{}, fmt.Errorf("payload: %s", problem)
	}
	update.Receipt = "manual"
	write, err := propose(turn.ProposalDimensionUpdate, update)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	return plugin.FunctionResult{Value: json.RawMessage(`{"receipt":"manual"}`), Proposals: []plugin.ProposedWrite{write}}, nil
}

func dimensionRuleGet(ctx context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
	var args struct {
		IDs []string `json:"ids"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return plugin.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	all, err := dimensions(ctx, c.View)
	if err != nil {
		return plugin.ToolResult{}, err
	}
	type shown struct {
		ID      string          `json:"id"`
		Rule    string          `json:"rule"`
		Schema  json.RawMessage `json:"schema,omitempty"`
		Value   json.RawMessage `json:"value"`
		Version int             `json:"version"`
	}
	out := []shown{}
	for i, id := range args.IDs {
		at := slices.IndexFunc(all, func(d assembler.Dimension) bool { return d.ID == id })
		if at < 0 {
			return refuse("ids[%d] %q is no dimension of this session", i, id), nil
		}
		out = append(out, shown{ID: id, Rule: all[at].Rule, Schema: all[at].Schema, Value: all[at].Value, Version: all[at].Version})
	}
	data, err := json.Marshal(map[string]any{"dimensions": out})
	if err != nil {
		return plugin.ToolResult{}, fmt.Errorf("encode rules: %w", err)
	}
	return plugin.ToolResult{Summary: fmt.Sprintf("%d rule(s)", len(out)), Data: data}, nil
}

func initializeWorld(_ context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
	args, err := source.ParseJSON(c.Arguments)
	if err != nil {
		return plugin.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	if problem := attributeProblem(args.Get("attributes")); problem != "" {
		return refuse("%s", problem), nil
	}
	schema := map[string]json.RawMessage{"attributes": args.Get("attributes").JSON()}
	if types := args.Get("types"); types != nil {
		schema["types"] = types.JSON()
	}
	write, err := propose(turn.ProposalCharacterSchemaSet, map[string]any{"schema": schema})
	if err != nil {
		return plugin.ToolResult{}, err
	}
	result := plugin.ToolResult{Proposals: []plugin.ProposedWrite{write}}
	var list []world.Dimension
	seen := map[string]bool{}
	if dims := args.Get("dimensions"); dims != nil {
		for i, n := range dims.Items {
			id := n.Get("id").Str()
			if problems := world.DimensionSchemaProblems(n.Get("schema")); len(problems) > 0 {
				return refuse("dimensions[%d].schema%s %s", i, problems[0].At, problems[0].Text), nil
			}
			if err := world.CheckDimensionValue(n.Get("schema").JSON(), n.Get("initialValue").JSON()); err != nil {
				return refuse("dimensions[%d].initialValue of %q: %v", i, id, err), nil
			}
			if seen[id] {
				return refuse("dimensions[%d].id %q stands twice", i, id), nil
			}
			seen[id] = true
			d := world.Dimension{
				ID: id, Order: i, Name: n.Get("name").JSON(), Description: n.Get("description").JSON(), Schema: n.Get("schema").JSON(),
				InitialValue: n.Get("initialValue").JSON(), Value: n.Get("initialValue").JSON(), Version: 1,
			}
			if strings.TrimSpace(n.Get("updateRule").Str()) != "" {
				d.UpdateRule = n.Get("updateRule").JSON()
			}
			list = append(list, d)
		}
	}
	if len(list) > 0 {
		write, err := propose(turn.ProposalDimensionInitialize, map[string]any{"dimensions": list})
		if err != nil {
			return plugin.ToolResult{}, err
		}
		result.Proposals = append(result.Proposals, write)
	}
	result.Summary = fmt.Sprintf("%d attributes, %d dimensions", len(args.Get("attributes").Items), len(list))
	result.Data = json.RawMessage(`{}`)
	return result, nil
}

// attributeProblem names the first attribute without what its type needs.
func attributeProblem(list *source.Node) string {
	needs := map[string]string{"enum": "options", "object": "subSchema"}
	seen := map[string]bool{}
	for i, a := range list.Items {
		id, typ := a.Get("id").Str(), a.Get("type").Str()
		if need := needs[typ]; need != "" && !a.Has(need) {
			return fmt.Sprintf("attributes[%d] %q: type %s needs %s", i, id, typ, need)
		}
		if seen[id] {
			return fmt.Sprintf("attributes[%d].id %q stands twice", i, id)
		}
		seen[id] = true
	}
	return ""
}
