package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// appendJournal writes the session's rows in the order of spec 03 §10.1: the
// player's input, the interjections read, one row a successful runtime, the
// shown pictures.
func (a *application) appendJournal(ctx context.Context) error {
	rows := a.playerRows()
	for i := range a.applied {
		rows = append(rows, a.runtimeRows(&a.applied[i])...)
	}
	pictures, err := a.pictureRows()
	if err != nil {
		return err
	}
	rows = append(rows, pictures...)
	if len(rows) == 0 {
		return nil
	}
	_, err = a.tx.AppendMessages(ctx, a.plan.SessionID, rows)
	return err
}

// row makes one row. All rows carry the turn they belong to, which for a
// resume is the suspended one (spec 03 §12.4).
func (a *application) row(role session.Role, source session.SourceType, content string, id ...string) session.Message {
	turnID := a.plan.TurnID
	if a.plan.Origin == turn.OriginResume && a.plan.ParentTurnID != "" {
		turnID = a.plan.ParentTurnID
	}
	return session.Message{
		ID: a.plan.id("msg", id...), SessionID: a.plan.SessionID, TurnID: turnID,
		SourceType: source, Role: role, Content: content, CreatedAt: a.plan.Now,
	}
}

func (a *application) playerRows() []session.Message {
	var rows []session.Message
	if a.plan.JournalPlayer && strings.TrimSpace(a.plan.PlayerMessage) != "" {
		rows = append(rows, a.row(session.RoleUser, session.SourcePlayer, a.plan.PlayerMessage, "player"))
	}
	for i, text := range a.plan.Interjections {
		rows = append(rows, a.row(session.RoleUser, session.SourcePlayer, text, "interjection", strconv.Itoa(i)))
	}
	return rows
}

// runtimeRows gives a successful result's row and the story text it appended.
// A manual run leaves only the request for the player's input. A concealed
// runtime leaves nothing in the conversation (spec 03 §18).
func (a *application) runtimeRows(done *applied) []session.Message {
	r := done.result
	if r.Status != turn.RuntimeSuccess {
		return nil
	}
	rt := a.plan.Runtimes[r.RuntimeID]
	concealed := rt != nil && rt.IO.Concealed
	manual := a.plan.Origin == turn.OriginManual
	var rows []session.Message
	content := ""
	if !manual && !concealed {
		content = rowContent(r.Output)
	}
	if !manual && !concealed || len(done.interactions) > 0 {
		row := a.row(session.RoleAssistant, session.SourceRuntime, content, "runtime", r.ID, r.RuntimeID)
		row.Name, row.SourcePluginID, row.SourceRuntimeID = r.RuntimeID, r.PluginID, r.RuntimeID
		row.PendingInput = pendingInput(done.interactions)
		rows = append(rows, row)
	}
	for i, n := range done.narratives {
		row := a.row(session.RoleAssistant, session.SourceNarrative, n.Text, "narrative", r.ID, strconv.Itoa(i))
		row.Name, row.SourcePluginID, row.SourceRuntimeID = n.Name, r.PluginID, r.RuntimeID
		rows = append(rows, row)
	}
	return rows
}

// rowContent is the first of narrativeOutput, content and the output's JSON.
func rowContent(output json.RawMessage) string {
	var out struct {
		NarrativeOutput *string `json:"narrativeOutput"`
		Content         *string `json:"content"`
	}
	if isObject(output) && json.Unmarshal(output, &out) == nil {
		switch {
		case out.NarrativeOutput != nil:
			return *out.NarrativeOutput
		case out.Content != nil:
			return *out.Content
		}
	}
	if len(output) == 0 || string(output) == "null" {
		return ""
	}
	return string(output)
}

// pendingInput is the list of a runtime's committed interactions.
func pendingInput(interactions []json.RawMessage) json.RawMessage {
	if len(interactions) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, raw := range interactions {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(raw)
	}
	b.WriteByte(']')
	return json.RawMessage(b.String())
}

