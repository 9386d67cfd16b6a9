package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// BuiltinTools are the names of spec 05 §11.1.
var BuiltinTools = []string{
	"create-character", "create-choices", "create-form", "create-notification", "emit-event", "get-character", "list-characters",
	"memory-get-block", "memory-search", "memory-update-block", "plugin-data-get", "plugin-data-list", "plugin-data-set", "plugin-data-set-batch",
	"runtime-done", "search-tools", "suspend", "sync-characters", "update-character", "world-dimension-get", "world-dimension-list",
}

// runtimeRules checks one runtime against the rules that span fields.
type runtimeRules struct {
	p  *pkg
	rf runtimeFile
	r  *Runtime
}

func (p *pkg) checkRuntime(i int) {
	c := runtimeRules{p: p, rf: p.runtimes[i], r: p.manifest.Runtimes[i]}
	if c.rf.node.Kind != source.Map {
		return
	}
	c.checkType()
	c.checkStage()
	c.checkCompletion()
	c.checkDependencies("needs")
	c.checkDependencies("after")
	c.checkInputs()
	c.checkOutput()
	c.checkSelfData()
	c.checkAgent()
}

// bad reports an error at a field of the runtime object.
func (c runtimeRules) bad(code, field string, n, parent *source.Node, problem, fix string) {
	full := at(c.rf.prefix, field)
	c.p.add(code, c.rf.file.Path, full, n, parent, full+problem, fix)
}

func (c runtimeRules) forbidden(field string, n *source.Node, why, fix string) {
	c.bad("forbidden-field", field, n, c.rf.node, fmt.Sprintf(" %s %s", source.Show(n), why), fix)
}

func (c runtimeRules) missing(field string, parent *source.Node, expect string) {
	shape.Missing(c.p.report, c.rf.file.Path, parent.LineOr(c.rf.node.Line), at(c.rf.prefix, field), expect)
}

func (c runtimeRules) checkType() {
	n := c.rf.node
	switch c.r.Type {
	case "function":
		if !n.Get("function").Has("handler") {
			parent := n.Get("function")
			if parent == nil {
				parent = n
			}
			c.missing("function.handler", parent, "; a function needs it")
		}
		if a := n.Get("agent"); a != nil {
			c.forbidden("agent", a, "stands in a function", "Remove agent, or set type: agent.")
		}
	case "agent":
		if f := n.Get("function"); f != nil {
			c.forbidden("function", f, "stands in an agent", "Remove function, or set type: function.")
		}
	}
}

func (c runtimeRules) checkStage() {
	schedule := c.rf.node.Get("schedule")
	trigger := schedule.Get("trigger")
	typ := c.r.Schedule.Trigger.Type
	stage := schedule.Get("stage")
	switch typ {
	case TriggerAuto, TriggerScheduled:
		if stage == nil {
			c.missing("schedule.stage", schedule, "; it is one of "+strings.Join(stages, ", "))
		}
	case TriggerEvent, TriggerManual:
		if stage != nil {
			c.forbidden("schedule.stage", stage, "stands beside trigger "+typ, "Remove the stage; event and manual runtimes have none.")
		}
	}
	if typ == TriggerEvent && !trigger.Has("topic") {
		c.missing("schedule.trigger.topic", trigger, "; an event trigger needs it")
	}
	if n := trigger.Get("topic"); n != nil && typ != TriggerEvent {
		c.forbidden("schedule.trigger.topic", n, "stands beside trigger "+typ, "Remove it, or set type: event.")
	}
	setup := c.r.Schedule.Stage == "setup"
	if n := trigger.Get("interval"); n != nil && (typ != TriggerScheduled || setup) {
		c.forbidden("schedule.trigger.interval", n, "needs trigger type scheduled outside of setup", "Remove it.")
	}
	if setup {
		if typ == TriggerScheduled {
			c.bad("invalid-value", "schedule.trigger.type", trigger.Get("type"), trigger, fmt.Sprintf(" %q is not possible in setup", typ), "Use auto in setup.")
		}
		for _, field := range []string{"cooldownTurns", "startTurn"} {
			if n := trigger.Get(field); n != nil {
				c.forbidden("schedule.trigger."+field, n, "stands in setup", "Remove it; setup runs before the first turn.")
			}
		}
	}
	if n := schedule.Get("manual"); n != nil && typ != TriggerEvent && typ != TriggerManual {
		c.forbidden("schedule.manual", n, "stands beside trigger "+typ, "Remove it; only event and manual runtimes have it.")
	}
	if n := c.rf.node.Get("io").Get("payloadSchema"); n != nil && typ != TriggerEvent && typ != TriggerManual {
		c.forbidden("io.payloadSchema", n, "stands beside trigger "+typ, "Remove it; only event and manual runs have a payload.")
	}
}

