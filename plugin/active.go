package plugin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/covel-engine/covel/locale"
)

// Active is the view of a Generation that one session has: its active packages
// in id order.
type Active struct {
	gen *Generation
	ids []string
}

// Active gives the view of some packages; ids that are not loaded are left out
// (Missing names them).
func (g *Generation) Active(ids []string) *Active {
	a := &Active{gen: g}
	for _, id := range ids {
		if _, ok := g.manifest[id]; ok {
			a.ids = append(a.ids, id)
		}
	}
	slices.Sort(a.ids)
	a.ids = slices.Compact(a.ids)
	return a
}

// Missing gives those of some ids that are not loaded.
func (g *Generation) Missing(ids []string) []string {
	var out []string
	for _, id := range ids {
		if _, ok := g.manifest[id]; !ok {
			out = append(out, id)
		}
	}
	return out
}

// Generation gives the set that the view belongs to.
func (a *Active) Generation() *Generation { return a.gen }

// IDs gives the active packages' ids, sorted.
func (a *Active) IDs() []string { return slices.Clone(a.ids) }

// Has says whether a package is active.
func (a *Active) Has(id string) bool { return slices.Contains(a.ids, id) }

// Plugins gives the active manifests in id order.
func (a *Active) Plugins() []*Manifest {
	out := make([]*Manifest, len(a.ids))
	for i, id := range a.ids {
		out[i] = a.gen.manifest[id]
	}
	return out
}

// Runtimes gives the runtimes of all active packages in id order.
func (a *Active) Runtimes() []*Runtime {
	var out []*Runtime
	for _, m := range a.Plugins() {
		out = append(out, m.Runtimes...)
	}
	slices.SortFunc(out, func(x, y *Runtime) int { return cmp.Compare(x.ID, y.ID) })
	return out
}

// Runtime gives a runtime of an active package.
func (a *Active) Runtime(id string) (*Runtime, bool) {
	r, ok := a.gen.runtimes[id]
	if !ok || !a.Has(r.PluginID) {
		return nil, false
	}
	return r, true
}

// Producers gives the runtimes whose output has a contract, in id order.
func (a *Active) Producers(contract string) []*Runtime {
	var out []*Runtime
	for _, r := range a.Runtimes() {
		if r.IO.Output.Contract == contract {
			out = append(out, r)
		}
	}
	return out
}

// Provider gives the active package that provides a contract, the first by id.
func (a *Active) Provider(contract string) (*Manifest, bool) {
	for _, m := range a.Plugins() {
		if m.provides(contract) {
			return m, true
		}
	}
	return nil, false
}

func (m *Manifest) provides(contract string) bool {
	return slices.ContainsFunc(m.Provides, func(p Provided) bool { return p.Contract == contract })
}

// Tool is a plugin's tool with its handler. Run is nil for a temporal: handler,
// which Handler names.
type Tool struct {
	ToolDecl
	PluginID string
	Run      ToolHandler
	Schema   *Schema
}

// Tools gives the plugin tools of a runtime in declared order; builtin tools
// are named by Agent.BuiltinTools and Function.BuiltinTools.
func (a *Active) Tools(runtimeID string) []Tool {
	r, ok := a.Runtime(runtimeID)
	if !ok {
		return nil
	}
	var names []string
	switch {
	case r.Agent != nil:
		names = r.Agent.PluginTools
	case r.Function != nil:
		names = r.Function.PluginTools
	}
	out := make([]Tool, 0, len(names))
	for _, name := range names {
		if t, ok := a.Tool(r.PluginID, name); ok {
			out = append(out, t)
		}
	}
	return out
}

