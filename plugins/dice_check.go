package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/world"
)

// maxModifier bounds the sum of all modifiers of a check.
const maxModifier = 5

// thresholds by difficulty.
var thresholds = map[string]int{"easy": 8, "normal": 11, "hard": 15}

// registerDiceCheck adds the dice-check package's code (spec 05 §15.9).
func registerDiceCheck(h *plugin.Handlers) {
	h.Entries["dice-check"] = plugin.Registration{}
	h.Guards["dice-check/roller-guard"] = func(_ context.Context, c plugin.FunctionCall) (plugin.GuardResult, error) {
		if strings.TrimSpace(c.PlayerMessage) == "" {
			return plugin.GuardResult{Skip: true, Value: json.RawMessage(`{"applies":false}`)}, nil
		}
		return plugin.GuardResult{}, nil
	}
	h.Functions["dice-check/roller"] = rollCheck
	h.Tools["dice-check/record-check"] = recordCheck
}

// check is the value of contract action-check@1.
type check struct {
	Applies   bool     `json:"applies"`
	Roll      int      `json:"roll"`
	Modifier  int      `json:"modifier"`
	Threshold int      `json:"threshold"`
	Outcome   string   `json:"outcome"`
	Reveals   []string `json:"reveals"`
}

type modifierRow struct {
	Keys     []string `json:"keys"`
	Modifier int      `json:"modifier"`
	Reveal   string   `json:"reveal"`
}

// roll is 1 to 20 and follows from session and turn alone, so that a repeated
// turn rolls the same.
func roll(sessionID, turnID string) int {
	sum := sha256.Sum256([]byte(sessionID + "\n" + turnID))
	return 1 + int(binary.BigEndian.Uint64(sum[:8])%20)
}

func rollCheck(ctx context.Context, c plugin.FunctionCall) (plugin.FunctionResult, error) {
	result := check{Applies: true, Roll: roll(c.Scope.SessionID, c.Scope.TurnID), Threshold: difficulty(c.UserSettings), Reveals: []string{}}
	for _, namespace := range []string{"modifiers", "_hidden.modifiers"} {
		all, err := rows(ctx, c.Data, namespace)
		if err != nil {
			return plugin.FunctionResult{}, err
		}
		for _, row := range all {
			var m modifierRow
			if err := json.Unmarshal(row.Value, &m); err != nil {
				return plugin.FunctionResult{}, fmt.Errorf("row %s of %s: %w", row.Key, namespace, err)
			}
			if !world.AnyKeyMatches(m.Keys, c.PlayerMessage) {
				continue
			}
			result.Modifier += m.Modifier
			if m.Reveal != "" {
				result.Reveals = append(result.Reveals, m.Reveal)
			}
		}
	}
	result.Modifier = min(max(result.Modifier, -maxModifier), maxModifier)
	switch {
	case result.Roll == 1:
		result.Outcome = "fumble"
	case result.Roll == 20:
		result.Outcome = "critical"
	case result.Roll+result.Modifier >= result.Threshold:
		result.Outcome = "success"
	default:
		result.Outcome = "failure"
	}
	value, err := json.Marshal(result)
	return plugin.FunctionResult{Value: value}, err
}

func difficulty(settings json.RawMessage) int {
	var s struct {
		Difficulty string `json:"difficulty"`
	}
	if json.Unmarshal(settings, &s) == nil {
		if t, ok := thresholds[s.Difficulty]; ok {
			return t
		}
	}
	return thresholds["normal"]
}

// recordCheck writes the next row of the log, check-1, check-2, ….
func recordCheck(ctx context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
	var args struct {
		Action  string `json:"action"`
		Outcome string `json:"outcome"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return plugin.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	stored, err := rows(ctx, c.Data, "log")
	if err != nil {
		return plugin.ToolResult{}, err
	}
	n := len(stored) + 1
	for _, p := range c.Pending {
		if p.Type == turn.ProposalPluginData {
			n++
		}
	}
	value, err := json.Marshal(struct {
		Action  string `json:"action"`
		Outcome string `json:"outcome"`
		Turn    int    `json:"turn"`
	}{args.Action, args.Outcome, c.LogicalTurn})
	if err != nil {
		return plugin.ToolResult{}, fmt.Errorf("encode log row: %w", err)
	}
	key := fmt.Sprintf("check-%d", n)
	write, err := propose(turn.ProposalPluginData, dataWrite{Namespace: "log", Key: key, Value: value})
	if err != nil {
		return plugin.ToolResult{}, err
	}
	return plugin.ToolResult{Summary: "recorded " + key, Data: value, Proposals: []plugin.ProposedWrite{write}}, nil
}
