package integration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/turn"
)

// TestPlay is the main job: one command, offline, without a key.
func TestPlay(t *testing.T) {
	t.Parallel()
	data := testenv.DataDir(t)
	play := func(args ...string) (int, string, string) {
		return testenv.Run(t, testenv.Config{Args: append([]string{"play", "--world", "lanternfall", "--data", data}, args...)})
	}
	code, stdout, stderr := play("--say", "I row to the drowned lighthouse", "--say", "I light the lamp", "--json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	turns := outcomes(t, stdout)
	if len(turns) != 2 {
		t.Fatalf("%d outcome lines; want 2:\n%s", len(turns), stdout)
	}
	for i, o := range turns {
		if o.Status != turn.StatusCommitted || o.LogicalTurn != i+1 || strings.TrimSpace(o.Narrative) == "" {
			t.Errorf("turn %d: status %s, logical turn %d, narrative %q", i+1, o.Status, o.LogicalTurn, o.Narrative)
		}
		roller, narrator, affinity := runtimeOf(t, o, "dice-check/roller"), runtimeOf(t, o, "narrator"), runtimeOf(t, o, "affinity")
		if roller.Status != turn.RuntimeSuccess || roller.Stage != "pre-turn" || roller.Steps != 0 {
			t.Errorf("roller: %+v", roller)
		}
		if narrator.Status != turn.RuntimeSuccess || narrator.Stage != "narrative" || narrator.Usage.Output == 0 {
			t.Errorf("narrator: %+v", narrator)
		}
		if affinity.Status != turn.RuntimeSuccess || affinity.Stage != "post-turn" || affinity.ToolCalls != 1 {
			t.Errorf("affinity: %+v", affinity)
		}
	}

	// Stopped and started again it goes on where it was, and the story streams
	// to the terminal.
	code, stdout, stderr = play("--say", "I climb down")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(stderr, "turn 3") {
		t.Errorf("the game did not go on at turn 3: %s", stderr)
	}
	_, shown, _ := testenv.Run(t, testenv.Config{Args: []string{"session", "list", "--json", "--data", data}})
	if !strings.Contains(shown, `"completedPlayerTurns":3`) {
		t.Errorf("sessions: %s; want one of three turns", shown)
	}
	if !strings.Contains(stdout, "> I climb down\n\n") || len(stdout) < 60 {
		t.Errorf("no story on standard output: %q", stdout)
	}
}

func TestPlayInteractive(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := testenv.Run(t, testenv.Config{
		Args:  []string{"play", "--memory", "--json", "--locale", "zh-CN"},
		Stdin: "我划向沉没的灯塔\n\n我点亮灯\n/quit\n我不再说话\n",
	})
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	turns := outcomes(t, stdout)
	if len(turns) != 2 || turns[1].LogicalTurn != 2 {
		t.Fatalf("outcomes: %s", stdout)
	}
	if !strings.ContainsFunc(turns[0].Narrative, func(r rune) bool { return r >= 0x4E00 && r <= 0x9FFF }) {
		t.Errorf("a Chinese game tells %q", turns[0].Narrative)
	}
}

// TestBadInput: each gives one line that says what, why and what to do, and the
// right exit code.
func TestBadInput(t *testing.T) {
	t.Parallel()
	newer := testenv.DataDir(t)
	if code, _, stderr := testenv.Run(t, testenv.Config{Args: []string{"session", "create", "--world", "lanternfall", "--data", newer}}); code != 0 {
		t.Fatal(stderr)
	}
	corrupt := testenv.DataDir(t)
	corruptFile := writeFile(t, corrupt, "covel.db", strings.Repeat("this is no database ", 500))
	broken := writeFile(t, testenv.DataDir(t), "llm.toml", "[covel.story]\nprovider = \"openai\"\nmodel = \"m\"\nreasoning_effort = \"high\"\n")
	for _, tc := range []struct {
		name string
		args []string
		env  []string
		code int
		want []string
	}{
		{"unknown world", []string{"play", "--world", "atlantis", "--memory", "--say", "x"}, nil, 3, []string{"atlantis", "lanternfall"}},
		{"broken llm.toml", []string{"play", "--memory", "--llm", broken, "--say", "x"}, nil, 1, []string{"reasoning_effort", "reasoningEffort", "4"}},
		{"no llm.toml where one is named", []string{"play", "--memory", "--llm", "/nowhere/llm.toml", "--say", "x"}, nil, 1, []string{"/nowhere/llm.toml"}},
		{"unreachable Temporal", []string{"worker", "--data", testenv.DataDir(t)}, []string{"TEMPORAL_ADDRESS=127.0.0.1:1"}, 1, []string{"127.0.0.1:1", "covel dev"}},
		{"unreachable database", []string{"migrate"}, []string{"COVEL_DATABASE_URL=postgres://covel:sesame@127.0.0.1:1/covel"}, 1, []string{"127.0.0.1"}},
		{"unknown scheme", []string{"migrate"}, []string{"COVEL_DATABASE_URL=mysql://x:sesame@y/z"}, 1, []string{"mysql"}},
		{"corrupt database", []string{"play", "--data", corrupt, "--say", "x"}, nil, 1, []string{"covel.db"}},
		{"unknown session", []string{"turn", "start", "nobody", "--say", "x", "--data", testenv.DataDir(t)}, nil, 3, []string{"nobody"}},
		{"unknown flag", []string{"play", "--wold", "x"}, nil, 2, []string{"wold", "--help"}},
		{"unknown command", []string{"paly"}, nil, 2, []string{"paly"}},
		{"missing argument", []string{"turn", "start"}, nil, 2, []string{"--help"}},
		{"no external Temporal for a worker", []string{"worker"}, nil, 1, []string{"TEMPORAL_ADDRESS"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := testenv.Run(t, testenv.Config{Args: append(tc.args, "--json"), Env: tc.env})
			if code != tc.code {
				t.Errorf("exit code %d; want %d\n%s%s", code, tc.code, stdout, stderr)
			}
			line := lastLine(stderr)
			for _, want := range tc.want {
				if !strings.Contains(line, want) {
					t.Errorf("the error does not say %q: %s", want, line)
				}
			}
			if !strings.HasPrefix(line, "covel: ") || strings.Contains(stderr+stdout, "sesame") {
				t.Errorf("standard error: %s", stderr)
			}
			if !strings.Contains(stdout, `{"error":{"kind":"`) {
				t.Errorf("no error object on standard output: %q", stdout)
			}
		})
	}
	t.Cleanup(func() {
		text, err := os.ReadFile(corruptFile)
		if err != nil || !strings.HasPrefix(string(text), "this is no database") {
			t.Errorf("the corrupt file was changed: %v", err)
		}
	})
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	data := testenv.DataDir(t)
	if code, _, stderr := testenv.Run(t, testenv.Config{Args: []string{"session", "create", "--world", "lanternfall", "--data", data}}); code != 0 {
		t.Fatal(stderr)
	}
	pretendNewer(t, filepath.Join(data, "covel.db"))
	code, _, stderr := testenv.Run(t, testenv.Config{Args: []string{"play", "--data", data, "--say", "x"}})
	if code != 1 || !strings.Contains(stderr, "9999") {
		t.Errorf("exit code %d: %s; want 1 and both schema numbers", code, stderr)
	}
}

// TestLockedDataDirectory: a data directory belongs to one engine; a second
// command connects to it.
func TestLockedDataDirectory(t *testing.T) {
	t.Parallel()
	data := testenv.DataDir(t)
	create := testenv.Config{Args: []string{"session", "create", "--world", "lanternfall", "--id", "shared", "--data", data}}
	if code, _, stderr := testenv.Run(t, create); code != 0 {
		t.Fatal(stderr)
	}
	dev := testenv.Dev(t, data)
	code, _, stderr := testenv.Run(t, testenv.Config{Args: []string{"dev", "--json", "--data", data}})
	if code != 4 || !strings.Contains(stderr, data) || !strings.Contains(stderr, "--data") {
		t.Errorf("a second engine: exit code %d: %s; want 4, the directory and what to do", code, stderr)
	}
	code, stdout, stderr := testenv.Run(t, testenv.Config{Args: []string{"turn", "start", "shared", "--say", "I look around", "--json", "--data", data}})
	if code != 0 || !strings.Contains(stdout, `"status":"committed"`) {
		t.Errorf("a turn on the running engine: exit code %d: %s%s", code, stdout, stderr)
	}
	dev.Stop()
	// A killed engine leaves no stale lock.
	killed := testenv.Dev(t, data)
	killed.Kill()
	testenv.Dev(t, data).Stop()
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