func (c runtimeRules) checkCompletion() {
	n := c.rf.node.Get("schedule").Get("completion")
	if n == nil {
		return
	}
	mode := n.Get("mode")
	if !c.r.Schedule.Completion.Detached {
		for _, f := range n.Fields {
			if f.Key != "mode" {
				c.forbidden("schedule.completion."+f.Key, f.Value, "needs mode: detached", "Remove it, or set mode: detached.")
			}
		}
		return
	}
	typ, stage := c.r.Schedule.Trigger.Type, c.r.Schedule.Stage
	switch {
	case c.r.Story():
		c.forbidden("schedule.completion.mode", mode, "stands on a story runtime", "Await story runtimes.")
	case typ == TriggerEvent || typ == TriggerManual:
		c.forbidden("schedule.completion.mode", mode, "stands beside trigger "+typ, "Use schedule.manual.execution: background instead.")
	case stage != "post-turn" && stage != "audit":
		c.forbidden("schedule.completion.mode", mode, fmt.Sprintf("stands in stage %q", stage), "Only post-turn and audit runtimes can be detached.")
	}
	if w := n.Get("maxSettleWaitMs"); w != nil && !n.Has("settle") {
		c.forbidden("schedule.completion.maxSettleWaitMs", w, "needs settle", "Add settle: before-next-execution, or remove it.")
	}
}

func (c runtimeRules) checkDependencies(list string) {
	schedule := c.rf.node.Get("schedule")
	for i, n := range items(schedule.Get(list)) {
		field := shape.Index("schedule."+list, i)
		d := compileDependency(n)
		if n.Kind == source.Map {
			c.oneOf(field, n, "runtime", "contract")
			if x := n.Get("cardinality"); x != nil && d.Contract == "" {
				c.forbidden(field+".cardinality", x, "needs a contract", "Remove it.")
			}
			if x := n.Get("scope"); x != nil && d.Scope == "session" && c.r.Schedule.Stage != "setup" {
				c.forbidden(field+".scope", x, "is for setup runtimes only", "Remove scope, or use turn.")
			}
		}
		c.runtimeRef(d.Runtime, field, n)
		if list == "needs" {
			c.contractRef(d.Contract, field, n)
		}
	}
}

// oneOf wants exactly one of some members.
func (c runtimeRules) oneOf(field string, n *source.Node, names ...string) {
	var present []string
	for _, name := range names {
		if n.Has(name) {
			present = append(present, name)
		}
	}
	want := strings.Join(names, " or ")
	switch len(present) {
	case 0:
		c.missing(field+"."+names[0], n, "; write "+want)
	case 1:
	default:
		c.forbidden(field+"."+present[1], n.Get(present[1]), "stands beside "+present[0], "Keep one of "+want+".")
	}
}

func (c runtimeRules) runtimeRef(id, field string, n *source.Node) {
	if id == "" || !shape.RuntimeID.Match(id) {
		return
	}
	own := c.p.manifest.ID
	switch {
	case id != own && !strings.HasPrefix(id, own+"/"):
		c.bad("foreign-runtime", field, n, c.rf.node, fmt.Sprintf(" %q is a runtime of another package", id), "Depend on a contract that the other package provides: {contract: <name>@<version>}.")
	case !slices.ContainsFunc(c.p.runtimes, func(rf runtimeFile) bool { return rf.id == id }):
		c.bad("unknown-reference", field, n, c.rf.node, fmt.Sprintf(" %q is no runtime of this package", id), "Name one of "+strings.Join(c.runtimeIDs(), ", ")+".")
	}
}

