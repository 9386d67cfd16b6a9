package activities

import (
	"context"
	"encoding/json"
	"time"

	"github.com/covel-engine/covel/plugin"
)

// serviceTimeout bounds one provider of a service (spec 05 §4.1).
const serviceTimeout = 10 * time.Second

// services reaches the services of an execution's active plugins.
type services struct {
	a  *Activities
	ex *execution
}

var _ plugin.ServiceCaller = services{}

// Collect asks every provider in id order. One that fails is left out.
func (s services) Collect(ctx context.Context, contract string, input json.RawMessage) ([]plugin.ServiceAnswer, error) {
	var answers []plugin.ServiceAnswer
	for _, service := range s.ex.active.Services(contract) {
		if service.Run == nil {
			continue
		}
		view := s.a.view(s.ex, service.PluginID, "", false)
		view.Services = nil // a service does not ask others in turn
		output, err := bounded(ctx, serviceTimeout, func(ctx context.Context) (json.RawMessage, error) {
			return service.Run(ctx, view, input)
		})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			s.a.cfg.Log.Sugar().Warnw("a service was left out", "session", s.ex.scope.SessionID, "turn", s.ex.scope.TurnID,
				"contract", contract, "provider", service.PluginID, "error", clip(err.Error()))
		default:
			answers = append(answers, plugin.ServiceAnswer{PluginID: service.PluginID, Output: output})
		}
	}
	return answers, nil
}
