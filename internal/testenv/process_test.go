package testenv_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/covel-engine/covel/internal/testenv"
)

// standIn makes this test binary behave like a covel process, for the tests
// of process handling itself.
const standIn = "TESTENV_STAND_IN"

func TestMain(m *testing.M) {
	switch os.Getenv(standIn) {
	case "":
		os.Exit(m.Run())
	case "serve":
		terminated := make(chan os.Signal, 1)
		signal.Notify(terminated, syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "a notice")
		fmt.Println(`{"event":"starting"}`)
		fmt.Printf(`{"event":"ready","temporal":"127.0.0.1:1","pid":%d}`+"\n", os.Getpid())
		<-terminated
		fmt.Println("stopped cleanly")
	case "print":
		fmt.Println("out", os.Getenv("COVEL_DATA_DIR"), os.Getenv("COVEL_GIVEN"))
		fmt.Fprintln(os.Stderr, "err")
		os.Exit(3)
	}
}

func serve(t *testing.T) *testenv.Process {
	t.Helper()
	return testenv.Start(t, testenv.Config{
		Args: []string{"-test.run=^$"}, Binary: os.Args[0], Env: []string{standIn + "=serve"},
	})
}

func TestProcess(t *testing.T) {
	t.Parallel()

	t.Run("StopIsClean", func(t *testing.T) {
		t.Parallel()
		p := serve(t)
		if p.Ready.Temporal != "127.0.0.1:1" || p.Ready.PID == 0 {
			t.Errorf("ready line is %+v", p.Ready)
		}
		p.Stop()
		if out := p.Output(); !strings.Contains(out, "a notice") || !strings.Contains(out, "stopped cleanly") {
			t.Errorf("output is %q", out)
		}
	})

	t.Run("KillIsACrash", func(t *testing.T) {
		t.Parallel()
		p := serve(t)
		p.Kill()
		if out := p.Output(); strings.Contains(out, "stopped cleanly") {
			t.Errorf("a killed process wrote %q", out)
		}
		if err := syscall.Kill(p.Ready.PID, 0); err == nil {
			t.Errorf("process %d still runs", p.Ready.PID)
		}
	})
}

func TestRunKeepsTheCallersSettingsOut(t *testing.T) {
	t.Setenv("COVEL_DATA_DIR", "callers")
	code, stdout, stderr := testenv.Run(t, testenv.Config{
		Args: []string{"-test.run=^$"}, Binary: os.Args[0], Env: []string{standIn + "=print", "COVEL_GIVEN=given"},
	})
	if code != 3 || stdout != "out  given\n" || stderr != "err\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestDevServesTemporal(t *testing.T) {
	t.Parallel()
	dir := testenv.DataDir(t)
	dev := testenv.Dev(t, dir, "--no-worker")
	connected, err := client.Dial(client.Options{HostPort: dev.Ready.Temporal})
	if err != nil {
		t.Fatal(err)
	}
	defer connected.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	namespace, err := connected.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if got := namespace.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != 30*24*time.Hour {
		t.Errorf("retention is %s, want 30 days", got)
	}
	dev.Stop()
	if _, err := os.Stat(filepath.Join(dir, "temporal.db")); err != nil {
		t.Error(err)
	}
}