// Tool gives one tool of an active package.
func (a *Active) Tool(pluginID, name string) (Tool, bool) {
	if !a.Has(pluginID) {
		return Tool{}, false
	}
	m := a.gen.manifest[pluginID]
	i := slices.IndexFunc(m.Contributes.Tools, func(t ToolDecl) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	decl := m.Contributes.Tools[i]
	t := Tool{ToolDecl: decl, PluginID: pluginID, Schema: a.gen.schemas[string(decl.Input)]}
	if ref, ok := goName(decl.Handler); ok {
		t.Run = a.gen.handlers.Tools[ref]
	} else if decl.Handler == "" {
		t.Run = a.registration(m).Tools[name]
	}
	return t, true
}

func (a *Active) registration(m *Manifest) Registration {
	name, _ := goName(m.Entry)
	return a.gen.handlers.Entries[name]
}

// Extension is a provider of an extension point. Exactly one of Segment and
// Run is set, none for a temporal: handler, which Handler names.
type Extension struct {
	ExtensionDecl
	PluginID string
	Segment  SegmentHandler
	Run      ExtensionHandler
}

// Extensions gives the providers of a point in the order in which they run: by
// order, plugin id, id (spec 05 §4.1).
func (a *Active) Extensions(point string) []Extension {
	var out []Extension
	for _, m := range a.Plugins() {
		reg := a.registration(m)
		for _, e := range m.Contributes.Extensions {
			if e.Point != point {
				continue
			}
			x := Extension{ExtensionDecl: e, PluginID: m.ID}
			ref, isGo := goName(e.Handler)
			switch {
			case isGo && point == PointSegment:
				x.Segment = a.gen.handlers.Segments[ref]
			case isGo:
				x.Run = a.gen.handlers.Extensions[ref]
			case e.Handler == "" && point == PointSegment:
				x.Segment = reg.Segments[e.ID]
			case e.Handler == "":
				x.Run = reg.Extensions[extensionKey(point, e.ID)]
			}
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y Extension) int {
		return cmp.Or(cmp.Compare(x.Order, y.Order), cmp.Compare(x.PluginID, y.PluginID), cmp.Compare(x.ID, y.ID))
	})
	return out
}

// StaticSegments gives the fixed segments of all active packages in the
// instruction language lang, the exact variant of the session's locale first
// (spec 05 §5.1).
func (a *Active) StaticSegments(sessionLocale, lang string) []Segment {
	var out []Segment
	for _, m := range a.Plugins() {
		for _, s := range m.Contributes.Prompt {
			out = append(out, Segment{
				ID: s.ID, Content: Localized(s.Content, sessionLocale, lang), Position: s.Position, Role: s.Role,
				Audience: json.RawMessage(`"self"`), Volatility: "stable", Provider: m.ID,
			})
		}
	}
	return out
}

// Localized picks a text: the variant of the exact locale when it belongs to
// the instruction language, then that language's, then English.
func Localized(texts map[string]string, sessionLocale, lang string) string {
	if exact := locale.Canonical(sessionLocale); lang == "zh" && slices.Contains(variantNames, exact) {
		if t, ok := texts[exact]; ok {
			return t
		}
	}
	if t, ok := texts[lang]; ok {
		return t
	}
	return texts["en"]
}

// Hook is one declared hook. Run is nil for a temporal: handler.
type Hook struct {
	HookDecl
	PluginID string
	Run      HookHandler
}

// Hooks gives the hooks of an event in the order in which they run: pre,
// normal, post; inside by plugin id, then as declared.
func (a *Active) Hooks(event string) []Hook {
	rank := map[string]int{"pre": 0, "normal": 1, "post": 2}
	var out []Hook
	for _, m := range a.Plugins() {
		reg := a.registration(m)
		for _, h := range m.Contributes.Hooks {
			if h.Event != event {
				continue
			}
			x := Hook{HookDecl: h, PluginID: m.ID}
			if ref, ok := goName(h.Handler); ok {
				x.Run = a.gen.handlers.Hooks[ref]
			} else if h.Handler == "" {
				x.Run = reg.Hooks[event]
			}
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y Hook) int { return cmp.Compare(rank[x.Enforce], rank[y.Enforce]) })
	return out
}

// Service is one provider of a service contract.
type Service struct {
	ServiceDecl
	PluginID string
	Run      ServiceHandler
}

// Services gives the providers of a service contract by plugin id.
func (a *Active) Services(contract string) []Service {
	var out []Service
	for _, m := range a.Plugins() {
		for _, s := range m.Contributes.Services {
			if s.Contract != contract {
				continue
			}
			x := Service{ServiceDecl: s, PluginID: m.ID}
			if ref, ok := goName(s.Handler); ok {
				x.Run = a.gen.handlers.Services[ref]
			} else if s.Handler == "" {
				x.Run = a.registration(m).Services[contract]
			}
			out = append(out, x)
		}
	}
	return out
}

// Events gives the catalogue of all active packages, by topic (spec 05 §7).
func (a *Active) Events() []EventDecl {
	var out []EventDecl
	seen := map[string]bool{}
	for _, m := range a.Plugins() {
		for _, e := range m.Contributes.Events {
			if !seen[e.Topic] {
				seen[e.Topic] = true
				out = append(out, e)
			}
		}
	}
	slices.SortFunc(out, func(x, y EventDecl) int { return cmp.Compare(x.Topic, y.Topic) })
	return out
}

// CheckEvent validates an event's data: an unknown topic's error lists the
// known ones.
func (a *Active) CheckEvent(topic string, data json.RawMessage) error {
	events := a.Events()
	var topics []string
	for _, e := range events {
		topics = append(topics, e.Topic)
		if e.Topic != topic {
			continue
		}
		s, err := a.gen.Schema(e.Schema)
		if err != nil {
			return err
		}
		return s.Validate(data)
	}
	return fmt.Errorf("topic %q is not known; known topics: %v", topic, topics)
}

// Receiver is a namespace that accepts world data of a contract.
type Receiver struct {
	PluginID  string
	Name      string
	Namespace DataNamespace
}

// Receivers gives the active namespaces that accept a contract, by plugin id
// and name.
func (a *Active) Receivers(contract string) []Receiver {
	var out []Receiver
	for _, m := range a.Plugins() {
		for _, name := range sortedKeys(m.Contributes.Data) {
			if ns := m.Contributes.Data[name]; slices.Contains(ns.Accepts, contract) {
				out = append(out, Receiver{PluginID: m.ID, Name: name, Namespace: ns})
			}
		}
	}
	return out
}

func compactJSON(value []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return nil, fmt.Errorf("compact JSON: %w", err)
	}
	return b.Bytes(), nil
}
