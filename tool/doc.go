// Package tool answers tool calls (spec 05 §11, spec 03 §11.3): the builtin
// tools with their schemas, which tools a runtime has and a request offers,
// the checks of a call in their order, the result envelope, and bounds for
// everything that comes from outside.
//
//	reg, err := tool.NewRegistry(tool.Config{})
//	set := reg.ForRuntime(rt, active)
//	request.Tools = set.Offered(set.Loaded(transcript))
//	…
//	out := set.Run(ctx, tool.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, View: view, World: world})
//	transcript = append(transcript, toolMessage(c.ID, out.Result))
//	buffer(out.Proposals, out.Events) // they take effect only with the commit
//
// A builtin tool reads the call's View and World and answers proposals; it
// writes nothing. What earlier calls of the run have buffered lies over what it
// reads, because the model was told to treat a staged write as done.
//
// Run never fails: a panic, a hanging handler, an oversized result and a
// cancelled context are outcomes with a code that the model reads.
package tool
