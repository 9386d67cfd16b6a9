package peer_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// startWithin bounds the wait for the peer; it takes about a second.
const startWithin = time.Minute

// startPeer runs the peer on a free port until the test ends and gives its
// address once it answers.
func startPeer(t *testing.T) string {
	t.Helper()
	program := filepath.Join("node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("the peer is not installed: %v; .ci/setup installs it", err)
	}
	var output strings.Builder
	cmd := exec.Command(node(t), program, "--port", "0", "--fixtures", "fixtures.json", "--validate-on-load", "--strict", "--chunk-size", "9")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			output.WriteString(lines.Text() + "\n")
			if found := listening.FindStringSubmatch(lines.Text()); found != nil && len(address) == 0 {
				address <- found[1]
			}
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("the peer wrote:\n%s", output.String())
		}
	})
	timeout := time.NewTimer(startWithin)
	defer timeout.Stop()
	select {
	case base := <-address:
		ready(t, base)
		return base
	case <-ended:
		t.Fatalf("the peer ended before it listened: %v\n%s", cmd.ProcessState, output.String())
	case <-timeout.C:
		t.Fatalf("the peer did not listen within %s", startWithin)
	}
	return ""
}

var listening = regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)`)

// node is the pinned Node where .ci/setup had to install one, else the
// machine's.
func node(t *testing.T) string {
	t.Helper()
	if pinned, _ := filepath.Glob(filepath.Join("node_modules", "node-linux-*", "bin", "node")); len(pinned) > 0 {
		path, err := filepath.Abs(pinned[0])
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("Node is not installed: %v; .ci/setup installs it", err)
	}
	return path
}

// ready fails unless the peer says that its fixtures are loaded.
func ready(t *testing.T, base string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/ready", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the peer is not ready: %s", resp.Status)
	}
}
