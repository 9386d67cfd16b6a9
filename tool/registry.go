package tool

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// Config of a Registry.
type Config struct {
	// CallTimeout is how long one handler may take. Defaults to 30 s.
	CallTimeout time.Duration
	// CheckCharacter validates a character's fields against the session's
	// character schema, which may be nil. Defaults to no check of fields.
	CheckCharacter func(schema json.RawMessage, c session.Character) error
	// Deny is the approval policy: it answers a reason to refuse a call of a
	// plugin's tool. Defaults to allowing every call.
	Deny func(ctx context.Context, pluginID, tool string) (reason string, denied bool)
	// MaxArgumentBytes bounds the arguments of a call; plugin-data-set and its
	// batch may be larger, their values are bounded (spec 05 §6). Defaults to
	// 65,536.
	MaxArgumentBytes int
	// MaxNesting bounds how deep arguments nest. Defaults to 64.
	MaxNesting int
	// MaxResultBytes bounds the result of a call. Defaults to 262,144.
	MaxResultBytes int
	// Remote runs a temporal: tool. Defaults to none: such calls are NOT_FOUND.
	Remote func(ctx context.Context, t plugin.Tool, call plugin.ToolCall) (plugin.ToolResult, error)
}

// maxDataArguments bounds the tools whose values have bounds of their own:
// 50 entries of 65,536 bytes, and their keys.
const maxDataArguments = 4 << 20

// Registry knows the builtin tools and keeps compiled schemas. It is safe for
// concurrent use.
type Registry struct {
	cfg     Config
	builtin map[string]builtin

	mu      sync.RWMutex
	schemas map[string]*plugin.Schema // of plugin tools, by their text
}

type builtin struct {
	def    model.Tool
	schema *plugin.Schema
	run    handler
}

//go:embed builtin/*.json
var definitions embed.FS

