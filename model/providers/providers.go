// Package providers joins the gateway with every wire protocol and with what
// the environment says, the way a worker needs it (spec 04 §3.1):
//
//	gateway, notices, err := providers.New(providers.Config{})
//	for _, n := range notices {
//		log.Print(n) // at most one line each, told once at start
//	}
//
// Without an llm.toml the built-in storyteller plays every slot.
package providers

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/model/anthropic"
	"github.com/covel-engine/covel/model/gemini"
	"github.com/covel-engine/covel/model/openai"
	"github.com/covel-engine/covel/model/scripted"
	"github.com/covel-engine/covel/tokens"
)

// Config says where settings come from; the zero value reads the environment
// and the working directory.
type Config struct {
	// Clock times budgets and waits. Defaults to the machine's clock.
	Clock model.Clock
	// Getenv reads environment variables. Defaults to os.Getenv.
	Getenv func(name string) string
	// Hooks observe attempts. Defaults to none.
	Hooks []model.Hook
	// Jitter gives the backoff factor. Defaults to a random one.
	Jitter func() float64
	// Keys gives keys in place of the environment's. Defaults to the environment.
	Keys func(provider string) (string, error)
	// LLMPath is the llm.toml to read. Defaults to COVEL_LLM_CONFIG, else llm.toml
	// in the working directory; only an absent default file is not an error.
	LLMPath string
	// Media gives the bytes of a media reference. Defaults to none.
	Media func(ctx context.Context, ref string) (data []byte, mediaType string, err error)
	// ModelsPath is the user's model table. Defaults to COVEL_MODELS_FILE, else
	// models.toml beside llm.toml.
	ModelsPath string
	// OnWarning hears of slots that answer for another name. Defaults to silence.
	OnWarning func(text string)
	// Transport carries requests in place of the guarded connection. Defaults to
	// the guarded one.
	Transport http.RoundTripper
}

// New gives the gateway and the notices to show at start.
func New(c Config) (*model.Gateway, []string, error) {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	slots, notices, err := loadSlots(c)
	if err != nil {
		return nil, nil, err
	}
	table, err := loadTable(c, slots.Dir)
	if err != nil {
		return nil, nil, err
	}
	keys := c.Keys
	if keys == nil {
		keys = model.KeysFrom(c.Getenv)
	}
	gateway, err := model.NewGateway(model.Config{
		Adapters:       Adapters(slots.Dir),
		Clock:          c.Clock,
		Count:          counter(),
		ForbidLoopback: c.Getenv("COVEL_LLM_ALLOW_LOOPBACK") == "false",
		Hooks:          c.Hooks,
		Jitter:         c.Jitter,
		Keys:           keys,
		Media:          c.Media,
		NoRetry:        c.Getenv("COVEL_LLM_RETRY_DISABLED") == "1",
		OnWarning:      c.OnWarning,
		Slots:          slots,
		Table:          table,
		Transport:      c.Transport,
	})
	return gateway, notices, err
}

// Adapters gives an adapter of every protocol; scripts are looked for in dir.
func Adapters(dir string) map[string]model.Adapter {
	return map[string]model.Adapter{
		model.ProtocolAnthropic: anthropic.Adapter{},
		model.ProtocolChat:      openai.Chat{},
		model.ProtocolGemini:    &gemini.Adapter{},
		model.ProtocolResponses: openai.Responses{},
		model.ProtocolScripted:  scripted.New(scripted.Config{Dir: dir}),
	}
}

// Scripted gives a gateway in which the named script, or the storyteller, plays
// every slot, for tests and demonstrations.
func Scripted(script string) (*model.Gateway, error) {
	return model.NewGateway(model.Config{Adapters: Adapters(""), Slots: model.ScriptedSlots(script)})
}

// loadTable merges the user's model table over the embedded one. Only the
// default file may be absent.
func loadTable(c Config, dir string) (*model.Table, error) {
	path := c.ModelsPath
	if path == "" {
		path = c.Getenv("COVEL_MODELS_FILE")
	}
	if path == "" {
		return model.LoadTable(filepath.Join(dir, "models.toml"))
	}
	if _, err := os.Stat(path); err != nil {
		return nil, &model.Error{Code: model.CodeConfig, Message: "model table: " + err.Error(), Err: err}
	}
	return model.LoadTable(path)
}

// counter counts texts with named tokenizers; what was counted is remembered.
func counter() func(tokenizer, text string) int {
	estimators := map[string]tokens.Estimator{}
	for _, name := range tokens.Names() {
		if estimator, err := tokens.New(name); err == nil {
			estimators[name] = estimator
			if name != tokens.NameCovel {
				estimators[name] = tokens.NewCache(estimator, tokens.CacheConfig{})
			}
		}
	}
	return func(tokenizer, text string) int {
		if estimator, ok := estimators[tokenizer]; ok {
			return estimator.Count(text)
		}
		return model.EstimateTokens(text)
	}
}

func loadSlots(c Config) (*model.Slots, []string, error) {
	path := c.LLMPath
	if path == "" {
		path = c.Getenv("COVEL_LLM_CONFIG")
	}
	optional := path == ""
	if optional {
		path = "llm.toml"
	}
	var notices []string
	slots, err := model.LoadSlots(path)
	switch {
	case err == nil:
	case optional && errors.Is(err, fs.ErrNotExist):
		slots = model.ScriptedSlots(scripted.Storyteller)
		if notice := keyNotice(c.Getenv); notice != "" {
			notices = append(notices, notice)
		}
	default:
		return nil, nil, err
	}
	if script := c.Getenv("COVEL_LLM_SCRIPT"); script != "" {
		play := script
		if script != scripted.Storyteller {
			if play, err = filepath.Abs(script); err != nil {
				return nil, nil, model.Configf("COVEL_LLM_SCRIPT: %s: %v", script, err)
			}
		}
		slots = slots.WithScript(play)
		notices = append(notices, "COVEL_LLM_SCRIPT is set: "+script+" plays every text slot; no provider is called for text")
	}
	return slots, notices, nil
}

// keyed are the keys that a notice tells of, the first one that is set.
var keyed = []struct{ variable, provider, model string }{
	{"DEEPSEEK_API_KEY", "deepseek", "deepseek-v4-flash"},
	{"OPENAI_API_KEY", "openai", "gpt-5.4"},
	{"ANTHROPIC_API_KEY", "anthropic", "claude-sonnet-4-6"},
	{"GEMINI_API_KEY", "google", "gemini-2.5-flash"},
}

// keyNotice says how to use a key that is set while no llm.toml is there.
func keyNotice(getenv func(string) string) string {
	for _, k := range keyed {
		if getenv(k.variable) != "" {
			return k.variable + " is set, but there is no llm.toml: the built-in storyteller plays. To use the key, write llm.toml:\n" +
				"[covel.story]\nprovider = \"" + k.provider + "\"\nmodel = \"" + k.model + "\""
		}
	}
	return ""
}
