package integration_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/pgtest"
	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/postgres"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/worker"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
	temporal "go.temporal.io/sdk/client"
	"go.uber.org/zap"
)

// rig is the production shape: a Temporal server process, a PostgreSQL
// database, worker processes, and a client in the test.
type rig struct {
	t        *testing.T
	server   *testenv.Process
	database string
	store    store.Store
	temporal temporal.Client
	client   *client.Client
	// env is what worker processes get besides.
	env []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, database: pgtest.Database(t), server: testenv.Dev(t, testenv.DataDir(t), "--no-worker")}
	r.env = []string{"TEMPORAL_ADDRESS=" + r.server.Ready.Temporal, "COVEL_DATABASE_URL=" + r.database}
	r.covel("migrate", "--json")
	st, err := postgres.Open(t.Context(), postgres.Config{URL: r.database})
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	r.store = st
	r.temporal, err = temporal.Dial(temporal.Options{HostPort: r.server.Ready.Temporal, Logger: worker.NewLogger(zap.NewNop())})
	must(t, err)
	t.Cleanup(r.temporal.Close)
	hub, err := stream.NewHub(stream.Config{Store: st})
	must(t, err)
	t.Cleanup(hub.Close)
	gen, findings, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), Handlers: plugins.Handlers()})
	must(t, err)
	for _, f := range findings {
		t.Errorf("bundled plugin: %v", f)
	}
	lib, findings, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen})
	must(t, err)
	for _, f := range findings {
		t.Errorf("bundled world: %v", f)
	}
	r.client, err = client.New(client.Config{Library: lib, Plugins: gen, Store: st, Streams: hub, Temporal: r.temporal})
	must(t, err)
	return r
}

// worker starts a worker process; a failpoint makes it die or pause there.
func (r *rig) worker(failpoint string) *testenv.Process {
	r.t.Helper()
	env := r.env
	if failpoint != "" {
		env = append(append([]string{}, env...), "COVEL_FAILPOINT="+failpoint)
	}
	return testenv.Start(r.t, testenv.Config{Args: []string{"worker", "--json"}, Env: env, Failpoints: failpoint != ""})
}

// covel runs a command to its end and gives its standard output.
func (r *rig) covel(args ...string) string {
	r.t.Helper()
	code, stdout, stderr := testenv.Run(r.t, testenv.Config{Args: args, Env: r.env})
	if code != 0 {
		r.t.Fatalf("covel %s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

func (r *rig) newSession(id string) session.Session {
	r.t.Helper()
	s, err := r.client.CreateSession(r.t.Context(), client.CreateSession{World: "lanternfall", ID: id})
	must(r.t, err)
	return s
}

func (r *rig) start(sessionID, turnID, message string) *client.Handle {
	r.t.Helper()
	h, err := r.client.StartTurn(r.t.Context(), client.StartTurn{Session: sessionID, Turn: turnID, Message: message})
	must(r.t, err)
	return h
}

// play plays one turn and wants it committed.
func (r *rig) play(sessionID, turnID, message string) turn.Outcome {
	r.t.Helper()
	return r.wait(r.start(sessionID, turnID, message))
}

func (r *rig) wait(h *client.Handle) turn.Outcome {
	r.t.Helper()
	began := time.Now()
	defer func() { r.t.Logf("turn %s took %v", h.TurnID, time.Since(began)) }()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	o, err := h.Wait(ctx)
	must(r.t, err)
	if o.Status != turn.StatusCommitted {
		r.t.Fatalf("turn %s ended %s: %+v", h.TurnID, o.Status, o.Error)
	}
	return o
}

// messages are a session's committed rows.
func (r *rig) messages(sessionID string) []session.Message {
	r.t.Helper()
	rows, err := r.store.Messages(r.t.Context(), sessionID)
	must(r.t, err)
	return rows
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcomes reads the lines of `covel play --json`.
func outcomes(t *testing.T, stdout string) []turn.Outcome {
	t.Helper()
	var list []turn.Outcome
	dec := json.NewDecoder(strings.NewReader(stdout))
	for dec.More() {
		var o turn.Outcome
		must(t, dec.Decode(&o))
		list = append(list, o)
	}
	return list
}

func runtimeOf(t *testing.T, o turn.Outcome, id string) turn.RuntimeOutcome {
	t.Helper()
	for _, r := range o.Runtimes {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("turn %s has no runtime %s: %+v", o.TurnID, id, o.Runtimes)
	return turn.RuntimeOutcome{}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s did not happen within a minute", what)
		}
	}
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
