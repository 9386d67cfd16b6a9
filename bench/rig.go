package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/historysize"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model/providers"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/worker"
	"github.com/covel-engine/covel/world"
	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	temporal "go.temporal.io/sdk/client"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

// rig is a server process, and a worker, store and client in this process.
type rig struct {
	dir      string
	server   *exec.Cmd
	temporal temporal.Client
	store    *countedStore
	hub      *stream.Hub
	worker   *worker.Worker
	client   *client.Client
}

func newRig(ctx context.Context, binary string, memory bool) (r *rig, err error) {
	r = &rig{}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.dir, err = os.MkdirTemp("", "covel-bench-"); err != nil {
		return r, err
	}
	address, err := r.startServer(ctx, binary, memory)
	if err != nil {
		return r, err
	}
	log := worker.NewLogger(zap.NewNop())
	if r.temporal, err = temporal.DialContext(ctx, temporal.Options{HostPort: address, Logger: log}); err != nil {
		return r, err
	}
	return r, r.startWorker(ctx)
}

// startServer builds covel and starts the embedded server on files.
func (r *rig) startServer(ctx context.Context, binary string, memory bool) (address string, err error) {
	if binary == "" {
		binary = filepath.Join(r.dir, "covel")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/covel")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build covel: %w\n%s", err, out)
		}
	}
	args := []string{"dev", "--no-worker", "--json", "--data", filepath.Join(r.dir, "temporal")}
	if memory {
		args = append(args, "--memory")
	}
	r.server = exec.CommandContext(ctx, binary, args...)
	r.server.Stderr = os.Stderr
	out, err := r.server.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := r.server.Start(); err != nil {
		return "", err
	}
	var ready struct {
		Temporal string `json:"temporal"`
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return "", fmt.Errorf("the server did not start: %w", err)
	}
	return ready.Temporal, json.Unmarshal(line, &ready)
}

func (r *rig) startWorker(ctx context.Context) error {
	db, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(r.dir, "bench.db")})
	if err != nil {
		return err
	}
	r.store = &countedStore{Store: db}
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	if r.hub, err = stream.NewHub(stream.Config{Store: r.store}); err != nil {
		return err
	}
	gen, findings, err := plugin.Load(plugin.Config{Bundled: benchPlugin(), Handlers: benchHandlers()})
	if err != nil {
		return err
	}
	for _, f := range findings {
		fmt.Fprintln(os.Stderr, f)
	}
	lib, _, err := world.Load(world.Config{})
	if err != nil {
		return err
	}
	gateway, _, err := providers.New(providers.Config{Getenv: func(string) string { return "" }})
	if err != nil {
		return err
	}
	texts, err := locale.Load()
	if err != nil {
		return err
	}
	acts, err := activities.New(activities.Config{Library: lib, Model: gateway, Plugins: gen, Store: r.store, Streams: r.hub, Texts: texts})
	if err != nil {
		return err
	}
	if r.worker, err = worker.New(worker.Config{Activities: acts, EagerModelCalls: true, Temporal: r.temporal}); err != nil {
		return err
	}
	if err := r.worker.Start(); err != nil {
		return err
	}
	r.client, err = client.New(client.Config{Store: r.store, Streams: r.hub, Temporal: r.temporal})
	return err
}

func (r *rig) close() {
	if r.worker != nil {
		r.worker.Stop()
	}
	if r.hub != nil {
		r.hub.Close()
	}
	if r.temporal != nil {
		r.temporal.Close()
	}
	if r.store != nil {
		_ = r.store.Close()
	}
	if r.server != nil && r.server.Process != nil {
		_ = r.server.Process.Signal(syscall.SIGTERM)
		_ = r.server.Wait()
	}
	_ = os.RemoveAll(r.dir)
}

// session makes a session whose log has the given number of messages.
func (r *rig) session(ctx context.Context, messages int) (string, error) {
	id := uuid.NewString()
	now := time.Now()
	err := r.store.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		err := tx.InsertSession(ctx, session.Session{
			ID: id, WorldID: "bench", Status: session.StatusActive, Phase: session.PhasePlaying, Locale: "en",
			ActivePlugins: []string{"bench"}, CreatedAt: now, UpdatedAt: now,
		})
		if err != nil || messages == 0 {
			return err
		}
		rows := make([]session.Message, messages)
		for i := range rows {
			rows[i] = session.Message{
				ID: fmt.Sprintf("%s-%d", id, i), TurnID: fmt.Sprintf("old-%d", i/2), SourceType: session.SourcePlayer, Role: session.RoleUser,
				Content: fmt.Sprintf("%d. %s", i, strings.Repeat("The tide turns and the lamp burns low over the harbour. ", 5)), CreatedAt: now,
			}
		}
		_, err = tx.AppendMessages(ctx, id, rows)
		return err
	})
	return id, err
}

// turn plays one turn and checks that all nine runtimes did their work.
func (r *rig) turn(ctx context.Context, sessionID string) (*client.Handle, error) {
	h, err := r.client.StartTurn(ctx, client.StartTurn{Session: sessionID, Message: "I wait for the tide"})
	if err != nil {
		return nil, err
	}
	outcome, err := h.Wait(ctx)
	if err != nil {
		return nil, err
	}
	if outcome.Status != turn.StatusCommitted || len(outcome.Runtimes) != stages*runtimes {
		return nil, fmt.Errorf("turn ended %s with %d runtimes: %+v", outcome.Status, len(outcome.Runtimes), outcome.Error)
	}
	for _, rt := range outcome.Runtimes {
		if rt.Status != turn.RuntimeSuccess || rt.ToolCalls != 1 {
			return nil, fmt.Errorf("runtime %s: %s, %d tool calls, %+v", rt.ID, rt.Status, rt.ToolCalls, rt.Error)
		}
	}
	return h, nil
}

// storeBytes is the size of the store's files.
func (r *rig) storeBytes() int64 {
	var total int64
	for _, name := range []string{"bench.db", "bench.db-wal"} {
		if info, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			total += info.Size()
		}
	}
	return total
}

// measureHistory sums the histories of a turn and its stages: all bytes, those
// of payloads alone, and workflow tasks.
func (r *rig) measureHistory(ctx context.Context, h *client.Handle, out *row) error {
	ids := []string{turn.WorkflowID(h.SessionID)}
	for _, stage := range []string{"pre-turn", "narrative", "post-turn"} {
		ids = append(ids, turn.StageWorkflowID(h.SessionID, h.TurnID, stage))
	}
	for i, id := range ids {
		runID := ""
		if i == 0 {
			runID = h.RunID
		}
		events, err := historysize.Events(ctx, r.temporal, id, runID)
		if err != nil {
			return err
		}
		for _, event := range events {
			out.history += int64(proto.Size(event))
			out.payload += historysize.Payloads(event)
			if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
				out.tasks++
			}
		}
	}
	return nil
}
