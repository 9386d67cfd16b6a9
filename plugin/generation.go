package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Generation is an immutable set of loaded packages. Equal packages give an
// equal ID on every machine (spec 03 §12.2 manifestGeneration).
type Generation struct {
	// ID is a content hash, 16 hex digits.
	ID       string
	manifest map[string]*Manifest
	ids      []string
	runtimes map[string]*Runtime
	handlers Handlers
	schemas  map[string]*Schema           // by their JSON text
	digests  map[string]string            // content hash by package
	files    map[string]map[string][]byte // by package, then path
	broken   map[string]Broken
}

// Broken is a package that was not loaded because of errors. Replaces is the
// embedded package of its id, which does not stand in (spec 05 §1.1).
type Broken struct {
	ID       string
	Origin   string
	Replaces string
}

// Broken lists the packages that were not loaded, by id.
func (g *Generation) Broken() []Broken {
	out := make([]Broken, 0, len(g.broken))
	for _, id := range sortedKeys(g.broken) {
		out = append(out, g.broken[id])
	}
	return out
}

func newGeneration(l *loader) *Generation {
	g := &Generation{
		manifest: map[string]*Manifest{}, runtimes: map[string]*Runtime{}, handlers: l.cfg.Handlers,
		schemas: map[string]*Schema{}, broken: map[string]Broken{}, digests: map[string]string{},
		files: map[string]map[string][]byte{},
	}
	for _, m := range l.beside {
		g.digests[m.ID], g.files[m.ID] = l.cfg.Beside.digests[m.ID], l.cfg.Beside.files[m.ID]
		g.take(m)
	}
	for _, p := range l.packages {
		if p.manifest == nil || p.report.Failed() {
			g.broken[p.dir.Name] = Broken{ID: p.dir.Name, Origin: p.dir.Origin, Replaces: l.replaced[p.dir.Name]}
			continue
		}
		for i, t := range p.manifest.Contributes.Tools {
			p.manifest.Contributes.Tools[i] = g.defineTool(p.manifest, t)
		}
		g.digests[p.id()], g.files[p.id()] = p.digest, p.files
		g.take(p.manifest)
	}
	if l.cfg.Beside != nil {
		g.schemas = maps.Clone(l.cfg.Beside.schemas)
	}
	for _, m := range g.manifest {
		g.keepSchemas(m)
	}
	g.ids = sortedKeys(g.manifest)
	sum := sha256.New()
	for _, id := range g.ids {
		fmt.Fprintf(sum, "%s\x00%s\x00", id, g.digests[id])
	}
	g.ID = hex.EncodeToString(sum.Sum(nil))[:16]
	return g
}

func (g *Generation) take(m *Manifest) {
	g.manifest[m.ID] = m
	for _, r := range m.Runtimes {
		g.runtimes[r.ID] = r
	}
}

func (g *Generation) keepSchemas(m *Manifest) {
	for _, ns := range m.Contributes.Data {
		g.keepSchema(ns.Schema)
	}
	for _, t := range m.Contributes.Tools {
		g.keepSchema(t.Input)
	}
	for _, e := range m.Contributes.Events {
		g.keepSchema(e.Schema)
	}
	for _, c := range m.Contracts {
		g.keepSchema(c)
	}
}

// defineTool completes a tool that the entry registers with its definition.
func (g *Generation) defineTool(m *Manifest, t ToolDecl) ToolDecl {
	if t.Handler != "" {
		return t
	}
	name, _ := goName(m.Entry)
	if d, ok := g.handlers.Entries[name].Definitions[t.Name]; ok {
		t.Description, t.Input, t.Idempotent = d.Description, d.Input, d.Idempotent
	}
	if t.Input == nil {
		t.Input = []byte(`{"type":"object"}`)
	}
	return t
}

func (g *Generation) keepSchema(raw []byte) {
	if raw == nil || g.schemas[string(raw)] != nil {
		return
	}
	if s, err := CompileSchema(raw); err == nil {
		g.schemas[string(raw)] = s
	}
}

// Plugin gives a package's manifest.
func (g *Generation) Plugin(id string) (*Manifest, bool) {
	m, ok := g.manifest[id]
	return m, ok
}

// Plugins gives all manifests in id order.
func (g *Generation) Plugins() []*Manifest {
	out := make([]*Manifest, len(g.ids))
	for i, id := range g.ids {
		out[i] = g.manifest[id]
	}
	return out
}

// Runtime gives a runtime by its id, <plugin> or <plugin>/<name>.
func (g *Generation) Runtime(id string) (*Runtime, bool) {
	r, ok := g.runtimes[id]
	return r, ok
}

// Function gives the Go handler of a function runtime; ok is false for an
// unknown runtime and for a temporal: handler.
func (g *Generation) Function(runtimeID string) (h FunctionHandler, ok bool) {
	r, found := g.runtimes[runtimeID]
	if !found || r.Function == nil {
		return nil, false
	}
	name, _ := goName(r.Function.Handler)
	h, ok = g.handlers.Functions[name]
	return h, ok
}

// Guard gives the Go handler of a runtime's guard; ok is false without one.
func (g *Generation) Guard(runtimeID string) (h GuardHandler, ok bool) {
	r, found := g.runtimes[runtimeID]
	if !found {
		return nil, false
	}
	name, _ := goName(r.Guard)
	h, ok = g.handlers.Guards[name]
	return h, ok
}

// Projection gives the Go handler of a world projection.
func (g *Generation) Projection(pluginID, id string) (h ProjectionHandler, ok bool) {
	m, found := g.manifest[pluginID]
	if !found {
		return nil, false
	}
	name, _ := goName(m.Contributes.WorldProjections[id].Handler)
	h, ok = g.handlers.Projections[name]
	return h, ok
}

// Schema gives the compiled form of a schema of a loaded manifest, compiling
// it when it is met for the first time.
func (g *Generation) Schema(raw []byte) (*Schema, error) {
	if s, ok := g.schemas[string(raw)]; ok {
		return s, nil
	}
	return CompileSchema(raw)
}

// CheckDatum validates a value against its namespace (spec 05 §6): the
// namespace must be declared, the value at most 65,536 bytes of compact JSON
// and valid. The error is a *turn.Error of code VALIDATION_ERROR.
func (g *Generation) CheckDatum(pluginID, namespace, key string, value []byte) error {
	refuse := func(format string, args ...any) error {
		return refusef("plugin.CheckDatum", "VALIDATION_ERROR", "namespace %q, key %q of plugin %s: %s", namespace, key, pluginID, fmt.Sprintf(format, args...))
	}
	m, ok := g.manifest[pluginID]
	if !ok {
		return refuse("the plugin is not loaded")
	}
	ns, ok := m.Contributes.Data[namespace]
	if !ok {
		return refuse("the namespace is not declared; it is one of %v", sortedKeys(m.Contributes.Data))
	}
	if runes := len([]rune(key)); runes < 1 || runes > 128 || slices.ContainsFunc([]rune(key), func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return refuse("a key has 1 to 128 characters and no control characters")
	}
	compact, err := compactJSON(value)
	if err != nil {
		return refuse("the value is no JSON: %v", err)
	}
	if len(compact) > MaxDatumBytes {
		return refuse("the value has %d bytes of compact JSON, at most %d are allowed", len(compact), MaxDatumBytes)
	}
	s, err := g.Schema(ns.Schema)
	if err != nil {
		return refuse("%v", err)
	}
	if err := s.Validate(compact); err != nil {
		return refuse("%v", err)
	}
	return nil
}

// MaxDatumBytes bounds one value of plugin data (spec 05 §6).
const MaxDatumBytes = 65536
