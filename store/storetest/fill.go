package storetest

import (
	"context"
	"testing"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

// Fill makes a session with at least one row in every table that has a
// session_id, and gives its id.
func Fill(t testing.TB, st store.Store) string {
	t.Helper()
	id := newSession(t, st)
	write(t, st, func(ctx context.Context, tx store.Tx) error { return fill(ctx, tx, id) })
	return id
}

func fill(ctx context.Context, tx store.Tx, id string) error {
	context0 := "context that names " + hashOf("part of "+id) + " and is this long"
	steps := []func() error{
		func() error {
			_, err := tx.AppendMessages(ctx, id, []session.Message{
				{ID: rowID(id, 1), TurnID: "t1", SourceType: session.SourcePlayer, Role: session.RoleUser, Content: "look", UI: object(`{"b": 1}`), CreatedAt: noon},
				{ID: rowID(id, 2), TurnID: "t1", SourceType: session.SourceRuntime, Role: session.RoleAssistant, Content: "fog", CreatedAt: noon},
				{ID: rowID(id, 3), TurnID: "t2", SourceType: session.SourcePlayer, Role: session.RoleUser, Content: "go", CreatedAt: noon},
			})
			return err
		},
		func() error {
			return tx.InsertSummary(ctx, session.Summary{ID: id + "-y", SessionID: id, TurnRangeStart: "t1", TurnRangeEnd: "t1", Content: "it was foggy", FocusSections: []string{"a"}, CreatedAt: noon})
		},
		func() error { return tx.MarkMessages(ctx, id, rowIDs(id, 1, 2), id+"-y") },
		func() error {
			return tx.PutCompactionState(ctx, store.CompactionState{SessionID: id, ConsecutiveFailures: 1, UpdatedAt: noon})
		},
		func() error {
			return tx.InsertCompactionRun(ctx, store.CompactionRun{SessionID: id, ExecutionID: "x", TurnID: "t1", Outcome: "compacted", CreatedAt: noon})
		},
		func() error { return tx.RequestAbort(ctx, id, "x") },
		func() error {
			_, _, err := tx.PutJournal(ctx, store.JournalEntry{SessionID: id, ExecutionID: "x", Kind: "plan", Payload: object("{}"), CreatedAt: noon})
			return err
		},
		func() error { return tx.PutTurnRecord(ctx, turnRecord(id, "t1")) },
		func() error {
			_, _, err := tx.InsertTurnCommit(ctx, store.TurnCommit{SessionID: id, TurnID: "t1", ExecutionID: "x", CountPolicy: "player", Result: object("{}"), CommittedAt: noon})
			return err
		},
		func() error {
			return tx.InsertRuntimeOutput(ctx, store.RuntimeOutput{ID: id + "-o", SessionID: id, TurnID: "t1", Results: object("{}"), Timestamp: noon, CreatedAt: noon})
		},
		func() error {
			return tx.SaveSuspension(ctx, session.Suspension{ID: id + "-c", SessionID: id, TurnID: "t1", Reason: "choice", Payload: object(`{"b": 2}`), CreatedAt: noon})
		},
		func() error {
			_, _, err := tx.AppendTranscript(ctx, store.TranscriptEntry{RunID: id + "-run", SessionID: id, TurnID: "t1", Role: "context", Content: []byte(context0), CreatedAt: noon})
			return err
		},
		func() error {
			part := "part of " + id
			return tx.PutBlobs(ctx, map[string][]byte{hashOf(part): []byte(part)})
		},
		func() error {
			return tx.InsertExport(ctx, store.Export{ID: id + "-e", SessionID: id, PluginID: "p", RuntimeID: "r", ExportKey: "weather", TurnID: "t1", Value: object("1"), CommittedAt: noon})
		},
		func() error {
			return tx.InsertOutbox(ctx, store.OutboxEntry{SessionID: id, ExecutionID: "x", Kind: "job", Payload: object("{}"), CreatedAt: noon})
		},
		func() error {
			_, err := tx.InsertTrace(ctx, store.TraceEvent{ID: id + "-t", SessionID: id, TraceID: "tr", TurnID: "t1", Type: "turn.started", Payload: object("{}"), CreatedAt: noon})
			return err
		},
		func() error {
			return tx.InsertEvent(ctx, store.Event{ID: id + "-ev", SessionID: id, Type: "domain", Topic: "rain", TurnID: "t1", CreatedAt: noon})
		},
		func() error { return tx.PutPluginData(ctx, datum(id, "n", "k", `{"version": 1}`, 0)) },
		func() error { return tx.PutPluginData(ctx, datum(id, store.NamespaceJobs, "j", `{"job": 1}`, 0)) },
		func() error {
			return tx.AppendChunk(ctx, store.StreamChunk{StreamKey: store.StreamKey{SessionID: id, TurnID: "t1", RuntimeID: "r"}, Kind: "text", Text: "fog", CreatedAt: noon})
		},
		func() error {
			return tx.InsertMirrorMessage(ctx, store.MirrorMessage{ID: id + "-mm", SessionID: id, Role: "user", Content: "look", CreatedAt: noon})
		},
		func() error {
			return tx.InsertPlayerInput(ctx, session.PlayerInput{ID: id + "-in", SessionID: id, TurnID: "t1", FormID: "f", Values: object("{}"), CreatedAt: noon})
		},
		func() error {
			return tx.InsertInteraction(ctx, store.Interaction{ID: id + "-ia", SessionID: id, TurnID: "t1", Type: "choice", Timestamp: noon, CreatedAt: noon})
		},
		func() error {
			return tx.PutCharacters(ctx, session.Character{SessionID: id, ID: "hero", Name: "Hero", Type: "player", CreatedAt: noon, UpdatedAt: noon})
		},
		func() error {
			return tx.PutLore(ctx, session.LoreEntry{SessionID: id, ID: "fog", Owner: session.LoreOwner{Kind: session.LoreOwnerWorld}, Content: "fog", Enabled: true, CreatedAt: noon, UpdatedAt: noon})
		},
		func() error {
			_, err := tx.PutMedia(ctx, store.MediaRef{SessionID: id, PluginID: "p", CreatedAt: noon}, "image/png", []byte("picture of "+id))
			return err
		},
		func() error {
			_, err := tx.PutMedia(ctx, store.MediaRef{SessionID: id, PluginID: "p", CreatedAt: noon}, "image/png", []byte("shared picture"))
			return err
		},
		func() error {
			_, err := tx.TakeSnapshot(ctx, id, id+"-sn", store.SnapshotManual, noon)
			return err
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// view is what a reader sees of a session, for comparisons of whole states.
type view struct {
	Session      session.Session
	Messages     []session.Message
	Summaries    []session.Summary
	State        store.CompactionState
	Records      []store.TurnRecord
	Outputs      []store.RuntimeOutput
	Suspensions  []session.Suspension
	Events       []store.Event
	Data         []session.PluginDatum
	Jobs         []session.PluginDatum
	Mirror       []store.MirrorMessage
	Input        session.PlayerInput
	Interactions []store.Interaction
	Characters   []session.Character
	Lore         []session.LoreEntry
	Commit       store.TurnCommit
	Export       store.Export
	Transcript   []store.TranscriptEntry
	Trace        []store.TraceEvent
}

func viewOf(t testing.TB, st store.Store, id string) view {
	t.Helper()
	ctx := t.Context()
	var v view
	v.Session = read[session.Session](t)(st.Session(ctx, id))
	v.Messages = read[[]session.Message](t)(st.Messages(ctx, id))
	v.Summaries = read[[]session.Summary](t)(st.Summaries(ctx, id))
	v.State = read[store.CompactionState](t)(st.CompactionState(ctx, id))
	v.Records = read[[]store.TurnRecord](t)(st.TurnRecords(ctx, id, 99))
	v.Outputs = read[[]store.RuntimeOutput](t)(st.RuntimeOutputs(ctx, id, "t1"))
	v.Suspensions = read[[]session.Suspension](t)(st.Suspensions(ctx, id))
	v.Events = read[[]store.Event](t)(st.Events(ctx, id, ""))
	v.Data = read[[]session.PluginDatum](t)(st.PluginData(ctx, id, "p", "n", "", 99))
	v.Jobs = read[[]session.PluginDatum](t)(st.PluginData(ctx, id, "p", store.NamespaceJobs, "", 99))
	v.Mirror = read[[]store.MirrorMessage](t)(st.MirrorMessages(ctx, id))
	v.Interactions = read[[]store.Interaction](t)(st.Interactions(ctx, id, ""))
	v.Characters = read[[]session.Character](t)(st.Characters(ctx, id))
	v.Lore = read[[]session.LoreEntry](t)(st.Lorebook(ctx, id))
	v.Transcript = read[[]store.TranscriptEntry](t)(st.Transcript(ctx, id+"-run", 0, 99))
	v.Trace = read[[]store.TraceEvent](t)(st.TraceEvents(ctx, id, "", ""))
	var err error
	if v.Input, _, err = st.LatestPlayerInput(ctx, id); err != nil {
		t.Fatal(err)
	}
	if v.Commit, _, err = st.TurnCommit(ctx, id, "t1"); err != nil {
		t.Fatal(err)
	}
	if v.Export, _, err = st.Export(ctx, id, "weather", after(1000)); err != nil {
		t.Fatal(err)
	}
	return v
}
