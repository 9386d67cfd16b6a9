// Package model is how an assembled prompt becomes one provider request, and
// the answer a result (spec 04).
//
// A slot of llm.toml routes a use ("story", "fast") to a provider and a model.
// The Gateway takes one logical call on one slot, follows the slot's fallback
// chain, keeps one budget over every attempt and hands each target to the
// adapter of its wire protocol. Adapters live in sub-packages; package
// providers joins all of them:
//
//	slots, err := model.LoadSlots("llm.toml")
//	if err != nil {
//		return err // CONFIG_ERROR: names file, line, field and value
//	}
//	gateway, err := model.NewGateway(model.Config{
//		Adapters: map[string]model.Adapter{model.ProtocolScripted: storyteller},
//		Slots:    slots,
//	})
//	if err != nil {
//		return err
//	}
//	reply, err := gateway.Call(ctx, "story", model.Params{
//		Messages: []model.Message{{Role: model.RoleUser, Content: "I open the door"}},
//	}, func(d model.Delta) { fmt.Print(d.Text) })
//
// Rules that hold everywhere:
//
//   - A failure is a *Error. CONFIG_ERROR means that nothing was sent.
//   - What a protocol or a model lacks is dropped with a Warning in the result.
//   - Messages and tools of the caller are never modified.
//   - Equal inputs give equal request bytes; caches of providers depend on it.
//   - Keys are asked for right before sending and stand in no error, record or
//     result.
package model
