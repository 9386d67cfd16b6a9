package testenv

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// startWithin bounds the wait for a ready line; a cold start takes
	// under a second on an idle machine.
	startWithin = 2 * time.Minute
	// stopWithin bounds a clean stop.
	stopWithin = time.Minute
)

// Config says which process to start.
type Config struct {
	// Args are the command line, without the program's name; they must hold
	// --json. Required.
	Args []string

	// Binary is the program. Defaults to Binary(t), or to FailpointBinary(t)
	// with Failpoints.
	Binary string

	// Dir is the working directory. Defaults to a new, empty one.
	Dir string

	// Env are further variables as NAME=value. Defaults to none.
	Env []string

	// Failpoints selects the binary that obeys COVEL_FAILPOINT. Defaults to
	// false.
	Failpoints bool

	// Stdin is what the process reads. Defaults to nothing.
	Stdin string
}

// Ready is the line a covel process prints when it can be used.
type Ready struct {
	API      string `json:"api"`
	Event    string `json:"event"`
	PID      int    `json:"pid"`
	Temporal string `json:"temporal"`
	UI       string `json:"ui"`
	Worker   bool   `json:"worker"`
}

// Process is a running covel process. Its methods may be called from several
// goroutines.
type Process struct {
	// Ready is what the process announced.
	Ready Ready

	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone
	output *transcript
	t      testing.TB
}

// Start runs covel until the test ends and returns when it is ready.
func Start(t testing.TB, cfg Config) *Process {
	t.Helper()
	p, ready := launch(t, cfg)
	timeout := time.NewTimer(startWithin)
	defer timeout.Stop()
	select {
	case p.Ready = <-ready:
	case <-p.exited:
		t.Fatalf("covel %s ended before it was ready: %v\n%s", strings.Join(cfg.Args, " "), p.cmd.ProcessState, p.Output())
	case <-timeout.C:
		t.Fatalf("covel %s was not ready within %s\n%s", strings.Join(cfg.Args, " "), startWithin, p.Output())
	}
	return p
}

// Dev starts `covel dev` on a data directory.
func Dev(t testing.TB, dataDir string, args ...string) *Process {
	t.Helper()
	return Start(t, Config{Args: append([]string{"dev", "--json", "--data", dataDir}, args...)})
}

// Run runs covel to its end and returns its exit code and what it wrote to
// standard output and standard error.
func Run(t testing.TB, cfg Config) (exitCode int, stdout, stderr string) {
	t.Helper()
	p, _ := launch(t, cfg)
	p.Wait()
	return p.cmd.ProcessState.ExitCode(), p.output.text(stdoutStream), p.output.text(stderrStream)
}

func launch(t testing.TB, cfg Config) (*Process, <-chan Ready) {
	t.Helper()
	if cfg.Binary == "" {
		if cfg.Failpoints {
			cfg.Binary = FailpointBinary(t)
		} else {
			cfg.Binary = Binary(t)
		}
	}
	if cfg.Dir == "" {
		cfg.Dir = DataDir(t)
	}
	cmd := exec.Command(cfg.Binary, cfg.Args...)
	cmd.Dir = cfg.Dir
	cmd.Env = append(cleanEnvironment(os.Environ()), cfg.Env...)
	if cfg.Stdin != "" {
		cmd.Stdin = strings.NewReader(cfg.Stdin)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	p := &Process{cmd: cmd, exited: make(chan struct{}), output: &transcript{}, t: t}
	ready := make(chan Ready, 1)
	var reading sync.WaitGroup
	reading.Go(func() { p.output.read(stdoutStream, stdout, ready) })
	reading.Go(func() { p.output.read(stderrStream, stderr, nil) })
	go func() {
		defer close(p.exited)
		reading.Wait()
		_ = cmd.Wait() // the exit code is in ProcessState
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("covel %s wrote:\n%s", strings.Join(cfg.Args, " "), p.Output())
		}
	})
	return p, ready
}

// Kill ends the process with SIGKILL, as a crash would, and returns when it
// is gone.
func (p *Process) Kill() {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("kill %d: %v", p.cmd.Process.Pid, err)
	}
	<-p.exited
}

// Stop asks the process to end with SIGTERM and fails the test unless it ends
// with exit code 0.
func (p *Process) Stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Errorf("SIGTERM to %d: %v", p.cmd.Process.Pid, err)
	}
	timeout := time.NewTimer(stopWithin)
	defer timeout.Stop()
	select {
	case <-p.exited:
	case <-timeout.C:
		p.t.Errorf("process %d did not stop within %s", p.cmd.Process.Pid, stopWithin)
		p.Kill()
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("process %d ended with %s, want exit code 0", p.cmd.Process.Pid, p.cmd.ProcessState)
	}
}

// Wait returns when the process is gone.
func (p *Process) Wait() { <-p.exited }

// Exited is closed when the process is gone.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Output is what the process has written so far, standard output and standard
// error in the order they were read.
func (p *Process) Output() string { return p.output.text("") }

const (
	stdoutStream = "stdout"
	stderrStream = "stderr"
)

// transcript collects the lines of a process.
type transcript struct {
	mu    sync.Mutex
	lines []outputLine
}

type outputLine struct{ stream, text string }

// read collects a stream's lines until it ends. The first line that is a
// ready event goes to ready.
func (o *transcript) read(stream string, from io.Reader, ready chan<- Ready) {
	buffered := bufio.NewReader(from)
	for {
		text, err := buffered.ReadString('\n')
		if text != "" {
			o.mu.Lock()
			o.lines = append(o.lines, outputLine{stream, text})
			o.mu.Unlock()
		}
		if err != nil {
			return
		}
		var line Ready
		if ready != nil && json.Unmarshal([]byte(text), &line) == nil && line.Event == "ready" {
			ready <- line
			ready = nil
		}
	}
}

// text joins the lines of one stream, or of all for "".
func (o *transcript) text(stream string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var text strings.Builder
	for _, line := range o.lines {
		if stream == "" || line.stream == stream {
			text.WriteString(line.text)
		}
	}
	return text.String()
}

// cleanEnvironment drops the variables that would change what covel does.
func cleanEnvironment(all []string) []string {
	var kept []string
	for _, variable := range all {
		if !strings.HasPrefix(variable, "COVEL_") && !strings.HasPrefix(variable, "TEMPORAL_") {
			kept = append(kept, variable)
		}
	}
	return kept
}
