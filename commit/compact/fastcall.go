package compact

import (
	"context"

	"github.com/covel-engine/covel/compaction"
	"github.com/covel-engine/covel/model"
)

// slotFast is the slot of summary requests (spec 02 §1.1).
const slotFast = "fast"

// FastCall makes the model call of a provider's services: slot fast, one
// system prompt and one user message, no tools, the output limit of the
// windows.
func FastCall(caller model.Caller, identity model.Identity, cacheKey string) func(context.Context, compaction.Request) (compaction.Reply, error) {
	identity.Slot = slotFast
	return func(ctx context.Context, req compaction.Request) (compaction.Reply, error) {
		result, err := caller.Call(ctx, slotFast, model.Params{
			Messages: []model.Message{
				{Role: model.RoleSystem, Content: req.System},
				{Role: model.RoleUser, Content: req.User},
			},
			PromptCacheKey: cacheKey, Identity: identity, MaxOutputTokens: req.MaxOutput,
		}, nil)
		if err != nil {
			return compaction.Reply{}, err
		}
		return compaction.Reply{Text: result.Text, FinishReason: result.FinishReason}, nil
	}
}

// SlotOf gives the size of a resolved slot; output is the requested output
// limit, 0 for none.
func SlotOf(t model.Target, output int) compaction.Slot {
	return compaction.Slot{Name: t.Slot, Window: t.ContextWindow, Output: output, MaxOutput: t.MaxOutputTokens}
}
