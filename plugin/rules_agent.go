package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// checkAgent applies the rules of spec 05 §3.3 on tools and completion.
func (c runtimeRules) checkAgent() {
	n := c.rf.node.Get("agent")
	tools, field := n.Get("tools"), "agent.tools"
	if c.r.Type == "function" {
		tools, field = c.rf.node.Get("function").Get("tools"), "function.tools"
	}
	own := c.checkToolNames(tools, field)
	if c.r.Agent == nil || n == nil {
		return
	}
	loop := n.Get("loop")
	completion := loop.Get("completion")
	for i, t := range items(completion.Get("afterTools")) {
		c.ownTool(own, t, shape.Index("agent.loop.completion.afterTools", i))
	}
	c.ownTool(own, n.Get("toolChoice").Get("name"), "agent.toolChoice.name")
	if d := tools.Get("defer"); d != nil {
		for i, t := range items(d) {
			c.ownTool(own, t, shape.Index("agent.tools.defer", i))
		}
	}
	if r := completion.Get("require"); r.Str() == "explicit" {
		if c.r.Story() {
			c.forbidden("agent.loop.completion.require", r, "stands on a story runtime", "Remove it; a story ends with its text.")
		}
		if c.rf.node.Get("io").Get("output").Has("schema") {
			c.forbidden("agent.loop.completion.require", r, "stands beside io.output.schema", "Remove it; the runtime ends with its JSON or an afterTools tool.")
		}
	}
}

// checkToolNames reports unknown tools and gives the names the runtime has.
func (c runtimeRules) checkToolNames(tools *source.Node, field string) []string {
	var own []string
	for i, t := range items(tools.Get("builtin")) {
		if t.Kind != source.String {
			continue
		}
		own = append(own, t.Text)
		if !slices.Contains(BuiltinTools, t.Text) {
			c.bad("unknown-reference", shape.Index(field+".builtin", i), t, tools, fmt.Sprintf(" %q is no builtin tool", t.Text), "Use one of "+strings.Join(BuiltinTools, ", ")+".")
		}
	}
	declared := make([]string, 0, len(c.p.manifest.Contributes.Tools))
	for _, t := range c.p.manifest.Contributes.Tools {
		declared = append(declared, t.Name)
	}
	for i, t := range items(tools.Get("plugin")) {
		if t.Kind == source.String && !slices.Contains(declared, t.Text) {
			c.bad("unknown-reference", shape.Index(field+".plugin", i), t, tools, fmt.Sprintf(" %q is not in contributes.tools", t.Text), "Declare the tool in PLUGIN.md or correct the name.")
		}
	}
	_, plugin := c.p.compileTools(tools)
	return append(own, plugin...)
}

func (c runtimeRules) ownTool(own []string, n *source.Node, field string) {
	if n.Str() == "" || slices.Contains(own, n.Text) {
		return
	}
	c.bad("unknown-reference", field, n, c.rf.node, fmt.Sprintf(" %q is not a tool of this runtime", n.Text), "Add it under agent.tools, or correct the name.")
}
