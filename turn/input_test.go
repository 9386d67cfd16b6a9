package turn_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/covel-engine/covel/turn"
)

func playerInput(change func(*turn.Input)) turn.Input {
	in := turn.Input{SessionID: "s", TurnID: "t", Origin: turn.OriginPlayer, PlayerMessage: "I look around"}
	if change != nil {
		change(&in)
	}
	return in
}

// TestInputValidate: bad input is refused naming field and value (spec 03 §1.3).
func TestInputValidate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(*turn.Input)
		field  string // "" for good input
		want   []string
	}{
		{"good", nil, "", nil},
		{"an empty message runs", func(in *turn.Input) { in.PlayerMessage = "" }, "", nil},
		{"no session", func(in *turn.Input) { in.SessionID = "" }, "sessionId", []string{`""`}},
		{"no turn", func(in *turn.Input) { in.TurnID = "" }, "turnId", []string{`""`}},
		{"long turn id", func(in *turn.Input) { in.TurnID = strings.Repeat("x", 129) }, "turnId", []string{"128"}},
		{"long message", func(in *turn.Input) { in.PlayerMessage = strings.Repeat("x", turn.MaxPlayerMessageBytes+1) }, "playerMessage", []string{"32769", "32768"}},
		{"message of the largest size", func(in *turn.Input) { in.PlayerMessage = strings.Repeat("x", turn.MaxPlayerMessageBytes) }, "", nil},
		{"broken UTF-8", func(in *turn.Input) { in.PlayerMessage = "a\xff" }, "playerMessage", []string{"UTF-8"}},
		{"TE-004", func(in *turn.Input) { in.Origin = "robot" }, "origin", []string{"robot"}},
		{"TE-003", func(in *turn.Input) {
			in.Origin, in.ManualTrigger = turn.OriginManual, &turn.ManualTrigger{RuntimeID: "a/x", RuntimeIDs: []string{"a/x"}}
		}, "manualTrigger", []string{"a/x", "runtimeIds"}},
		{"empty targets", func(in *turn.Input) {
			in.Origin, in.ManualTrigger = turn.OriginManual, &turn.ManualTrigger{RuntimeIDs: []string{}}
		}, "manualTrigger.runtimeIds", nil},
		{"manual without targets", func(in *turn.Input) { in.Origin = turn.OriginManual }, "manualTrigger", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			in := playerInput(tc.change)
			err := in.Validate()
			if tc.field == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var e *turn.Error
			if !errors.As(err, &e) || e.Code != turn.CodeInvalidTurnInput || e.Kind != turn.KindInvalid || e.Field != tc.field {
				t.Fatalf("error %v; want %s naming %s", err, turn.CodeInvalidTurnInput, tc.field)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not name %q", err, want)
				}
			}
		})
	}
}

func TestInputHashTellsInputsApart(t *testing.T) {
	t.Parallel()
	base := playerInput(nil).Hash()
	if base != playerInput(nil).Hash() || len(base) != 32 {
		t.Errorf("hash %q is not stable", base)
	}
	for name, change := range map[string]func(*turn.Input){
		"message":  func(in *turn.Input) { in.PlayerMessage += "." },
		"turn":     func(in *turn.Input) { in.TurnID = "u" },
		"locale":   func(in *turn.Input) { in.Locale = "zh-CN" },
		"settings": func(in *turn.Input) { in.UserSettings = json.RawMessage(`{"a":1}`) },
		"bad JSON": func(in *turn.Input) { in.UserSettings = json.RawMessage(`{`) },
	} {
		if playerInput(change).Hash() == base {
			t.Errorf("another %s has the same hash", name)
		}
	}
}

func TestTargetsAreMerged(t *testing.T) {
	t.Parallel()
	m := turn.ManualTrigger{RuntimeIDs: []string{"b", "a", "b"}}
	if got := strings.Join(m.Targets(), " "); got != "b a" {
		t.Errorf("targets %q; want b a", got)
	}
}
