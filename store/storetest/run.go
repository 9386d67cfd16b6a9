package storetest

import (
	"testing"

	"github.com/covel-engine/covel/store"
)

// Run runs every rule. Open gives an empty, migrated store and closes it with
// the test; it is called once for each group of rules.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for _, group := range []struct {
		name string
		test func(t *testing.T, st store.Store)
	}{
		{"Sessions", testSessions},
		{"Values", testValues},
		{"Transactions", testTransactions},
		{"Cancellation", testCancellation},
		{"Messages", testMessages},
		{"Marks", testMarks},
		{"Summaries", testSummaries},
		{"TurnRecords", testTurnRecords},
		{"Commits", testCommits},
		{"Journal", testJournal},
		{"ExportsAndOutbox", testExportsAndOutbox},
		{"Continuations", testContinuations},
		{"Transcripts", testTranscripts},
		{"PluginData", testPluginData},
		{"Projection", testProjection},
		{"World", testWorld},
		{"Trace", testTrace},
		{"Streams", testStreams},
		{"Property of streams", testStreamProperty},
		{"Property of marks", testMarkProperty},
		{"Media", testMedia},
		{"Tables for clients", testClientTables},
		{"Access", testAccess},
		{"Snapshots", testSnapshots},
		{"Deletion", testDeletion},
		{"Sweep", testSweep},
		{"Notifier", testNotifier},
		{"Schema", testSchema},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			group.test(t, open(t))
		})
	}
}
