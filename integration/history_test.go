package integration_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/historysize"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
)

// The bars of the design: bytes of payloads in a turn's histories.
const (
	modelCallBar = 2 << 10
	toolCallBar  = 1 << 10
	besidesBar   = 16 << 10
)

var record = flag.String("record", "", "directory to write the histories of TestHistoryBars to, for package worker's replay test")

// weight is what one turn's histories carry.
type weight struct {
	modelCalls []int64
	toolCalls  []int64
	besides    int64
}

func (w *weight) total() int64 {
	total := w.besides
	for _, n := range append(append([]int64{}, w.modelCalls...), w.toolCalls...) {
		total += n
	}
	return total
}

// TestHistoryBars measures real histories, with a young session and with one
// of 2,000 messages: nothing large crosses Temporal and nothing grows.
func TestHistoryBars(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.worker("")
	young := r.newSession("young")
	opening := r.start(young.ID, "young-1", "I look around")
	r.wait(opening)
	r.record(t, opening)
	h := r.start(young.ID, "young-2", "I light the lamp")
	r.wait(h)
	first := r.weigh(t, h)
	first.check(t, "young session")
	r.record(t, h)

	old := r.newSession("old")
	r.play(old.ID, "old-1", "I look around")
	r.fill(old.ID, 2000)
	h = r.start(old.ID, "old-2", "I light the lamp")
	r.wait(h)
	last := r.weigh(t, h)
	last.check(t, "session of 2,000 messages")
	if grown := last.total() - first.total(); grown > 256 {
		t.Errorf("a session of 2,000 messages adds %d payload bytes to a turn's history", grown)
	}
	t.Logf("payload bytes of a turn: model calls %v, tool calls %v, besides %d", last.modelCalls, last.toolCalls, last.besides)
}

func (w *weight) check(t *testing.T, what string) {
	t.Helper()
	if len(w.modelCalls) == 0 || len(w.toolCalls) == 0 {
		t.Errorf("%s: %d model calls and %d tool calls were seen", what, len(w.modelCalls), len(w.toolCalls))
	}
	for _, n := range w.modelCalls {
		if n > modelCallBar {
			t.Errorf("%s: a model call carries %d payload bytes; at most %d", what, n, modelCallBar)
		}
	}
	for _, n := range w.toolCalls {
		if n > toolCallBar {
			t.Errorf("%s: a tool call carries %d payload bytes; at most %d", what, n, toolCallBar)
		}
	}
	if w.besides > besidesBar {
		t.Errorf("%s: besides calls a turn carries %d payload bytes; at most %d", what, w.besides, besidesBar)
	}
}

// weigh reads the histories of a turn and its stages.
func (r *rig) weigh(t *testing.T, h *client.Handle) weight {
	t.Helper()
	var w weight
	for _, events := range r.histories(t, h) {
		w.add(t, events)
	}
	return w
}

// histories gives a turn's history and those of its stages.
func (r *rig) histories(t *testing.T, h *client.Handle) [][]*historypb.HistoryEvent {
	t.Helper()
	events, err := historysize.Events(t.Context(), r.temporal, turn.WorkflowID(h.SessionID), h.RunID)
	must(t, err)
	all := [][]*historypb.HistoryEvent{events}
	for _, e := range events {
		if a := e.GetChildWorkflowExecutionStartedEventAttributes(); a != nil {
			child, err := historysize.Events(t.Context(), r.temporal, a.GetWorkflowExecution().GetWorkflowId(), a.GetWorkflowExecution().GetRunId())
			must(t, err)
			all = append(all, child)
		}
	}
	return all
}

// record writes a turn's histories where -record says, relative to the module.
func (r *rig) record(t *testing.T, h *client.Handle) {
	t.Helper()
	if *record == "" {
		return
	}
	dir := filepath.Join("..", *record)
	must(t, os.MkdirAll(dir, 0o750))
	for i, events := range r.histories(t, h) {
		text, err := protojson.MarshalOptions{Indent: " "}.Marshal(&historypb.History{Events: events})
		must(t, err)
		writeFile(t, dir, fmt.Sprintf("%s-%d.json", h.TurnID, i), string(text)+"\n")
	}
}

func (w *weight) add(t *testing.T, events []*historypb.HistoryEvent) {
	t.Helper()
	type call struct {
		activity string
		bytes    int64
	}
	calls := map[int64]*call{} // by scheduled event
	for _, e := range events {
		n := historysize.Payloads(e)
		switch {
		case e.GetWorkflowExecutionStartedEventAttributes().GetParentWorkflowExecution() == nil &&
			e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			// The player's text comes in with the Turn's input and is excepted.
			for _, p := range e.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads() {
				n -= int64(len(p.GetData()))
			}
			w.besides += n
		case e.GetActivityTaskScheduledEventAttributes() != nil:
			calls[e.GetEventId()] = &call{e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName(), n}
		case scheduledBy(e) != 0:
			calls[scheduledBy(e)].bytes += n
		case markerOf(t, e) == turn.ActivityRunTool:
			w.toolCalls = append(w.toolCalls, n)
		default:
			w.besides += n
		}
	}
	for _, e := range events { // in the order of the history
		c, ok := calls[e.GetEventId()]
		switch {
		case !ok:
		case c.activity == turn.ActivityCallModel:
			w.modelCalls = append(w.modelCalls, c.bytes)
		case c.activity == turn.ActivityRunTool:
			w.toolCalls = append(w.toolCalls, c.bytes)
		default:
			w.besides += c.bytes
		}
	}
}

func scheduledBy(e *historypb.HistoryEvent) int64 {
	return max(
		e.GetActivityTaskStartedEventAttributes().GetScheduledEventId(),
		e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId(),
		e.GetActivityTaskFailedEventAttributes().GetScheduledEventId(),
		e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId(),
	)
}

// markerOf gives the activity of a local activity's marker.
func markerOf(t *testing.T, e *historypb.HistoryEvent) string {
	t.Helper()
	details := e.GetMarkerRecordedEventAttributes().GetDetails()["data"]
	if details == nil {
		return ""
	}
	var data struct{ ActivityType string }
	if err := converter.GetDefaultDataConverter().FromPayloads(details, &data); err != nil {
		return "" // another kind of marker
	}
	return data.ActivityType
}

// fill puts messages into a session's log, as if it were old.
func (r *rig) fill(sessionID string, n int) {
	r.t.Helper()
	rows := make([]session.Message, n)
	for i := range rows {
		rows[i] = session.Message{
			ID: fmt.Sprintf("%s-old-%d", sessionID, i), TurnID: fmt.Sprintf("%s-old-%d", sessionID, i/2),
			SourceType: session.SourcePlayer, Role: session.RoleUser, CreatedAt: time.Now(),
			Content: strings.Repeat("The tide turns and the lamp burns low. ", 7),
		}
		if i%2 == 1 {
			rows[i].SourceType, rows[i].Role, rows[i].SourcePluginID, rows[i].SourceRuntimeID = session.SourceRuntime, session.RoleAssistant, "narrator", "narrator"
		}
	}
	must(r.t, r.store.WithTx(r.t.Context(), func(ctx context.Context, tx store.Tx) error {
		_, err := tx.AppendMessages(ctx, sessionID, rows)
		return err
	}))
}
