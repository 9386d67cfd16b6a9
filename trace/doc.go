// Package trace records what an execution did and answers questions about it:
// trace events, the exact requests that models were sent, and how much of
// each turn's first request a provider's prefix cache could reuse.
//
// Events are rows of one numbered log per trace. Their ids follow from what
// they are about, never from an attempt, so a repeated activity records
// nothing twice (spec 02 §18):
//
//	rec, err := trace.NewRecorder(trace.Config{Store: st})
//	err = rec.Record(ctx, trace.Event{Scope: scope, Type: trace.RuntimeStarted, Key: "narrator", Payload: p})
//
// Inside a transaction of its own, the commit uses Insert instead.
//
// A request is kept as the parts that are new in it; everything else refers to
// an earlier request of the same runtime. It comes back byte for byte:
//
//	err = rec.RecordRequest(ctx, trace.Request{Scope: scope, RuntimeID: "narrator", Step: 1, Records: result.Records})
//	m := trace.NewMeasurement(estimator) // spec 01 §17
//	for call, err := range trace.Calls(ctx, st, sessionID) {
//		if err != nil {
//			return err
//		}
//		m.Add(&call)
//	}
//	fmt.Print(m.Report().Table())
package trace
