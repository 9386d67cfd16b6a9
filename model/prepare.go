package model

import (
	"context"
	"errors"
)

// errSkipTarget marks a fallback target that cannot take the request.
var errSkipTarget = errors.New("the target cannot take this request")

// prepare binds the call to one target: settings merged and checked, messages
// validated. Nothing is sent when it fails.
func (c *call) prepare(b *bound, fallback bool) (*Request, error) {
	if c.gateway.config.Adapters[b.target.Protocol] == nil {
		return nil, Configf("slot %s: no adapter for protocol %s in this program", b.target.Slot, b.target.Protocol)
	}
	req := &Request{
		Target: b.target, Model: b.model, Identity: c.params.Identity, Messages: c.params.Messages, Tools: c.params.Tools,
		Schema: c.params.ResponseSchema, Stream: c.onEvent != nil, Fields: &Fields{}, Ceiling: c.budget.Ceiling(),
		Record: &RequestRecord{Provider: b.target.Provider, Protocol: b.target.Protocol, Model: b.target.Model, Origin: origin(b.target.BaseURL)},
	}
	if len(req.Tools) > 0 {
		switch choice := c.params.ToolChoice; {
		case choice.Name != "":
			req.Choice = &Choice{Mode: ChoiceNamed, Name: choice.Name}
		case choice.Required:
			req.Choice = &Choice{Mode: ChoiceRequired}
		case choice.None:
			req.Choice = &Choice{Mode: ChoiceNone}
		default:
			req.Choice = &Choice{Mode: ChoiceAuto}
		}
	}
	return req, nil
}

// bindTransport gives a request its transport chain.
func (g *Gateway) bindTransport(ctx context.Context, _ *call, _ *bound, _ *Request) context.Context {
	return ctx
}
