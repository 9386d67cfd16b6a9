package plugins

import (
	"context"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// registerGuide adds the guide package's tool (spec 05 §15.7).
func registerGuide(h *plugin.Handlers) {
	h.Entries["guide"] = plugin.Registration{}
	h.Tools["guide/generate-guide"] = func(_ context.Context, c plugin.ToolCall) (plugin.ToolResult, error) {
		write, err := propose(turn.ProposalPluginData, dataWrite{Namespace: "scene", Key: "latest", Value: c.Arguments})
		if err != nil {
			return plugin.ToolResult{}, err
		}
		return plugin.ToolResult{Summary: "guide written", Data: c.Arguments, Proposals: []plugin.ProposedWrite{write}}, nil
	}
}
