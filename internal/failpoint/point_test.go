package failpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		activity, where, pause string
		nth                    int64
		fault                  string // part of the error; empty: it is read
	}{
		"CommitTurn:before:kill":                {activity: "CommitTurn", where: Before, nth: 1},
		"CallModel:after:kill:3":                {activity: "CallModel", where: After, nth: 3},
		"CommitTurn:tx:kill":                    {activity: "CommitTurn", where: InTx, nth: 1},
		"CommitTurn:before:pause:1:/tmp/f":      {activity: "CommitTurn", where: Before, nth: 1, pause: "/tmp/f"},
		"CommitTurn:before:pause:2:c:/with:col": {activity: "CommitTurn", where: Before, nth: 2, pause: "c:/with:col"},
		"":                                      {fault: "write ACTIVITY:WHERE:ACTION"},
		"CommitTurn:before":                     {fault: "write ACTIVITY:WHERE:ACTION"},
		":before:kill":                          {fault: "names no activity"},
		"CommitTurn:during:kill":                {fault: `place "during"`},
		"CommitTurn:before:stop":                {fault: `action "stop"`},
		"CommitTurn:before:pause":               {fault: `action "pause"`},
		"CommitTurn:before:pause:1":             {fault: `action "pause"`},
		"CommitTurn:before:pause:1:":            {fault: `action "pause"`},
		"CommitTurn:before:kill:0":              {fault: `count "0"`},
		"CommitTurn:before:kill:-1":             {fault: `count "-1"`},
		"CommitTurn:before:kill:once":           {fault: `count "once"`},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			p, err := Parse(text)
			if want.fault != "" {
				if err == nil || !strings.Contains(err.Error(), want.fault) {
					t.Errorf("error %v, want %q", err, want.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.Activity != want.activity || p.Where != want.where || p.pause != want.pause || p.nth != want.nth {
				t.Errorf("%s %s %q %d", p.Activity, p.Where, p.pause, p.nth)
			}
		})
	}
}

// TestPause: the nth hit, and no other, writes the file and waits for the other.
func TestPause(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "point")
	p, err := Parse("CommitTurn:before:pause:2:" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reached := func() bool { _, err := os.Stat(file + ".reached"); return err == nil }
	p.hit("CommitTurn", Before)
	p.hit("CommitTurn", After)
	p.hit("BeginTurn", Before)
	if reached() {
		t.Error("it paused too early")
	}
	p.hit("CommitTurn", Before)
	if !reached() {
		t.Error("it did not pause")
	}
	if err := os.Remove(file + ".reached"); err != nil {
		t.Fatal(err)
	}
	p.hit("CommitTurn", Before)
	if reached() {
		t.Error("it paused twice")
	}
}