func (c runtimeRules) runtimeIDs() []string {
	var ids []string
	for _, rf := range c.p.runtimes {
		ids = append(ids, rf.id)
	}
	return ids
}

func (c runtimeRules) contractRef(name, field string, n *source.Node) {
	if name == "" || !shape.Contract.Match(name) || slices.Contains(c.p.manifest.Requires, name) || slices.Contains(c.p.manifest.Optional, name) {
		return
	}
	c.bad("undeclared-contract", field, n, c.rf.node, fmt.Sprintf(" uses contract %q, which is in neither requires nor optional", name), "Add it to requires or optional in PLUGIN.md.")
}

func (c runtimeRules) checkInputs() {
	inputs := c.rf.node.Get("io").Get("inputs")
	for i, f := range fields(inputs) {
		if i >= len(c.r.IO.Inputs) {
			return
		}
		in := c.r.IO.Inputs[i]
		field := "io.inputs." + f.Key
		from := f.Value.Get("from")
		if from != nil && from.Kind == source.Map {
			c.oneOf(field+".from", from, "runtime", "contract", "kernel")
			if x := from.Get("cardinality"); x != nil && in.Contract == "" {
				c.forbidden(field+".from.cardinality", x, "needs a contract", "Remove it.")
			}
		}
		c.runtimeRef(in.Runtime, field+".from.runtime", from)
		c.contractRef(in.Contract, field+".from.contract", from)
		if in.Scope == "committed" {
			if x := f.Value.Get("select"); x != nil {
				c.forbidden(field+".select", x, "stands beside scope: committed", "Remove select; record the part you need.")
			}
			if x := from.Get("kernel"); x != nil {
				c.forbidden(field+".from.kernel", x, "stands beside scope: committed", "Use scope: turn for kernel inputs.")
			}
			if !f.Value.Has("recordAs") {
				c.missing(field+".recordAs", f.Value, "; scope: committed needs it")
			}
		}
	}
}

func (c runtimeRules) checkOutput() {
	io := c.rf.node.Get("io")
	out := io.Get("output")
	contract := c.r.IO.Output.Contract
	if contract != "" && shape.Contract.Match(contract) {
		if !slices.ContainsFunc(c.p.manifest.Provides, func(p Provided) bool { return p.Contract == contract }) {
			c.bad("undeclared-contract", "io.output.contract", out.Get("contract"), out, fmt.Sprintf(" %q is not in provides", contract), "Add it to provides in PLUGIN.md.")
		}
		for _, other := range c.p.manifest.Runtimes {
			if other.IO.Output.Contract == contract && other.ID < c.r.ID {
				c.bad("ambiguous-producer", "io.output.contract", out.Get("contract"), out, fmt.Sprintf(" %q is made by %s and by %s", contract, other.ID, c.r.ID), "Let one runtime of the package make the contract.")
				break
			}
		}
	}
	if x := out.Get("recordAs"); x != nil && !out.Has("schema") {
		c.forbidden("io.output.recordAs", x, "needs io.output.schema", "Add a schema, or remove recordAs.")
	}
	if x := io.Get("concealed"); x.True(false) && c.r.Story() {
		c.forbidden("io.concealed", x, "stands on a story runtime", "A story is always visible; remove concealed.")
	}
}

func (c runtimeRules) checkSelfData() {
	for i, n := range items(c.rf.node.Get("io").Get("selfData")) {
		name := n.Get("namespace").Str()
		if name == "" || !shape.SelfNamespace.Match(name) {
			continue
		}
		if _, ok := c.p.manifest.Contributes.Data[name]; !ok {
			c.bad("unknown-reference", shape.Index("io.selfData", i)+".namespace", n.Get("namespace"), n, fmt.Sprintf(" %q is not declared under contributes.data", name), "Declare the namespace or correct the name.")
		}
	}
}
