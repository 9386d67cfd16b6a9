package plugin

import (
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// compile turns the checked files into the manifest. It takes what is usable,
// so that the rules after it can report everything else.
func (p *pkg) compile() {
	root := p.root.Root
	m := &Manifest{
		ID:          root.Get("id").Str(),
		Kind:        root.Get("kind").Str(),
		Description: root.Get("description").Str(),
		Version:     root.Get("version").StrOr("0.0.0"),
		Tags:        root.Get("tags").Strings(),
		Author:      root.Get("author").JSON(),
		License:     root.Get("license").Str(),
		Homepage:    root.Get("homepage").Str(),
		Covel:       root.Get("covel").Str(),
		Origin:      p.dir.Origin,
		User:        !p.dir.Embedded,
		Requires:    root.Get("requires").Strings(),
		Optional:    root.Get("optional").Strings(),
		Conflicts:   root.Get("conflicts").Strings(),
		Contracts:   map[string]json.RawMessage{},
		Entry:       root.Get("entry").Str(),
	}
	m.DisplayName = root.Get("displayName").StrOr(m.ID)
	p.manifest = m
	for _, n := range items(root.Get("provides")) {
		if n.Kind == source.String {
			m.Provides = append(m.Provides, Provided{Contract: n.Text})
			continue
		}
		m.Provides = append(m.Provides, Provided{Contract: n.Get("contract").Str(), Default: n.Get("default").True(false)})
	}
	for _, f := range fields(root.Get("contracts")) {
		if raw := p.schemaAt(f.Value.Get("schema"), p.root.Path, "contracts."+f.Key+".schema"); raw != nil {
			m.Contracts[f.Key] = raw
		}
	}
	p.compileContributes(root.Get("contributes"))
	for _, rf := range p.runtimes {
		m.Runtimes = append(m.Runtimes, p.compileRuntime(rf))
	}
}

func items(n *source.Node) []*source.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

func fields(n *source.Node) []source.Field {
	if n == nil {
		return nil
	}
	return n.Fields
}

func (p *pkg) compileContributes(n *source.Node) {
	c := &p.manifest.Contributes
	path := p.root.Path
	c.Data = map[string]DataNamespace{}
	c.WorldProjections = map[string]WorldProjection{}
	for i, t := range items(n.Get("tools")) {
		if t.Kind == source.String {
			c.Tools = append(c.Tools, ToolDecl{Name: t.Text})
			continue
		}
		c.Tools = append(c.Tools, ToolDecl{
			Name: t.Get("name").Str(), Handler: t.Get("handler").Str(), Description: t.Get("description").Str(),
			Input:      p.schemaAt(t.Get("input"), path, shape.Index("contributes.tools", i)+".input"),
			Idempotent: t.Get("idempotent").True(false),
		})
	}
	for _, s := range items(n.Get("services")) {
		if s.Kind == source.String {
			c.Services = append(c.Services, ServiceDecl{Contract: s.Text})
			continue
		}
		c.Services = append(c.Services, ServiceDecl{Contract: s.Get("contract").Str(), Handler: s.Get("handler").Str()})
	}
	for _, e := range items(n.Get("extensions")) {
		c.Extensions = append(c.Extensions, ExtensionDecl{
			Point: e.Get("point").Str(), ID: e.Get("id").Str(), Order: e.Get("order").Int(0), Handler: e.Get("handler").Str(),
		})
	}
	for _, h := range items(n.Get("hooks")) {
		c.Hooks = append(c.Hooks, HookDecl{Event: h.Get("event").Str(), Enforce: h.Get("enforce").StrOr("normal"), Handler: h.Get("handler").Str()})
	}
	for i, e := range items(n.Get("events")) {
		c.Events = append(c.Events, EventDecl{
			Topic: e.Get("topic").Str(), Description: e.Get("description").Str(), Advertise: e.Get("advertise").True(true),
			Schema: p.schemaAt(e.Get("schema"), path, shape.Index("contributes.events", i)+".schema"),
		})
	}
	for _, s := range items(n.Get("settings")) {
		c.Settings = append(c.Settings, compileSetting(s))
	}
	for _, f := range fields(n.Get("data")) {
		c.Data[f.Key] = p.compileNamespace(f)
	}
	for _, f := range fields(n.Get("worldProjections")) {
		w := WorldProjection{From: f.Value.Get("from").Str(), Handler: f.Value.Get("handler").Str(), Outputs: map[string]ProjectionOutput{}}
		for _, o := range fields(f.Value.Get("outputs")) {
			w.Outputs[o.Key] = ProjectionOutput{Namespace: o.Value.Get("namespace").Str(), Key: o.Value.Get("key").Str()}
		}
		c.WorldProjections[f.Key] = w
	}
	for _, s := range items(n.Get("prompt")) {
		c.Prompt = append(c.Prompt, StaticSegment{
			ID: s.Get("id").Str(), Content: map[string]string{"en": s.Get("content").Str()},
			Position: s.Get("position").JSON(), Role: s.Get("role").StrOr("system"),
		})
	}
}

func (p *pkg) compileNamespace(f source.Field) DataNamespace {
	field := "contributes.data." + f.Key
	d := DataNamespace{
		Schema:      p.schemaAt(f.Value.Get("schema"), p.root.Path, field+".schema"),
		Version:     f.Value.Get("version").Int(1),
		Description: f.Value.Get("description").Str(),
		Accepts:     f.Value.Get("accepts").Strings(),
		SearchText:  f.Value.Get("search").Get("text").Str(),
		Authoring:   f.Value.Get("authoring").JSON(),
	}
	return d
}

func compileSetting(n *source.Node) Setting {
	s := Setting{
		Key: n.Get("key").Str(), Type: n.Get("type").Str(), Default: n.Get("default").JSON(),
		Label: n.Get("label").Str(), Description: n.Get("description").Str(),
		Min: number(n.Get("min")), Max: number(n.Get("max")), Step: number(n.Get("step")),
	}
	for _, o := range items(n.Get("options")) {
		s.Options = append(s.Options, SettingOption{Value: o.Get("value").Str(), Label: o.Get("label").StrOr(o.Get("value").Str())})
	}
	return s
}

func number(n *source.Node) *float64 {
	if v, ok := n.Float(); ok {
		return &v
	}
	return nil
}

func (p *pkg) compileRuntime(rf runtimeFile) *Runtime {
	n := rf.node
	r := &Runtime{
		ID: rf.id, PluginID: p.manifest.ID, Type: n.Get("type").Str(),
		Description: n.Get("description").StrOr(p.manifest.Description),
		Guard:       n.Get("guard").Str(),
		Body:        map[string]string{"en": trimBody(rf.file.Body)},
		Effects: EffectsDecl{
			Reads: n.Get("effects").Get("reads").Strings(), Writes: n.Get("effects").Get("writes").Strings(),
			ParallelSafe: n.Get("effects").Get("parallelSafe").True(false),
		},
	}
	r.Schedule = compileSchedule(n.Get("schedule"))
	r.IO = p.compileIO(rf)
	for _, h := range items(n.Get("permissions").Get("http")) {
		r.HTTP = append(r.HTTP, HTTPPermission{Origin: h.Get("origin").Str(), Methods: h.Get("methods").Strings()})
	}
	if r.Type == "agent" {
		r.Agent = p.compileAgent(n.Get("agent"))
	}
	if f := n.Get("function"); f != nil && r.Type == "function" {
		builtin, plugin := p.compileTools(f.Get("tools"))
		r.Function = &Function{
			Handler: f.Get("handler").Str(), Model: f.Get("model").Str(), TimeoutMs: int64(f.Get("timeoutMs").Int(0)),
			Idempotent: f.Get("idempotent").True(false), BuiltinTools: builtin, PluginTools: plugin,
		}
	}
	return r
}

func trimBody(s string) string { return strings.Trim(s, "\n") }

func compileSchedule(n *source.Node) Schedule {
	t := n.Get("trigger")
	s := Schedule{
		Stage: n.Get("stage").Str(),
		Trigger: Trigger{
			Type: t.Get("type").StrOr(TriggerAuto), Interval: t.Get("interval").Int(1), Topic: t.Get("topic").Str(),
			MaxTriggerCount: t.Get("maxTriggerCount").Int(0), CooldownTurns: t.Get("cooldownTurns").Int(0), StartTurn: t.Get("startTurn").Int(1),
		},
		ManualExecution: n.Get("manual").Get("execution").StrOr("sync"),
	}
	for _, d := range items(n.Get("needs")) {
		s.Needs = append(s.Needs, compileDependency(d))
	}
	for _, d := range items(n.Get("after")) {
		s.After = append(s.After, compileDependency(d))
	}
	if c := n.Get("completion"); c != nil {
		s.Completion = Completion{
			Detached: c.Get("mode").Str() == "detached", Settle: c.Has("settle"),
			MaxSettleWaitMs: int64(c.Get("maxSettleWaitMs").Int(0)), MaxQueueMs: int64(c.Get("maxQueueMs").Int(0)), MaxExecutionMs: int64(c.Get("maxExecutionMs").Int(0)),
		}
		if s.Completion.Settle && s.Completion.MaxSettleWaitMs == 0 {
			s.Completion.MaxSettleWaitMs = 30000
		}
	}
	return s
}

func compileDependency(n *source.Node) Dependency {
	d := Dependency{Runtime: n.Get("runtime").Str(), Contract: n.Get("contract").Str(), Scope: n.Get("scope").StrOr("turn")}
	if n.Kind == source.String {
		d.Runtime = n.Text
	}
	if d.Contract != "" {
		d.Cardinality = n.Get("cardinality").StrOr("one")
	}
	return d
}

func (p *pkg) compileIO(rf runtimeFile) IO {
	n := rf.node.Get("io")
	field := at(rf.prefix, "io")
	path := rf.file.Path
	io := IO{Visibility: n.Get("visibility").StrOr(VisibilityPlugin), Concealed: n.Get("concealed").True(false)}
	for _, f := range fields(n.Get("inputs")) {
		from := f.Value.Get("from")
		in := Input{
			Name: f.Key, Runtime: from.Get("runtime").Str(), Contract: from.Get("contract").Str(), Kernel: from.Get("kernel").Str(),
			Cardinality: from.Get("cardinality").StrOr("one"), Scope: f.Value.Get("scope").StrOr("turn"), Select: f.Value.Get("select").Str(),
			Required: f.Value.Get("required").True(true), RecordAs: f.Value.Get("recordAs").Str(),
		}
		accepts := f.Value.Get("accepts")
		if c, ok := strings.CutPrefix(accepts.Str(), "contract:"); ok && shape.Contract.Match(c) {
			in.AcceptsContract = c // resolved over all packages by crossCheck
		} else {
			in.Accepts = p.schemaAt(accepts, path, field+".inputs."+f.Key+".accepts")
		}
		io.Inputs = append(io.Inputs, in)
	}
	for _, s := range items(n.Get("selfData")) {
		io.SelfData = append(io.SelfData, SelfData{
			Namespace: s.Get("namespace").Str(), As: s.Get("as").Str(), Format: s.Get("format").StrOr("summary"), MaxEntries: s.Get("maxEntries").Int(50),
		})
	}
	io.PayloadSchema = p.schemaAt(n.Get("payloadSchema"), path, field+".payloadSchema")
	out := n.Get("output")
	io.Output = Output{Contract: out.Get("contract").Str(), RecordAs: out.Get("recordAs").Str()}
	if schema := out.Get("schema"); !strings.HasPrefix(schema.Str(), "contract:") {
		io.Output.Schema = p.schemaAt(schema, path, field+".output.schema")
	}
	return io
}

func (p *pkg) compileAgent(n *source.Node) *Agent {
	loop := n.Get("loop")
	a := &Agent{
		Model:              n.Get("model").StrOr("default"),
		ReasoningOff:       n.Has("reasoning"),
		ToolChoiceRequired: n.Get("toolChoice").Str() == "required",
		ToolChoiceName:     n.Get("toolChoice").Get("name").Str(),
		AdvertiseEvents:    n.Get("advertiseEvents").True(false),
		MaxSteps:           loop.Get("maxSteps").Int(20),
		TimeoutMs:          int64(loop.Get("timeoutMs").Int(0)),
		CallTimeoutMs:      int64(loop.Get("callTimeoutMs").Int(0)),
		MaxRetries:         intOr(loop.Get("maxRetries"), 1),
		LoopDetection:      intOr(loop.Get("loopDetection"), 3),
		MaxRecursionDepth:  intOr(loop.Get("maxRecursionDepth"), 10),
		Require:            loop.Get("completion").Get("require").Str(),
		AfterTools:         loop.Get("completion").Get("afterTools").Strings(),
		FinalizerMaxSteps:  loop.Get("finalizer").Get("maxSteps").Int(0),
	}
	a.FirstTokenTimeoutMs = int64(loop.Get("firstTokenTimeoutMs").Int(120000))
	a.IdleTimeoutMs = int64(loop.Get("idleTimeoutMs").Int(120000))
	if h := n.Get("history"); h.Has("maxTurns") {
		turns := h.Get("maxTurns").Int(0)
		a.HistoryMaxTurns = &turns
		a.IncludeSummaries = h.Get("includeSummaries").True(false)
	}
	a.BuiltinTools, a.PluginTools = p.compileTools(n.Get("tools"))
	a.DeferAll = n.Get("tools").Get("defer").True(false)
	a.Defer = n.Get("tools").Get("defer").Strings()
	return a
}

// compileTools applies the default of layout (a): all tools of the package.
func (p *pkg) compileTools(n *source.Node) (builtin, plugin []string) {
	builtin = n.Get("builtin").Strings()
	if n.Has("plugin") {
		return builtin, n.Get("plugin").Strings()
	}
	if p.layoutA {
		for _, t := range p.manifest.Contributes.Tools {
			plugin = append(plugin, t.Name)
		}
	}
	return builtin, plugin
}

func intOr(n *source.Node, def int) *int {
	v := n.Int(def)
	return &v
}
