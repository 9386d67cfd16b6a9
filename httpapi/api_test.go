package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/covel-engine/covel/access"
	"github.com/covel-engine/covel/httpapi"
	"github.com/covel-engine/covel/session"
)

func TestSessionsOverHTTP(t *testing.T) {
	t.Parallel()
	l := newLab(t, httpapi.Config{}, false)
	made := l.send(t, http.MethodPost, "/v1/sessions", "", `{"world":"lanternfall","id":"game","locale":"zh-CN"}`)
	var s session.Session
	must(t, json.Unmarshal(made.body, &s))
	if made.status != http.StatusCreated || s.ID != "game" || s.Locale != "zh-CN" || s.WorldID != "lanternfall" {
		t.Fatalf("created %d %s", made.status, made.body)
	}
	if got := l.send(t, http.MethodGet, "/v1/sessions/game", "", ""); got.status != http.StatusOK || string(got.body) != string(made.body) {
		t.Errorf("read %d %s", got.status, got.body)
	}
	if got := l.send(t, http.MethodGet, "/v1/sessions?limit=5", "", ""); !strings.Contains(string(got.body), `"id":"game"`) {
		t.Errorf("list %s", got.body)
	}
	if got := l.send(t, http.MethodGet, "/v1/sessions/game/turns", "", ""); got.status != http.StatusOK || string(got.body) != "{\"turns\":[]}\n" {
		t.Errorf("turns %d %s", got.status, got.body)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	l := newLab(t, httpapi.Config{}, false)
	l.send(t, http.MethodPost, "/v1/sessions", "", `{"world":"lanternfall","id":"game"}`)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code, says               string
	}{
		{"no JSON", http.MethodPost, "/v1/sessions", `{"world":`, 400, "INVALID_VALUE", ""},
		{"empty body", http.MethodPost, "/v1/sessions", ``, 400, "INVALID_VALUE", "body"},
		{"unknown member", http.MethodPost, "/v1/sessions", `{"world":"lanternfall","colour":1}`, 400, "INVALID_VALUE", "colour"},
		{"wrong type", http.MethodPost, "/v1/sessions", `{"world":7}`, 400, "INVALID_VALUE", "world"},
		{"unknown world", http.MethodPost, "/v1/sessions", `{"world":"atlantis"}`, 404, "world_not_found", "atlantis"},
		{"used id", http.MethodPost, "/v1/sessions", `{"world":"lanternfall","id":"game"}`, 409, "ALREADY_EXISTS", "game"},
		{"unknown session", http.MethodGet, "/v1/sessions/none", ``, 404, "session_not_found", "none"},
		{"a path for an id", http.MethodGet, "/v1/sessions/..%2F..%2Fetc%2Fpasswd", ``, 404, "session_not_found", ""},
		{"a NUL for an id", http.MethodGet, "/v1/sessions/a%00b", ``, 400, "INVALID_VALUE", ""},
		{"a long id", http.MethodGet, "/v1/sessions/" + strings.Repeat("s", 129), ``, 400, "INVALID_VALUE", "session"},
		{"unknown turn", http.MethodGet, "/v1/sessions/game/turns/t9", ``, 404, "turn_not_found", "t9"},
		{"long message", http.MethodPost, "/v1/sessions/game/turns", fmt.Sprintf(`{"message":%q}`, strings.Repeat("x", 33<<10)), 400, "INVALID_VALUE", "message"},
		{"long message in bytes", http.MethodPost, "/v1/sessions/game/turns", fmt.Sprintf(`{"message":%q}`, strings.Repeat("水", 12<<10)), 400, "invalid_turn_input", "32768"},
		{"a body of 300 KiB", http.MethodPost, "/v1/sessions/game/turns", fmt.Sprintf(`{"message":%q}`, strings.Repeat("x", 300<<10)), 413, "INVALID_VALUE", ""},
		{"unknown query", http.MethodGet, "/v1/sessions?order=up", ``, 400, "INVALID_VALUE", "order"},
		{"limit too large", http.MethodGet, "/v1/sessions?limit=5000", ``, 400, "INVALID_VALUE", "limit"},
		{"a broken position", http.MethodGet, "/v1/sessions/game/turns/t1/stream?after=nonsense", ``, 400, "INVALID_VALUE", "nonsense"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := l.send(t, c.method, c.path, "", c.body)
			p := got.problem(t)
			if got.status != c.status || p.Code != c.code || !strings.Contains(p.Detail, c.says) {
				t.Errorf("status %d, %s; want %d, %s and %q", got.status, got.body, c.status, c.code, c.says)
			}
		})
	}
}

