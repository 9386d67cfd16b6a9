package session_test

import (
	"strings"
	"testing"

	"github.com/covel-engine/covel/session"
)

func TestValidateNamesTheField(t *testing.T) {
	t.Parallel()
	good := session.Session{ID: "s", WorldID: "w", Status: session.StatusActive, Phase: session.PhasePlaying}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*session.Session){
		"session.id":      func(s *session.Session) { s.ID = "" },
		"session.worldId": func(s *session.Session) { s.WorldID = "" },
		"session.status":  func(s *session.Session) { s.Status = "asleep" },
		"session.phase":   func(s *session.Session) { s.Phase = "later" },
	} {
		bad := good
		change(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestPrimarySeat(t *testing.T) {
	t.Parallel()
	if _, ok := session.PrimarySeat(nil); ok {
		t.Error("no seats have a primary one")
	}
	seats := []session.Seat{{ID: "a"}, {ID: "b", Primary: true}}
	if s, _ := session.PrimarySeat(seats); s.ID != "b" {
		t.Errorf("primary %s; want the flagged b", s.ID)
	}
	if s, _ := session.PrimarySeat(seats[:1]); s.ID != "a" {
		t.Errorf("primary %s; want the first", s.ID)
	}
}