func (a *application) pictureRows() ([]session.Message, error) {
	if a.plan.Checks.PictureText == nil {
		return nil, nil
	}
	var rows []session.Message
	for _, done := range a.applied {
		for i, p := range done.pictures {
			ui, err := json.Marshal(p.ui)
			if err != nil {
				return nil, err
			}
			row := a.row(session.RoleUser, session.SourceSystem, a.plan.Checks.PictureText(p.description),
				"picture", done.result.ID, done.result.RuntimeID, strconv.Itoa(i))
			row.SourcePluginID, row.SourceRuntimeID, row.UI = done.result.PluginID, done.result.RuntimeID, ui
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (a *application) saveSuspensions(ctx context.Context) error {
	for _, s := range a.plan.Suspensions {
		if a.dropped(s.RuntimeID) {
			continue
		}
		if err := a.tx.SaveSuspension(ctx, s); err != nil {
			return err
		}
		a.out.Suspensions = append(a.out.Suspensions, s.ID)
	}
	return nil
}

// publishExports stores the recordAs values. A store failure loses that export
// only; an output without a schema rolls everything back.
func (a *application) publishExports(ctx context.Context) error {
	for _, done := range a.applied {
		r := done.result
		rt := a.plan.Runtimes[r.RuntimeID]
		if rt == nil || rt.IO.Output.RecordAs == "" || r.Status != turn.RuntimeSuccess {
			continue
		}
		if len(rt.IO.Output.Schema) == 0 && rt.IO.Output.Contract == "" {
			return failf(turn.CodeCommitFailed, "export %q of %q: io.output declares neither schema nor contract",
				rt.IO.Output.RecordAs, r.RuntimeID)
		}
		value := r.Value()
		err := a.tx.Savepoint(ctx, func(ctx context.Context) error {
			return a.tx.InsertExport(ctx, store.Export{
				ID: a.plan.id("export", r.ID, r.RuntimeID), SessionID: a.plan.SessionID, PluginID: r.PluginID,
				RuntimeID: r.RuntimeID, ExportKey: rt.IO.Output.RecordAs, TurnID: a.plan.TurnID, Value: value, CommittedAt: a.plan.Now,
			})
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			a.out.FailedExports = append(a.out.FailedExports, Isolated{r.RuntimeID, err.Error()})
		}
	}
	return nil
}

// writeLedger counts the runtimes that were triggered and succeeded (spec 03 §4.2).
func (a *application) writeLedger(ctx context.Context) error {
	targets := make(map[string]bool, len(a.plan.Targets))
	for _, id := range a.plan.Targets {
		targets[id] = true
	}
	for _, done := range a.applied {
		id := done.result.RuntimeID
		if done.result.Status != turn.RuntimeSuccess || targets[id] {
			continue
		}
		entry := TriggerEntry{}
		row, err := a.tx.PluginDatum(ctx, a.plan.SessionID, PluginTriggers, NamespaceTriggers, id)
		switch {
		case err == nil:
			if err := json.Unmarshal(row.Value, &entry); err != nil {
				return fmt.Errorf("trigger ledger of %q: %w", id, err)
			}
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		entry.Count++
		entry.LastTurn = a.plan.LogicalTurn
		value, err := json.Marshal(entry)
		if err != nil {
			return err
		}
		if err := a.put(ctx, PluginTriggers, NamespaceTriggers, id, value, 0); err != nil {
			return err
		}
	}
	return nil
}

func (a *application) runHostWrites(ctx context.Context) error {
	dropped := a.out.Dropped()
	for _, write := range a.plan.HostWrites {
		if err := write(ctx, a.tx, dropped); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return failf(turn.CodeCommitFailed, "host write: %v", err)
		}
	}
	return nil
}

func (a *application) resolveSuspension(ctx context.Context) error {
	if a.plan.Resolve == nil {
		return nil
	}
	return a.tx.ResolveSuspension(ctx, a.plan.Resolve.SuspensionID, a.plan.Resolve.Token, a.plan.Now)
}

// OutboxJob is the kind of a queued job in the outbox.
const OutboxJob = "job"

// fillOutbox queues jobs and notifications, to be sent after the commit.
func (a *application) fillOutbox(ctx context.Context) error {
	seq := 0
	queue := func(kind string, payload json.RawMessage) error {
		err := a.tx.InsertOutbox(ctx, store.OutboxEntry{
			SessionID: a.plan.SessionID, ExecutionID: a.plan.ExecutionID, Seq: seq, Kind: kind, Payload: payload, CreatedAt: a.plan.Now,
		})
		seq++
		return err
	}
	if !a.plan.suspended() {
		for _, job := range a.plan.Jobs {
			if a.withoutGround(job) {
				continue
			}
			if err := queue(OutboxJob, job.Payload); err != nil {
				return err
			}
			a.out.Jobs++
		}
	}
	for _, n := range a.notifications() {
		if err := queue("notification", n); err != nil {
			return err
		}
	}
	return nil
}

func (a *application) withoutGround(job Job) bool {
	if a.dropped(job.RuntimeID) {
		return true
	}
	for _, emitter := range job.Emitters {
		if !a.dropped(emitter) {
			return false
		}
	}
	return len(job.Emitters) > 0
}

func (a *application) notifications() []json.RawMessage {
	all := a.plan.Notifications
	for i := range a.plan.Results {
		r := &a.plan.Results[i]
		if r.Status == turn.RuntimeSuccess && !a.dropped(r.RuntimeID) {
			all = append(slices.Clip(all), a.writes[i].notifications...)
		}
	}
	return all
}

// writeTraces gathers the events of the kept results in stored order and
// writes their trace rows.
func (a *application) writeTraces(ctx context.Context) error {
	var events []trace.Event
	for _, done := range a.applied {
		a.out.Events = append(a.out.Events, done.events...)
		events = append(events, done.traces...)
	}
	for i, n := range a.notifications() {
		a.out.Events = append(a.out.Events, Event{
			ID: a.plan.id("event", "notification", strconv.Itoa(i)), Type: EventSessionNotice, Payload: n,
		})
	}
	events = append(events, proposalFailures(a.plan, a.out.FailedProposals)...)
	events = append(events, a.endEvents()...)
	return trace.Insert(ctx, a.tx, a.plan.Now, events...)
}

// takeSnapshot takes the automatic snapshot in a savepoint.
func (a *application) takeSnapshot(ctx context.Context) error {
	if a.plan.Snapshot == nil {
		return nil
	}
	err := a.tx.Savepoint(ctx, func(ctx context.Context) error { return a.plan.Snapshot(ctx, a.tx) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.out.SnapshotFailed = err.Error()
	}
	return nil
}
