package providers_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/providers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func file(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func asks(text string) model.Params {
	return model.Params{Messages: []model.Message{{Role: model.RoleUser, Content: text}}}
}

func ExampleNew() {
	gateway, notices, err := providers.New(providers.Config{
		Getenv: func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-…"}[name] },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	target, err := gateway.Resolve("story")
	fmt.Println(target.Provider, target.Model, err)
	fmt.Println(notices[0])
	// Output:
	// scripted storyteller <nil>
	// OPENAI_API_KEY is set, but there is no llm.toml: the built-in storyteller plays. To use the key, write llm.toml:
	// [covel.story]
	// provider = "openai"
	// model = "gpt-5.4"
}

// Without a file a story is told at once, streamed, in the player's language.
func TestStorytellerPlaysEverySlot(t *testing.T) {
	t.Parallel()
	gateway, notices, err := providers.New(providers.Config{Getenv: environment()})
	if err != nil || len(notices) != 0 {
		t.Fatalf("%v, notices %q", err, notices)
	}
	for _, cue := range []string{"I light the lantern and look at the door", "我推开那扇门，朝里面看"} {
		var streamed strings.Builder
		result, err := gateway.Call(t.Context(), "story", asks(cue), func(d model.Delta) { streamed.WriteString(d.Text) })
		if err != nil || result.Text != streamed.String() || !strings.Contains(result.Text, cue) {
			t.Errorf("%v, %+v, streamed %q", err, result, streamed.String())
		}
	}
}

// Paths that were asked for must be there; broken files are refused at start.
func TestFilesThatAreAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	llm := file(t, dir, "llm.toml", "[covel.story]\nprovider = \"scripted\"\nmodel = \"storyteller\"\n")
	broken := file(t, dir, "broken.toml", "[[model]]\nid = \"x\"\nfamily = \"cats\"\n")
	for name, c := range map[string]providers.Config{
		"llm.toml by config":      {LLMPath: filepath.Join(dir, "none.toml")},
		"llm.toml by variable":    {Getenv: environment("COVEL_LLM_CONFIG", filepath.Join(dir, "none.toml"))},
		"models.toml by variable": {LLMPath: llm, Getenv: environment("COVEL_MODELS_FILE", filepath.Join(dir, "none.toml"))},
		"models.toml broken":      {LLMPath: llm, ModelsPath: broken},
	} {
		if c.Getenv == nil {
			c.Getenv = environment()
		}
		_, _, err := providers.New(c)
		var e *model.Error
		if !errors.As(err, &e) || e.Code != model.CodeConfig {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := providers.New(providers.Config{LLMPath: llm, Getenv: environment()}); err != nil {
		t.Error(err)
	}
}

// Scripts stand beside llm.toml.
func TestScriptBesideTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file(t, dir, "demo.yaml", "version: 1\nreplies:\n  - text: from the script\n")
	llm := file(t, dir, "llm.toml", "[covel.story]\nprovider = \"scripted\"\nmodel = \"demo.yaml\"\n")
	gateway, _, err := providers.New(providers.Config{LLMPath: llm, Getenv: environment()})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := gateway.Call(t.Context(), "story", asks("u"), nil); err != nil || result.Text != "from the script" {
		t.Errorf("%v, %+v", err, result)
	}
}

// COVEL_LLM_RETRY_DISABLED and COVEL_LLM_ALLOW_LOOPBACK reach the transport.
func TestTransportVariables(t *testing.T) {
	t.Parallel()
	sends := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sends++
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	llm := file(t, t.TempDir(), "llm.toml", fmt.Sprintf("[covel.story]\nprovider = \"relay\"\nmodel = \"m\"\nbaseUrl = %q\n", server.URL))
	call := func(variables ...string) *model.Error {
		gateway, _, err := providers.New(providers.Config{LLMPath: llm, Getenv: environment(append(variables, "RELAY_API_KEY", "k")...)})
		if err != nil {
			t.Fatal(err)
		}
		defer gateway.Close()
		_, err = gateway.Call(t.Context(), "story", asks("u"), nil)
		var e *model.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		return e
	}
	if e := call("COVEL_LLM_RETRY_DISABLED", "1"); e.StatusCode != 503 || sends != 1 {
		t.Errorf("%v after %d sends", e, sends)
	}
	if e := call("COVEL_LLM_ALLOW_LOOPBACK", "false"); e.Code != model.CodeConfig || !strings.Contains(e.Message, "COVEL_LLM_ALLOW_LOOPBACK") || sends != 1 {
		t.Errorf("%v after %d sends", e, sends)
	}
}
