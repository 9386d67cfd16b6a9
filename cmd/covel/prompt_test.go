package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// played is a data directory with a game of three turns.
type played struct {
	dir     string
	session string
}

// playThree plays once for all sub-tests: the real engine in this process.
func playThree(t *testing.T) played {
	t.Helper()
	p := played{dir: t.TempDir()}
	code, out, errs := p.covel("play", "--world", "lanternfall", "--json", "--say", "I look at the buoy", "--say", "I light the lamp", "--say", "I climb down")
	if code != exitOK {
		t.Fatalf("play: %s", errs)
	}
	var outcome turn.Outcome
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&outcome); err != nil {
		t.Fatal(err)
	}
	p.session = outcome.SessionID
	return p
}

// covel runs a command in this process.
func (p played) covel(args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	c := &console{in: strings.NewReader(""), out: &stdout, err: &stderr}
	root := newRoot(c)
	root.SetArgs(append(args, "--data", p.dir))
	err := root.Execute()
	return c.conclude(err), stdout.String(), stderr.String()
}

func TestPrompt(t *testing.T) {
	for _, name := range []string{"COVEL_DATABASE_URL", "COVEL_DATA_DIR", "COVEL_LLM_CONFIG", "COVEL_LLM_SCRIPT", "TEMPORAL_ADDRESS"} {
		t.Setenv(name, "")
	}
	p := playThree(t)
	t.Run("show names every section of what was sent", func(t *testing.T) { showNames(t, p) })
	t.Run("show --json", func(t *testing.T) { showJSON(t, p) })
	t.Run("show --wire is the recorded body", func(t *testing.T) {
		_, out, _ := p.covel("prompt", "show", p.session, "--wire")
		if !json.Valid([]byte(out)) || strings.Count(out, "\n") != 1 {
			t.Errorf("no body on one line: %.200q", out)
		}
	})
	t.Run("prefix", func(t *testing.T) { prefixReports(t, p) })
	t.Run("wrong use", func(t *testing.T) { wrongUse(t, p) })
}

func showNames(t *testing.T, p played) {
	code, out, errs := p.covel("prompt", "show", p.session)
	if code != exitOK {
		t.Fatal(errs)
	}
	at := 0
	for _, want := range []string{
		"narrator, turn 3, call 1 of 1", "model     scripted/storyteller", "── tools", "── preamble", "cache: boundary", "[RUNTIME]",
		"── body", "── stable", "<world-lore>", "── history", "cache: prefix", "I look at the buoy", "── turn-context", "cache: none", "── player", "I climb down",
	} {
		next := strings.Index(out[at:], want)
		if next < 0 {
			t.Fatalf("%q does not follow in\n%s", want, out)
		}
		at += next
	}
	if strings.Contains(out, "\x1b[") {
		t.Error("a pipe gets colours")
	}
	if strings.Contains(out, "── unnamed") {
		t.Error("a part of the request has no name")
	}
}

func showJSON(t *testing.T, p played) {
	code, out, errs := p.covel("prompt", "show", p.session, "--turn", "2", "--runtime", "world-init/dimension-tracker", "--call", "2", "--json")
	if code != exitOK {
		t.Fatal(errs)
	}
	var r promptRequest
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.SessionID != p.session || r.LogicalTurn != 2 || r.Runtime != "world-init/dimension-tracker" || r.Call != 2 || r.Model != "storyteller" || len(r.Tools) == 0 {
		t.Errorf("the request is %s", out)
	}
	if r.Estimate <= 0 || r.Estimate >= r.Limit || r.Usage == nil {
		t.Errorf("estimate %d of %d, usage %v", r.Estimate, r.Limit, r.Usage)
	}
	system, covered, last := []rune(r.System), 0, 0
	for _, s := range r.Sections {
		switch {
		case s.Zone == "system":
			covered += len(strings.TrimSpace(string(system[s.From:s.To])))
		case s.From != last || s.To < s.From:
			t.Errorf("section %s is messages %d to %d; the one before ended at %d", s.Name, s.From, s.To, last)
		default:
			last = s.To
		}
		if s.Name == "history" && s.Cached != cacheNone {
			t.Errorf("the sliding history is said to be cached: %s", s.Cached)
		}
	}
	if spaces := len(strings.Join(strings.Split(r.System, "\n\n"), "")); covered < spaces*95/100 {
		t.Errorf("sections cover %d bytes of %d", covered, spaces)
	}
	if last != len(r.Messages) || r.Sections[len(r.Sections)-1].Name != sectionSteps {
		t.Errorf("sections end at message %d of %d with %s", last, len(r.Messages), r.Sections[len(r.Sections)-1].Name)
	}
}