// NewRegistry reads the builtin definitions and compiles their schemas.
func NewRegistry(cfg Config) (*Registry, error) {
	for _, bound := range []struct {
		field string
		value *int
		def   int
	}{
		{"MaxArgumentBytes", &cfg.MaxArgumentBytes, 64 << 10},
		{"MaxNesting", &cfg.MaxNesting, 64},
		{"MaxResultBytes", &cfg.MaxResultBytes, 256 << 10},
	} {
		if *bound.value < 0 {
			return nil, fmt.Errorf("tool.Config.%s is %d; use a positive number, or 0 for %d", bound.field, *bound.value, bound.def)
		}
		if *bound.value == 0 {
			*bound.value = bound.def
		}
	}
	if cfg.CallTimeout < 0 {
		return nil, fmt.Errorf("tool.Config.CallTimeout is %v; use a positive duration, or 0 for 30 s", cfg.CallTimeout)
	}
	if cfg.CallTimeout == 0 {
		cfg.CallTimeout = 30 * time.Second
	}
	r := &Registry{cfg: cfg, builtin: map[string]builtin{}, schemas: map[string]*plugin.Schema{}}
	for name, run := range handlers() {
		raw, err := fs.ReadFile(definitions, "builtin/"+name+".json")
		if err != nil {
			return nil, fmt.Errorf("definition of builtin tool %s: %w", name, err)
		}
		var def model.Tool
		if err := json.Unmarshal(raw, &def); err != nil {
			return nil, fmt.Errorf("definition of builtin tool %s: %w", name, err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, def.Parameters); err != nil {
			return nil, fmt.Errorf("schema of builtin tool %s: %w", name, err)
		}
		def.Parameters = compact.Bytes()
		schema, err := plugin.CompileSchema(def.Parameters)
		if err != nil {
			return nil, fmt.Errorf("schema of builtin tool %s: %w", name, err)
		}
		r.builtin[name] = builtin{def: def, schema: schema, run: run}
	}
	return r, nil
}

// BuiltinNames lists the builtin tools in the order of spec 05 §11.1, without
// the loop's own, which a runtime has by rule and not by naming them.
func BuiltinNames() []string {
	return []string{
		"create-form", "create-choices", "create-notification",
		"plugin-data-get", "plugin-data-list", "plugin-data-set", "plugin-data-set-batch",
		"list-characters", "get-character", "create-character", "update-character", "sync-characters",
		"world-dimension-get", "world-dimension-list", "emit-event",
		"memory-search", "memory-get-block", "memory-update-block", "suspend",
	}
}

// packages is what a set needs of the session's active packages.
type packages interface {
	Tools(runtimeID string) []plugin.Tool
	Events() []plugin.EventDecl
	CheckEvent(topic string, data json.RawMessage) error
	CheckDatum(pluginID, namespace, key string, value []byte) error
}

// activePackages adds the data check of the generation to a session's view.
type activePackages struct{ *plugin.Active }

func (a activePackages) CheckDatum(pluginID, namespace, key string, value []byte) error {
	return a.Generation().CheckDatum(pluginID, namespace, key, value)
}

// noPackages has nothing: a runtime on its own.
type noPackages struct{}

func (noPackages) Tools(string) []plugin.Tool { return nil }
func (noPackages) Events() []plugin.EventDecl { return nil }
func (noPackages) CheckEvent(topic string, _ json.RawMessage) error {
	return fmt.Errorf("topic %q is not known; no package is active", topic)
}

func (noPackages) CheckDatum(pluginID, namespace, key string, _ []byte) error {
	return fmt.Errorf("namespace %q, key %q of plugin %s: no package is active", namespace, key, pluginID)
}

// ForRuntime gives the tools of one runtime: its declared ones, in declared
// order, and those of the loop. Without active packages it has builtin tools
// only.
func (r *Registry) ForRuntime(rt *plugin.Runtime, active *plugin.Active) Set {
	if active == nil {
		return r.forRuntime(rt, noPackages{})
	}
	return r.forRuntime(rt, activePackages{active})
}

func (r *Registry) forRuntime(rt *plugin.Runtime, pkgs packages) Set {
	s := Set{registry: r, runtime: rt, packages: pkgs}
	var names []string
	defers := func(string) bool { return false }
	switch {
	case rt.Agent != nil:
		names = rt.Agent.BuiltinTools
		defers = func(name string) bool { return rt.Agent.DeferAll || slices.Contains(rt.Agent.Defer, name) }
	case rt.Function != nil:
		names = rt.Function.BuiltinTools
	}
	for _, name := range names {
		if name == turn.ToolRuntimeDone || name == turn.ToolSearchTools {
			continue // the loop's own: they come by rule, not by name
		}
		e := entry{name: name, deferred: defers(name)}
		if b, ok := r.builtin[name]; ok {
			e.def, e.schema, e.builtin = b.def, b.schema, b.run
			if name == "emit-event" {
				e.def.Description += topics(pkgs.Events())
			}
		}
		s.entries = append(s.entries, e)
	}
	for _, t := range pkgs.Tools(rt.ID) {
		e := entry{name: t.Name, deferred: defers(t.Name), plugin: &t, schema: t.Schema}
		e.def = model.Tool{Name: t.Name, Description: t.Description, Parameters: t.Input}
		if e.schema == nil {
			e.schema = r.compiled(t.Input)
		}
		s.entries = append(s.entries, e)
	}
	s.addLoopTools()
	return s
}

// addLoopTools adds search-tools beside deferred tools, and runtime-done.
func (s *Set) addLoopTools() {
	rt, r := s.runtime, s.registry
	if rt.Agent == nil {
		return
	}
	add := func(name string, offered bool) {
		b := r.builtin[name]
		s.entries = append(s.entries, entry{name: name, def: b.def, schema: b.schema, builtin: b.run, silent: !offered})
	}
	for _, e := range s.entries {
		if e.deferred {
			add(turn.ToolSearchTools, true)
			break
		}
	}
	if len(rt.IO.Output.Schema) == 0 {
		mode := assembler.ModeOf(assembler.RuntimeOf(rt, nil))
		add(turn.ToolRuntimeDone, mode.OffersRuntimeDone())
	}
}

// compiled keeps the schema of a plugin's tool; nil when it cannot be used,
// which the loader has reported.
func (r *Registry) compiled(raw json.RawMessage) *plugin.Schema {
	if len(raw) == 0 {
		return nil
	}
	r.mu.RLock()
	s, ok := r.schemas[string(raw)]
	r.mu.RUnlock()
	if ok {
		return s
	}
	s, err := plugin.CompileSchema(raw)
	if err != nil {
		s = nil
	}
	r.mu.Lock()
	r.schemas[string(raw)] = s
	r.mu.Unlock()
	return s
}

// topics lists the advertised topics for the definition of emit-event.
func topics(events []plugin.EventDecl) string {
	var b strings.Builder
	for _, e := range events {
		if !e.Advertise {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\nTopics:")
		}
		fmt.Fprintf(&b, "\n- %s: %s", e.Topic, strings.TrimSpace(e.Description))
		var shape bytes.Buffer
		if len(e.Schema) > 0 && json.Compact(&shape, e.Schema) == nil {
			b.WriteString(" data: " + shape.String())
		}
	}
	return b.String()
}
