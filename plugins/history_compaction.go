package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/tokens"
)

const compactionSlot = "fast"

// CompactionStrategy gives the default provider of history.compact@2 with the
// bundled prompt files (spec 05 §15.6).
func CompactionStrategy() (*compaction.Strategy, error) {
	root, err := fs.Sub(files, "history-compaction/prompts/server")
	if err != nil {
		return nil, fmt.Errorf("prompts of history-compaction: %w", err)
	}
	return compaction.NewStrategy(compaction.StrategyConfig{Templates: locale.NewLoader(root).Load})
}

// registerHistoryCompaction offers the strategy as an extension: JSON in, JSON
// out, with the call's own model gateway.
func registerHistoryCompaction(h *plugin.Handlers) {
	strategy, err := CompactionStrategy()
	h.Entries["history-compaction"] = plugin.Registration{Extensions: map[string]plugin.ExtensionHandler{
		plugin.PointCompact + "/default": func(ctx context.Context, v plugin.View, input json.RawMessage) (json.RawMessage, error) {
			if err != nil {
				return nil, err
			}
			return compact(ctx, strategy, v, input)
		},
	}}
}

func compact(ctx context.Context, strategy *compaction.Strategy, v plugin.View, input json.RawMessage) (json.RawMessage, error) {
	var in compaction.Input
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("input of %s: %w", compaction.ExtensionPoint, err)
	}
	story, errStory := tokens.New(in.Estimator)
	fast, errFast := tokens.New(in.InputEstimator)
	if err := errors.Join(errStory, errFast); err != nil {
		return nil, err
	}
	use := compaction.Services{Estimator: story, InputEstimator: fast, Reserve: in.ContextWindow - in.InputWindow}
	if v.Model != nil {
		use.Call = func(ctx context.Context, req compaction.Request) (compaction.Reply, error) {
			reply, err := v.Model.Call(ctx, compactionSlot, model.Params{
				Messages:        []model.Message{{Role: model.RoleSystem, Content: req.System}, {Role: model.RoleUser, Content: req.User}},
				MaxOutputTokens: req.MaxOutput,
				Identity:        model.Identity{SessionID: v.Scope.SessionID, RuntimeID: v.PluginID, Turn: v.LogicalTurn, Slot: compactionSlot},
			}, nil)
			if err != nil {
				return compaction.Reply{}, err
			}
			return compaction.Reply{Text: reply.Text, FinishReason: reply.FinishReason}, nil
		}
	}
	out, err := strategy.Compact(ctx, in, use)
	if err != nil || out == nil {
		return json.RawMessage("null"), err
	}
	return json.Marshal(out)
}
