package plugin

import (
	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

var stages = shape.Enum{"setup", "pre-turn", "narrative", "post-turn", "audit"}

// RuntimeShape describes the runtime object: the frontmatter of RUNTIME.md, or
// root key runtime of PLUGIN.md (spec 05 §3).
func RuntimeShape() shape.Shape {
	return shape.Object{
		{Name: "type", Is: shape.Enum{"agent", "function"}, Required: true},
		{Name: "description", Is: label},
		{Name: "schedule", Is: scheduleShape()},
		{Name: "io", Is: ioShape()},
		{Name: "agent", Is: agentShape()},
		{Name: "function", Is: shape.Object{
			{Name: "handler", Is: codeRef},
			{Name: "model", Is: shape.Text{Pattern: shape.ID}},
			{Name: "timeoutMs", Is: shape.Int{Min: 1}},
			{Name: "idempotent", Is: shape.Bool{}, Doc: "May be run again under the same key after a crash."},
			{Name: "tools", Is: toolsShape()},
		}},
		{Name: "guard", Is: codeRef},
		{Name: "effects", Is: shape.Object{
			{Name: "reads", Is: shape.ListOf{Unique: true, Of: shape.Text{Pattern: shape.Effect}}},
			{Name: "writes", Is: shape.ListOf{Unique: true, Of: shape.Text{Pattern: shape.Effect}}},
			{Name: "parallelSafe", Is: shape.Bool{}},
		}},
		{Name: "permissions", Is: shape.Object{
			{Name: "http", Is: shape.ListOf{Of: shape.Object{
				{Name: "origin", Is: shape.Text{Pattern: shape.Origin}, Required: true},
				{Name: "methods", Is: shape.ListOf{Min: 1, Unique: true, Of: shape.Enum{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}}},
			}}},
		}},
	}
}

func scheduleShape() shape.Object {
	runtimeID := shape.Text{Pattern: shape.RuntimeID}
	cardinality := shape.Enum{"one", "all"}
	return shape.Object{
		{Name: "stage", Is: stages},
		{Name: "trigger", Is: shape.Object{
			{Name: "type", Is: shape.Enum{"auto", "scheduled", "manual", "event"}},
			{Name: "interval", Is: shape.Int{Min: 1}},
			{Name: "topic", Is: shape.Text{Pattern: shape.Topic}},
			{Name: "maxTriggerCount", Is: shape.Int{Min: 1}},
			{Name: "cooldownTurns", Is: shape.Int{}},
			{Name: "startTurn", Is: shape.Int{Min: 1}},
		}},
		{Name: "needs", Is: shape.ListOf{Of: shape.ByKind{
			source.String: runtimeID,
			source.Map: shape.Object{
				{Name: "runtime", Is: runtimeID}, {Name: "contract", Is: contract},
				{Name: "cardinality", Is: cardinality}, {Name: "scope", Is: shape.Enum{"turn", "session"}},
			},
		}}},
		{Name: "after", Is: shape.ListOf{Of: shape.ByKind{
			source.String: runtimeID,
			source.Map: shape.Object{
				{Name: "runtime", Is: runtimeID}, {Name: "contract", Is: contract}, {Name: "cardinality", Is: cardinality},
			},
		}}},
		{Name: "completion", Is: shape.Object{
			{Name: "mode", Is: shape.Enum{"await", "detached"}},
			{Name: "settle", Is: shape.Enum{"before-next-execution"}},
			{Name: "maxSettleWaitMs", Is: shape.Int{Min: 1, Max: 120000}},
			{Name: "maxQueueMs", Is: shape.Int{Min: 1}},
			{Name: "maxExecutionMs", Is: shape.Int{Min: 1}},
			{Name: "overlap", Is: shape.Enum{"serial"}},
			{Name: "stalePolicy", Is: shape.Enum{"reject"}},
		}},
		{Name: "manual", Is: shape.Object{{Name: "execution", Is: shape.Enum{"sync", "background"}}}},
	}
}

func ioShape() shape.Object {
	return shape.Object{
		{Name: "inputs", Is: shape.MapOf{Key: shape.Key, Of: shape.Object{
			{Name: "from", Required: true, Is: shape.Object{
				{Name: "runtime", Is: shape.Text{Pattern: shape.RuntimeID}},
				{Name: "contract", Is: contract},
				{Name: "kernel", Is: shape.Enum{KernelTurnDigest}},
				{Name: "cardinality", Is: shape.Enum{"one", "all"}},
			}},
			{Name: "scope", Is: shape.Enum{"turn", "committed"}},
			{Name: "select", Is: shape.Text{Pattern: shape.Pointer}},
			{Name: "required", Is: shape.Bool{}},
			{Name: "accepts", Is: shape.Text{Pattern: shape.SchemaRef}},
			{Name: "recordAs", Is: shape.Text{Pattern: shape.Key}},
		}}},
		{Name: "selfData", Is: shape.ListOf{Of: shape.Object{
			{Name: "namespace", Is: shape.Text{Pattern: shape.SelfNamespace}, Required: true},
			{Name: "as", Is: shape.Text{Pattern: shape.ID}, Required: true},
			{Name: "format", Is: shape.Enum{"summary", "ids-only", "full"}},
			{Name: "maxEntries", Is: shape.Int{Min: 1, Max: 500}},
		}}},
		{Name: "payloadSchema", Is: jsonPath},
		{Name: "output", Is: shape.Object{
			{Name: "contract", Is: contract},
			{Name: "schema", Is: shape.Text{Pattern: shape.SchemaRef}},
			{Name: "recordAs", Is: shape.Text{Pattern: shape.Key}},
		}},
		{Name: "visibility", Is: shape.Enum{VisibilityStory, VisibilityPlugin, VisibilitySystem}},
		{Name: "concealed", Is: shape.Bool{}},
	}
}

func toolsShape() shape.Object {
	names := shape.ListOf{Unique: true, Of: shape.Text{Pattern: shape.ToolName}}
	return shape.Object{
		{Name: "builtin", Is: names},
		{Name: "plugin", Is: names},
		{Name: "defer", Is: shape.ByKind{source.Bool: shape.Const{JSON: "true"}, source.List: names}},
	}
}

func agentShape() shape.Object {
	ms := shape.Int{Min: 1}
	return shape.Object{
		{Name: "model", Is: shape.Text{Pattern: shape.ID}, Doc: "The model slot."},
		{Name: "reasoning", Is: shape.Const{JSON: "false"}},
		{Name: "toolChoice", Is: shape.ByKind{
			source.String: shape.Const{JSON: `"required"`},
			source.Map:    shape.Object{{Name: "name", Is: shape.Text{Pattern: shape.ToolName}, Required: true}},
		}},
		{Name: "history", Is: shape.Object{
			{Name: "maxTurns", Is: shape.Int{}, Required: true},
			{Name: "includeSummaries", Is: shape.Bool{}},
		}},
		{Name: "tools", Is: toolsShape()},
		{Name: "advertiseEvents", Is: shape.Bool{}},
		{Name: "loop", Is: shape.Object{
			{Name: "maxSteps", Is: shape.Int{Min: 1}},
			{Name: "timeoutMs", Is: ms}, {Name: "callTimeoutMs", Is: ms},
			{Name: "firstTokenTimeoutMs", Is: ms}, {Name: "idleTimeoutMs", Is: ms},
			{Name: "maxRetries", Is: shape.Int{Max: 5}},
			{Name: "loopDetection", Is: shape.Int{Max: 20}},
			{Name: "maxRecursionDepth", Is: shape.Int{Max: 50}},
			{Name: "completion", Is: shape.Object{
				{Name: "require", Is: shape.Enum{"tool-use", "explicit"}},
				{Name: "afterTools", Is: shape.ListOf{Unique: true, Of: shape.Text{Pattern: shape.ToolName}}},
			}},
			{Name: "finalizer", Is: shape.Object{{Name: "maxSteps", Is: shape.Int{}, Required: true}}},
		}},
	}
}

// KernelTurnDigest is the one kernel input (spec 05 §3.2).
const KernelTurnDigest = "turn-digest@1"