func TestTokensOpenTheirScopeOnly(t *testing.T) {
	t.Parallel()
	l := newLab(t, httpapi.Config{}, true)
	a := l.token(t, access.Request{Name: "a", Tenant: "north"})
	b := l.token(t, access.Request{Name: "b", Tenant: "south"})
	ops := l.token(t, access.Request{Name: "ops"})
	narrow := l.token(t, access.Request{Name: "narrow", Worlds: []string{"elsewhere"}})
	old := l.token(t, access.Request{Name: "old", Lifetime: time.Nanosecond})
	if got := l.send(t, http.MethodPost, "/v1/sessions", a, `{"world":"lanternfall","id":"mine"}`); got.status != http.StatusCreated {
		t.Fatalf("create %d %s", got.status, got.body)
	}
	for name, secret := range map[string]string{"none": "", "wrong": "covel_x", "expired": old} {
		got := l.send(t, http.MethodGet, "/v1/sessions/mine", secret, "")
		if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" || got.problem(t).Code != "unauthorized" {
			t.Errorf("%s token: %d %s", name, got.status, got.body)
		}
	}
	for name, secret := range map[string]string{"its own": a, "the operator's": ops} {
		if got := l.send(t, http.MethodGet, "/v1/sessions/mine", secret, ""); got.status != http.StatusOK {
			t.Errorf("%s token: %d %s", name, got.status, got.body)
		}
	}
	// What a stranger may not see looks, byte for byte, like what is not there.
	for _, secret := range []string{b, narrow} {
		for _, path := range []string{"", "/turns", "/turns/t1", "/turns/t1/stream", "/progress"} {
			there := l.send(t, http.MethodGet, "/v1/sessions/mine"+path, secret, "")
			gone := l.send(t, http.MethodGet, "/v1/sessions/none"+path, secret, "")
			if there.status != http.StatusNotFound || strings.ReplaceAll(string(there.body), "mine", "none") != string(gone.body) {
				t.Errorf("%s: %s and %s differ", path, there.body, gone.body)
			}
		}
		if got := l.send(t, http.MethodGet, "/v1/sessions", secret, ""); strings.Contains(string(got.body), "mine") {
			t.Errorf("a stranger's list has %s", got.body)
		}
		if got := l.send(t, http.MethodDelete, "/v1/sessions/mine", secret, ""); got.status != http.StatusNotFound {
			t.Errorf("a stranger deletes: %d", got.status)
		}
	}
	if got := l.send(t, http.MethodPost, "/v1/sessions", narrow, `{"world":"lanternfall"}`); got.status != http.StatusNotFound {
		t.Errorf("another world's token creates: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		if got := l.send(t, http.MethodGet, path, "", ""); got.status != http.StatusOK {
			t.Errorf("%s without a token: %d", path, got.status)
		}
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	l := newLab(t, httpapi.Config{Rate: 0.001, Burst: 2}, true)
	a, b := l.token(t, access.Request{Name: "a"}), l.token(t, access.Request{Name: "b"})
	for i, want := range []int{200, 200, 429} {
		got := l.send(t, http.MethodGet, "/v1/sessions", a, "")
		if got.status != want {
			t.Errorf("request %d: %d, want %d", i, got.status, want)
		}
		if want == 429 && (got.header.Get("Retry-After") == "" || got.problem(t).Code != "RATE_LIMITED") {
			t.Errorf("refusal %s lacks its code or Retry-After", got.body)
		}
	}
	if got := l.send(t, http.MethodGet, "/v1/sessions", b, ""); got.status != http.StatusOK {
		t.Errorf("another token is refused too: %d", got.status)
	}
}

func TestTheDescriptionNamesEveryOperation(t *testing.T) {
	t.Parallel()
	l := newLab(t, httpapi.Config{}, true)
	got := l.send(t, http.MethodGet, "/openapi.json", "", "")
	var doc struct {
		OpenAPI string                               `json:"openapi"`
		Paths   map[string]map[string]map[string]any `json:"paths"`
	}
	must(t, json.Unmarshal(got.body, &doc))
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("version %q", doc.OpenAPI)
	}
	for path, method := range map[string]string{
		"/v1/sessions":                               "post",
		"/v1/sessions/{session}":                     "delete",
		"/v1/sessions/{session}/turns":               "post",
		"/v1/sessions/{session}/turns/{turn}":        "get",
		"/v1/sessions/{session}/turns/{turn}/abort":  "post",
		"/v1/sessions/{session}/turns/{turn}/stream": "get",
		"/v1/sessions/{session}/progress":            "get",
	} {
		op := doc.Paths[path][method]
		if op == nil || op["summary"] == "" || op["responses"] == nil {
			t.Errorf("%s %s is not described", method, path)
		}
	}
}

func FuzzRequests(f *testing.F) {
	f.Add("POST", "/v1/sessions", `{"world":"lanternfall"}`)
	f.Add("POST", "/v1/sessions/game/turns", `{"message":"\ud800","userSettings":[[[[1]]]]}`)
	f.Add("GET", "/v1/sessions/%ff/turns/x/stream?after=a:1,b:2", ``)
	l := newLab(f, httpapi.Config{Rate: 1e9, Burst: 1 << 30}, false)
	handler := l.server.Config.Handler
	f.Fuzz(func(t *testing.T, method, path, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		if w.Code >= http.StatusInternalServerError && !strings.Contains(w.Body.String(), "CONFIG_ERROR") {
			t.Errorf("%s %q with %q: %d %s", method, path, body, w.Code, w.Body.String())
		}
	})
}
