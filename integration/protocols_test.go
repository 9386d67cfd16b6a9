package integration_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/model/scripted"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/encoding/protojson"
)

// secret is a key that must stand nowhere but in requests.
const secret = "sk-covel-test-4f9a1c77e2"

// TestProtocols plays whole turns over HTTP in each wire protocol, with the
// bundled plugins' tools, against a server that speaks it. Afterwards the key
// stands in no table, history or log.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		protocol, provider, variable, base, model, header string
	}{
		{"openai-chat-v1", "openai", "OPENAI_API_KEY", "/v1", "gpt-5.2", "Authorization"},
		{"openai-responses-v1", "openai", "OPENAI_API_KEY", "/v1", "gpt-5.2", "Authorization"},
		{"anthropic-messages-v1", "anthropic", "ANTHROPIC_API_KEY", "", "claude-opus-4-8", "X-Api-Key"},
		{"google-generative-ai-v1", "google", "GEMINI_API_KEY", "/v1beta", "gemini-3.7-flash", "X-Goog-Api-Key"},
	} {
		t.Run(p.protocol, func(t *testing.T) {
			t.Parallel()
			var calls, keyed atomic.Int64
			handler := scripted.NewHandler(scripted.HandlerConfig{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				if strings.Contains(r.Header.Get(p.header), secret) {
					keyed.Add(1)
				}
				handler.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			r := newRig(t)
			llm := writeFile(t, testenv.DataDir(t), "llm.toml",
				fmt.Sprintf("[covel.default]\nprovider = %q\nprotocol = %q\nmodel = %q\nbaseUrl = %q\n", p.provider, p.protocol, p.model, server.URL+p.base))
			r.env = append(r.env, "COVEL_LLM_CONFIG="+llm, p.variable+"="+secret)
			w := r.worker("")
			s := r.newSession("over-http")
			var last *client.Handle
			for i, line := range script {
				last = r.start(s.ID, fmt.Sprintf("turn-%d", i+1), line)
				o := r.wait(last)
				for _, id := range []string{"narrator", "affinity", "guide"} {
					if rt := runtimeOf(t, o, id); rt.Status != turn.RuntimeSuccess || rt.Usage.Input == 0 {
						t.Errorf("turn %d: %+v", i+1, rt)
					}
				}
			}
			if calls.Load() == 0 || calls.Load() != keyed.Load() {
				t.Errorf("%d requests, %d of them with the key", calls.Load(), keyed.Load())
			}
			recorded, err := trace.ReadCalls(t.Context(), r.store, s.ID)
			must(t, err)
			if len(recorded) == 0 {
				t.Error("no request was recorded")
			}
			w.Stop()
			if strings.Contains(w.Output(), secret) {
				t.Error("the key stands in the worker's log")
			}
			r.searchFor(t, last, secret)
		})
	}
}

// searchFor looks for a text in every row of the database and in a turn's
// histories.
func (r *rig) searchFor(t *testing.T, h *client.Handle, text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), r.database)
	must(t, err)
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), "select table_name from information_schema.tables where table_schema = current_schema()")
	must(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	if len(tables) < 20 {
		t.Fatalf("only %d tables are there to search", len(tables))
	}
	for _, table := range tables {
		var found int
		query := "select count(*) from " + pgx.Identifier{table}.Sanitize() + " r where r::text like '%' || $1 || '%'"
		must(t, conn.QueryRow(t.Context(), query, text).Scan(&found))
		if found > 0 {
			t.Errorf("table %s holds the text in %d rows", table, found)
		}
	}
	// Blobs are bytes, which a row's text shows in hex.
	var found int
	must(t, conn.QueryRow(t.Context(), "select count(*) from blobs where position($1::bytea in bytes) > 0", []byte(text)).Scan(&found))
	if found > 0 {
		t.Errorf("%d blobs hold the text", found)
	}
	for _, events := range r.histories(t, h) {
		for _, e := range events {
			if plain, err := protojson.Marshal(e); err != nil || strings.Contains(string(plain), text) || strings.Contains(e.String(), text) {
				t.Errorf("event %d holds the text (%v)", e.GetEventId(), err)
			}
		}
	}
}
