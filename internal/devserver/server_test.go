package devserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/covel-engine/covel/internal/devserver"
	"github.com/covel-engine/covel/turn"
)

const taskQueue = "devserver-test"

func searchAttributes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		turn.AttrCostMicroUSD: enumspb.INDEXED_VALUE_TYPE_INT,
		turn.AttrLogicalTurn:  enumspb.INDEXED_VALUE_TYPE_INT,
		turn.AttrOrigin:       enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		turn.AttrSession:      enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		turn.AttrStatus:       enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		turn.AttrTurn:         enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		turn.AttrWorld:        enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
}

func start(t testing.TB, cfg devserver.Config) *devserver.Server {
	t.Helper()
	server, err := devserver.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, server) })
	return server
}

func stop(t testing.TB, server *devserver.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func dial(t testing.TB, server *devserver.Server) client.Client {
	t.Helper()
	connected, err := client.Dial(client.Options{
		HostPort: server.FrontendAddr,
		Logger:   log.NewStructuredLogger(quiet()),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connected.Close)
	return connected
}

func threeChildren(ctx workflow.Context) (int, error) {
	total := 0
	for range 3 {
		var n int
		if err := workflow.ExecuteChildWorkflow(ctx, oneStep).Get(ctx, &n); err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func oneStep(ctx workflow.Context) (int, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Second})
	var n int
	err := workflow.ExecuteLocalActivity(ctx, one).Get(ctx, &n)
	return n, err
}

func one(context.Context) (int, error) { return 1, nil }

func remoteStep(ctx workflow.Context) (int, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Second})
	var n int
	err := workflow.ExecuteActivity(ctx, one).Get(ctx, &n)
	return n, err
}

// untilSignal waits for the signal "go" and returns what it carried.
func untilSignal(ctx workflow.Context) (string, error) {
	var word string
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, &word)
	return word, nil
}

func work(t testing.TB, connected client.Client) worker.Worker {
	t.Helper()
	w := worker.New(connected, taskQueue, worker.Options{})
	w.RegisterWorkflow(threeChildren)
	w.RegisterWorkflow(oneStep)
	w.RegisterWorkflow(remoteStep)
	w.RegisterWorkflow(untilSignal)
	w.RegisterActivity(one)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func run[T any](t testing.TB, connected client.Client, options client.StartWorkflowOptions, definition any) T {
	t.Helper()
	options.TaskQueue = taskQueue
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	started, err := connected.ExecuteWorkflow(ctx, options, definition)
	if err != nil {
		t.Fatal(err)
	}
	var result T
	if err := started.Get(ctx, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestServerRunsWorkflows(t *testing.T) {
	t.Parallel()

	for name, path := range map[string]string{"memory": "", "file": filepath.Join(t.TempDir(), "temporal.db")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, devserver.Config{DatabasePath: path, SearchAttributes: searchAttributes(), UIPort: devserver.NoUI})
			connected := dial(t, server)
			work(t, connected)
			got := run[int](t, connected, client.StartWorkflowOptions{
				Priority: temporal.Priority{PriorityKey: 1, FairnessKey: "lanternfall"},
				TypedSearchAttributes: temporal.NewSearchAttributes(
					temporal.NewSearchAttributeKeyKeyword(turn.AttrSession).ValueSet("s1"),
					temporal.NewSearchAttributeKeyInt64(turn.AttrLogicalTurn).ValueSet(12),
				),
			}, threeChildren)
			if got != 3 {
				t.Errorf("three children returned %d, want 3", got)
			}
			waitFor(t, func() (bool, string) {
				count, err := connected.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
					Query: turn.AttrSession + " = 's1' AND " + turn.AttrLogicalTurn + " = 12",
				})
				if err != nil {
					t.Fatal(err)
				}
				return count.GetCount() == 1, fmt.Sprintf("%d workflows with the search attributes, want 1", count.GetCount())
			})
		})
	}
}

