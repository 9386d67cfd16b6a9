package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/store"
)

func TestParseTraceRetention(t *testing.T) {
	t.Parallel()
	t.Run("C2-118", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []string{"0", "-1", "1.5", "ten", " 3", "99999999999"} {
			_, err := store.ParseTraceRetention(bad)
			if err == nil || !strings.Contains(err.Error(), "COVEL_TRACE_RETENTION_DAYS") || !strings.Contains(err.Error(), bad) {
				t.Errorf("%q: error %v does not name setting and value", bad, err)
			}
		}
		if d, err := store.ParseTraceRetention(""); d != 0 || err != nil {
			t.Errorf("unset: %v, %v; want 0, which keeps everything", d, err)
		}
		if d, err := store.ParseTraceRetention("30"); d != 30*24*time.Hour || err != nil {
			t.Errorf("30: %v, %v", d, err)
		}
	})
}

func TestCheckPluginNamespace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		namespace string
		owner     bool
		refused   bool
	}{
		{"notes", false, false},
		{"_jobs", false, true},
		{"_jobs", true, true},
		{"_logs", true, true},
		{"_hidden.clues", false, true},
		{"_hidden.clues", true, false},
		{"_hidden", true, true},
	} {
		err := store.CheckPluginNamespace(c.namespace, c.owner)
		if refused := errors.Is(err, &store.Error{Code: store.CodeReservedNamespace}); refused != c.refused {
			t.Errorf("%q, owner %v: %v", c.namespace, c.owner, err)
		}
	}
}

func TestErrorNamesEverything(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk gone")
	err := error(&store.Error{Code: store.CodeInvalidValue, Op: "append messages", Table: "turn_messages", ID: "m1", Value: "x", Err: cause})
	const want = `append messages (turn_messages): INVALID_VALUE: id "m1": value "x": disk gone`
	if err.Error() != want {
		t.Errorf("got %s", err)
	}
	if !errors.Is(err, cause) || errors.Is(err, store.ErrNotFound) {
		t.Error("the cause is matched, another code is not")
	}
}
