// Package worker wires the engine to Temporal: it registers the workflows and
// activities under their names and polls two task queues, one for workflows
// and store work, one for model calls with a concurrency of its own.
//
//	w, err := worker.New(worker.Config{Activities: acts, Temporal: temporalClient})
//	if err != nil {
//		return err
//	}
//	if err := w.Start(); err != nil {
//		return err
//	}
//	defer w.Stop()
//
// Workers are stateless: more machines means more workers.
package worker