func TestRestartGoesOnWithRunningWorkflows(t *testing.T) {
	t.Parallel()

	// A directory whose name means something in an SQLite URI, and which is
	// moved while the server is down.
	dir := filepath.Join(t.TempDir(), "a b#c%20d?e=f&g")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := devserver.Config{DatabasePath: filepath.Join(dir, "temporal.db"), UIPort: devserver.NoUI}

	first := start(t, cfg)
	connected := dial(t, first)
	w := work(t, connected)
	started, err := connected.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "waiting", TaskQueue: taskQueue}, untilSignal)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() (bool, string) {
		running, err := connected.DescribeWorkflowExecution(t.Context(), "waiting", started.GetRunID())
		if err != nil {
			t.Fatal(err)
		}
		return running.GetPendingWorkflowTask() == nil, "the workflow has not come to its signal"
	})
	w.Stop()
	stop(t, first)
	if names := fileNames(t, dir); names != "temporal.db" {
		t.Errorf("after Stop the directory holds %s, want temporal.db alone", names)
	}

	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	cfg.DatabasePath = filepath.Join(moved, "temporal.db")
	cfg.Retention = 48 * time.Hour
	cfg.SearchAttributes = searchAttributes()
	second := start(t, cfg)
	connected = dial(t, second)
	work(t, connected)
	if err := connected.SignalWorkflow(t.Context(), "waiting", started.GetRunID(), "go", "on"); err != nil {
		t.Fatal(err)
	}
	var word string
	if err := connected.GetWorkflow(t.Context(), "waiting", started.GetRunID()).Get(t.Context(), &word); err != nil {
		t.Fatal(err)
	}
	if word != "on" {
		t.Errorf("the workflow returned %q, want %q", word, "on")
	}

	namespace, err := connected.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if got := namespace.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != cfg.Retention {
		t.Errorf("retention is %s, want %s", got, cfg.Retention)
	}
	attributes, err := connected.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range cfg.SearchAttributes {
		if got := attributes.GetCustomAttributes()[name]; got != want {
			t.Errorf("search attribute %s is %s, want %s", name, got, want)
		}
	}
}

func TestAnotherShardCountIsRefused(t *testing.T) {
	t.Parallel()

	cfg := devserver.Config{DatabasePath: filepath.Join(t.TempDir(), "temporal.db"), HistoryShards: 4, UIPort: devserver.NoUI}
	stop(t, start(t, cfg))
	cfg.HistoryShards = 16
	_, err := devserver.Start(t.Context(), cfg)
	var refused *devserver.ShardCountError
	if !errors.As(err, &refused) {
		t.Fatalf("Start returned %v, want a ShardCountError", err)
	}
	if refused.Stored != 4 || refused.Wanted != 16 || refused.Path != cfg.DatabasePath {
		t.Errorf("the error says %+v", *refused)
	}
	if !strings.Contains(err.Error(), "use HistoryShards 4") {
		t.Errorf("%q does not say what to do", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()

	taken := start(t, devserver.Config{UIPort: devserver.NoUI})
	var port int
	if _, err := fmt.Sscanf(taken.FrontendAddr, "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	for field, cfg := range map[string]devserver.Config{
		"DatabasePath":  {DatabasePath: filepath.Join(t.TempDir(), "missing", "temporal.db")},
		"FrontendPort":  {FrontendPort: port},
		"HistoryShards": {HistoryShards: 1},
		"Retention":     {Retention: time.Minute},
		"UIPort":        {UIPort: 70000},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			server, err := devserver.Start(t.Context(), cfg)
			if err == nil {
				stop(t, server)
				t.Fatal("Start succeeded")
			}
			if !strings.Contains(err.Error(), field) {
				t.Errorf("%q does not name %s", err, field)
			}
		})
	}
}

func TestUIAnswers(t *testing.T) {
	t.Parallel()

	server := start(t, devserver.Config{})
	for path, want := range map[string]string{
		"/":                         "<html",
		"/api/v1/namespaces":        `"default"`,
		"/api/v1/settings?format=1": "DefaultNamespace",
	} {
		answer, err := http.Get("http://" + server.UIAddr + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s: status %d, body without %q: %.200s", path, answer.StatusCode, want, body)
		}
	}
}

func fileNames(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func waitFor(t testing.TB, condition func() (bool, string)) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, state := condition()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal(state)
		}
	}
}
