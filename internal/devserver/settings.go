package devserver

import (
	"time"

	"go.temporal.io/server/common/dynamicconfig"
)

const queueReadsPerSecond = 1000

// dynamicConfig is the server's run-time configuration: one machine, few
// users, and a turn's latency before throughput.
func dynamicConfig() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		// Priorities and fairness keys of DESIGN §3.2.
		dynamicconfig.MatchingEnableFairness.Key(): true,
		dynamicconfig.MatchingUseNewMatcher.Key():  true,

		// A worker may start the activities of the workflow task that it
		// finishes, without their way through a task queue.
		dynamicconfig.EnableActivityEagerExecution.Key(): true,

		// One partition a task queue: a poller and a task always meet at
		// once, without forwarding between partitions.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,

		// How often a second each shard reads its queues. The default of 20
		// makes the transitions of a busy workflow wait for the next
		// twentieth of a second.
		dynamicconfig.TransferProcessorMaxPollRPS.Key():   queueReadsPerSecond,
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      queueReadsPerSecond,
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): queueReadsPerSecond,
		dynamicconfig.OutboundProcessorMaxPollRPS.Key():   queueReadsPerSecond,

		// A caller who waits for a workflow's end is told of each event
		// through a channel of one place; events that come faster than the
		// waiter runs are dropped, the last one too, and the waiter then
		// sleeps until the long poll ends. The default is 20 s.
		dynamicconfig.HistoryLongPollExpirationInterval.Key(): 100 * time.Millisecond,

		// A worker that stops gives its polls back at once, so no task is
		// handed to it and lost until a timeout.
		dynamicconfig.EnableCancelWorkerPollsOnShutdown.Key(): true,

		// The default of 10 list calls a second is for shared clusters.
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 1000,

		// Children are ended by their parent's shard. The system worker that
		// would do it for parents of many children is never stopped by the
		// server: its open polls hold every Stop for a second, and it goes
		// on polling afterwards.
		dynamicconfig.EnableParentClosePolicyWorker.Key(): false,

		// Standard housekeeping for clusters that lose data between stores;
		// with one SQLite file there is nothing to find, and their system
		// workflows take time from the start of every server.
		dynamicconfig.HistoryScannerEnabled.Key():   false,
		dynamicconfig.TaskQueueScannerEnabled.Key(): false,
	}
}
