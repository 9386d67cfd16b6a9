package integration_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/internal/testenv"
)

// TestDoctor: one screen says what is fit, and what to do where something is not.
func TestDoctor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.worker("")
	var report struct {
		Findings []struct{ Check, Status, Detail, Fix string }
	}
	must(t, json.Unmarshal([]byte(r.covel("doctor", "--json")), &report))
	seen := map[string]string{}
	for _, f := range report.Findings {
		seen[f.Check] = f.Status
	}
	for _, check := range []string{"database", "migrations", "temporal", "search attributes", "workers", "model slots", "plugins, worlds"} {
		if seen[check] != "ok" {
			t.Errorf("check %q is %q: %+v", check, seen[check], report.Findings)
		}
	}
	code, stdout, stderr := testenv.Run(t, testenv.Config{
		Args: []string{"doctor", "--json"}, Env: []string{"TEMPORAL_ADDRESS=127.0.0.1:1", "COVEL_DATABASE_URL=" + r.database},
	})
	if code != 1 || !strings.Contains(stdout, `"status":"fail"`) || !strings.Contains(stdout, "covel dev") {
		t.Errorf("doctor without Temporal: exit code %d\n%s%s; want 1 and what to do", code, stdout, stderr)
	}
}

// TestProductionCommands plays a game by commands alone, as a script would:
// Temporal, database, worker and client are all apart.
func TestProductionCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.worker("")
	r.covel("session", "create", "--world", "lanternfall", "--id", "scripted", "--json")
	for i, line := range script {
		o := outcomes(t, r.covel("turn", "start", "scripted", "--turn", "t"+string(rune('1'+i)), "--say", line, "--json"))[0]
		if o.LogicalTurn != i+1 || o.Narrative == "" {
			t.Errorf("turn %d: %+v", i+1, o)
		}
	}
	if shown := outcomes(t, r.covel("turn", "show", "scripted", "t2", "--json"))[0]; shown.LogicalTurn != 2 {
		t.Errorf("turn show: %+v", shown)
	}
	if out := r.covel("migrate", "--json"); !strings.Contains(out, `"searchAttributesAdded":[]`) {
		t.Errorf("a second migration: %s", out)
	}
	w.Stop()
	r.covel("session", "delete", "scripted", "--json")
	if code, _, _ := testenv.Run(t, testenv.Config{Args: []string{"session", "show", "scripted"}, Env: r.env}); code != 3 {
		t.Errorf("a deleted session: exit code %d; want 3", code)
	}
}

// TestCheckCommand: findings go to standard output, the exit code says whether
// there are errors.
func TestCheckCommand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testenv.DataDir(t), "broken")
	must(t, os.Mkdir(dir, 0o750))
	writeFile(t, dir, "PLUGIN.md", "---\nid: broken\nkind: plugin\ndescription: Nothing.\nflavour: odd\n---\n")
	code, stdout, stderr := testenv.Run(t, testenv.Config{Args: []string{"check", "plugin", dir}})
	if code != 1 || !strings.HasPrefix(stdout, "PLUGIN.md:5: error unknown-key: ") || !strings.HasSuffix(stdout, "1 error, 0 warnings\n") || stderr != "" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, _ = testenv.Run(t, testenv.Config{Args: []string{"check", "plugin", dir, "--json"}})
	if code != 1 || !strings.Contains(stdout, `"code":"unknown-key"`) {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	if code, _, _ := testenv.Run(t, testenv.Config{Args: []string{"check", "world", filepath.Join(dir, "nowhere")}}); code != 2 {
		t.Errorf("an unreadable directory: exit code %d; want 2", code)
	}
}
