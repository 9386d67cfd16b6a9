package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// turnDigest is the kernel input turn-digest@1 (spec 05 §3.2).
type turnDigest struct {
	TurnNumber    int    `json:"turnNumber"`
	PlayerMessage string `json:"playerMessage"`
	StoryTexts    []struct {
		RuntimeID string `json:"runtimeId"`
		Text      string `json:"text"`
	} `json:"storyTexts"`
	Events []turn.Event `json:"events"`
}

type extraction struct {
	Blocks map[string]string `json:"blocks"`
	Facts  []struct {
		Text string   `json:"text"`
		Keys []string `json:"keys"`
	} `json:"facts"`
}

// extract asks slot memory what of the turn to remember. An invalid answer gets
// one retry with the repair hint, then the runtime fails without change.
func (m memory) extract(ctx context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
	if m.err != nil {
		return plugin.FunctionResult{}, m.err
	}
	var digest turnDigest
	if err := json.Unmarshal(c.Inputs["digest"].Value, &digest); err != nil {
		return plugin.FunctionResult{}, fmt.Errorf("input digest: %w", err)
	}
	if len(digest.StoryTexts) == 0 {
		return plugin.FunctionResult{Value: json.RawMessage(`{"blocks":[],"facts":0}`)}, nil
	}
	if c.Model == nil {
		return plugin.FunctionResult{}, fmt.Errorf("slot %s: the call has no model gateway", memorySlot)
	}
	definitions, err := m.definitions(ctx, c.View)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	current, err := m.blocks(ctx, c.View)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	messages, err := m.request(c.View, definitions, current, digest)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	found, err := m.ask(ctx, c.View, messages)
	if err != nil {
		return plugin.FunctionResult{}, err
	}
	return m.writes(c.View, definitions, current, digest, found)
}

// request runs from what changes least to what changes most.
func (m memory) request(v plugin.View, definitions []definition, current map[string]memoryBlock, digest turnDigest) ([]model.Message, error) {
	system, err := m.template("extract", string(langOf(v)))
	if err != nil {
		return nil, err
	}
	words := m.texts.words(v)
	var b strings.Builder
	b.WriteString(words("memory.definitions", nil) + "\n<memory-definitions>\n")
	for _, d := range definitions {
		fmt.Fprintf(&b, "- %s | %s | %s (%s)\n", assembler.Escape(d.Key), assembler.Escape(d.Label), assembler.Escape(assembler.Fold(d.Purpose)), words("memory.limit", map[string]string{"n": fmt.Sprint(d.limit())}))
	}
	b.WriteString("</memory-definitions>\n\n" + words("memory.current", nil) + "\n")
	for _, d := range definitions {
		content := current[d.Key].Content
		if strings.TrimSpace(content) == "" {
			content = words("memory.empty", nil)
		}
		fmt.Fprintf(&b, "<memory-block>\n%s\n%s\n</memory-block>\n", assembler.Escape(d.Key), assembler.Escape(content))
	}
	fmt.Fprintf(&b, "\n%s\n<turn>\n", words("memory.turn", nil))
	if strings.TrimSpace(digest.PlayerMessage) != "" {
		fmt.Fprintf(&b, "%s: %s\n\n", words("memory.player", nil), assembler.Escape(digest.PlayerMessage))
	}
	for _, s := range digest.StoryTexts {
		fmt.Fprintf(&b, "%s:\n%s\n", words("memory.story", nil), assembler.Escape(s.Text))
	}
	for _, e := range digest.Events {
		fmt.Fprintf(&b, "%s: %s %s\n", words("memory.events", nil), assembler.Escape(e.Topic), assembler.Escape(string(e.Data)))
	}
	b.WriteString("</turn>")
	return []model.Message{{Role: model.RoleSystem, Content: strings.TrimSpace(system)}, {Role: model.RoleUser, Content: b.String()}}, nil
}

func (m memory) ask(ctx context.Context, v plugin.View, messages []model.Message) (extraction, error) {
	raw, err := fs.ReadFile(files, "memory/schemas/extraction.json")
	if err != nil {
		return extraction{}, fmt.Errorf("schema of the extraction: %w", err)
	}
	schema, err := plugin.CompileSchema(raw)
	if err != nil {
		return extraction{}, err
	}
	params := model.Params{
		Messages: messages, ResponseSchema: raw,
		Identity: model.Identity{SessionID: v.Scope.SessionID, RuntimeID: v.RuntimeID, Turn: v.LogicalTurn, Step: 1, Slot: memorySlot},
	}
	for attempt := 1; ; attempt++ {
		reply, err := v.Model.Call(ctx, memorySlot, params, nil)
		if err != nil {
			return extraction{}, err
		}
		found, err := readExtraction(reply.Text, schema)
		if err == nil {
			return found, nil
		}
		if attempt == 2 {
			return extraction{}, turn.Errorf("memory/extract", turn.CodeOutputSchemaInvalid, "the answer was invalid twice: %w", err)
		}
		hint := m.texts.catalogue.Get(langOf(v), "T23", map[string]string{"error": err.Error()})
		params.Messages = append(params.Messages, model.Message{Role: model.RoleAssistant, Content: reply.Text}, model.Message{Role: model.RoleUser, Content: hint})
		params.Identity.Step++
	}
}

func readExtraction(text string, schema *plugin.Schema) (extraction, error) {
	text = strings.TrimSpace(text)
	if fenced, ok := strings.CutPrefix(text, "```"); ok {
		if _, rest, found := strings.Cut(fenced, "\n"); found {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
		}
	}
	var found extraction
	if err := schema.Validate(json.RawMessage(text)); err != nil {
		return found, err
	}
	err := json.Unmarshal([]byte(text), &found)
	return found, err
}

// writes turns an extraction into rows; a block that is not defined and a text
// that says nothing new are left out.
func (m memory) writes(v plugin.View, definitions []definition, current map[string]memoryBlock, digest turnDigest, found extraction) (plugin.FunctionResult, error) {
	blocks := dataBatch{Namespace: "blocks"}
	changed := []string{}
	for _, d := range definitions {
		content, ok := found.Blocks[d.Key]
		content = strings.TrimSpace(content)
		if !ok || content == current[d.Key].Content {
			continue
		}
		if len([]rune(content)) > d.limit() {
			content = assembler.Cut(content, d.limit()-1, "…")
		}
		value, err := marshal(memoryBlock{Label: d.Label, Content: content})
		if err != nil {
			return plugin.FunctionResult{}, err
		}
		blocks.Entries = append(blocks.Entries, batchEntry{Key: d.Key, Value: value})
		changed = append(changed, d.Key)
	}
	number := max(digest.TurnNumber, v.LogicalTurn, 1)
	facts := dataBatch{Namespace: "facts"}
	for i, f := range found.Facts {
		value, err := marshal(fact{Text: f.Text, Keys: f.Keys, Turn: number})
		if err != nil {
			return plugin.FunctionResult{}, err
		}
		facts.Entries = append(facts.Entries, batchEntry{Key: fmt.Sprintf("fact-%06d-%d", number, i+1), Value: value})
	}
	result := plugin.FunctionResult{}
	for _, batch := range []dataBatch{blocks, facts} {
		if len(batch.Entries) == 0 {
			continue
		}
		write, err := propose(turn.ProposalPluginDataBatch, batch)
		if err != nil {
			return plugin.FunctionResult{}, err
		}
		result.Proposals = append(result.Proposals, write)
	}
	var err error
	result.Value, err = marshal(map[string]any{"blocks": changed, "facts": len(facts.Entries)})
	return result, err
}