func prefixReports(t *testing.T, p played) {
	page := filepath.Join(t.TempDir(), "prefix.html")
	code, out, errs := p.covel("prompt", "prefix", filepath.Join(p.dir, "covel.db"), "--session", p.session, "--html", page, "--json")
	if code != exitOK {
		t.Fatal(errs)
	}
	var report trace.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Runtimes) == 0 || report.Runtimes[0].RuntimeID != "narrator" || report.Runtimes[0].Turns != 3 || report.Runtimes[0].Percent() < 50 {
		t.Errorf("the report is %s", out)
	}
	html, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(html, []byte("<svg")) || bytes.Contains(html, []byte("ZgotmplZ")) || bytes.Contains(html, []byte("http")) {
		t.Errorf("the page is no self-contained chart: %v", err)
	}
	_, out, _ = p.covel("prompt", "prefix", "--show", "narrator")
	if !strings.Contains(out, "turn 2: ") || !strings.Contains(out, "  now: ") {
		t.Errorf("--show gives %q", out)
	}
	_, out, _ = p.covel("prompt", "prefix")
	if !strings.Contains(out, "first difference") || !strings.Contains(out, "later first requests") {
		t.Errorf("the table is %q", out)
	}
}

func wrongUse(t *testing.T, p played) {
	empty := played{dir: t.TempDir()}
	for _, tc := range []struct {
		name string
		in   played
		args []string
		code int
		want []string
	}{
		{"no database at all", empty, []string{"prefix"}, exitUsage, []string{"Usage:", "covel.db"}},
		{"a database that is not there", p, []string{"prefix", "/nowhere/covel.db"}, exitFailed, []string{"/nowhere/covel.db"}},
		{"another scheme", p, []string{"prefix", "mysql://me:sesame@host/db"}, exitFailed, []string{"mysql"}},
		{"PostgreSQL is not there", p, []string{"prefix", "postgres://me:sesame@127.0.0.1:1/db"}, exitFailed, []string{"127.0.0.1:1"}},
		{"a runtime without requests", p, []string{"prefix", "--show", "nobody"}, 3, []string{"nobody"}},
		{"an unknown game", p, []string{"prefix", "--session", "nobody"}, 3, []string{"nobody"}},
		{"an unknown game to show", p, []string{"show", "nobody"}, 3, []string{"nobody", "covel session list"}},
		{"a turn without requests", p, []string{"show", p.session, "--turn", "9"}, 3, []string{"turn 9", "1 to 3"}},
		{"a runtime without calls", p, []string{"show", p.session, "--runtime", "guid"}, 3, []string{"guid", "guide (1)"}},
		{"a call beyond the last", p, []string{"show", p.session, "--call", "4"}, 3, []string{"--call 4"}},
		{"a turn below 1", p, []string{"show", p.session, "--turn", "0"}, exitUsage, []string{"--turn"}},
		{"no game named", p, []string{"show"}, exitUsage, []string{"prompt show"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errs := tc.in.covel(append([]string{"prompt"}, tc.args...)...)
			if code != tc.code {
				t.Errorf("exit code %d; want %d\n%s", code, tc.code, errs)
			}
			for _, want := range tc.want {
				if !strings.Contains(errs, want) {
					t.Errorf("standard error does not name %q: %s", want, errs)
				}
			}
			if strings.Contains(out+errs, "sesame") {
				t.Errorf("a password is shown: %s", errs)
			}
		})
	}
}
