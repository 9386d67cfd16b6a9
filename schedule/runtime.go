package schedule

import "github.com/covel-engine/covel/plugin"

// Stages in their order (spec 03 §3.1).
const (
	StageSetup     = "setup"
	StagePreTurn   = "pre-turn"
	StageNarrative = "narrative"
	StagePostTurn  = "post-turn"
	StageAudit     = "audit"
)

// Runtime is what scheduling must know of one active runtime.
type Runtime struct {
	ID            string
	PluginID      string
	PluginVersion string
	// Stage is empty for event and manual triggers.
	Stage   string
	Trigger Trigger
	Needs   []Dependency
	After   []Dependency
	Inputs  []Binding
	// Contract is the output contract, "" for none.
	Contract string
	Agent    bool
	Story    bool
	Effects  Effects
	Detached bool
	// Background followers and manual runs become jobs (spec 03 §6, §13.1).
	Background bool
}

// Setup says whether the runtime belongs to the setup stage.
func (r Runtime) Setup() bool { return r.Stage == StageSetup }

// Optional runtimes are neither story nor setup (spec 03 §8).
func (r Runtime) Optional() bool { return !r.Story && !r.Setup() }

// Trigger holds the conditions of spec 03 §4.1. Zero members set no condition.
type Trigger struct {
	Type          string // auto, scheduled, manual or event
	Interval      int
	Topic         string
	MaxCount      int
	CooldownTurns int
	StartTurn     int
}

// Trigger types.
const (
	TriggerAuto      = plugin.TriggerAuto
	TriggerScheduled = plugin.TriggerScheduled
	TriggerManual    = plugin.TriggerManual
	TriggerEvent     = plugin.TriggerEvent
)

// Dependency names a runtime or a contract of needs or after.
type Dependency struct {
	Runtime  string
	Contract string
	All      bool // cardinality all
	Session  bool // scope session (needs of setup runtimes)
}

// Binding is the part of an input binding that orders and gates.
type Binding struct {
	Name      string
	Runtime   string
	Contract  string
	All       bool
	Committed bool // scope committed: no edge
	Required  bool
}

// Effects are the resources a runtime declares (spec 03 §3.7, spec 05 §1.4).
type Effects struct {
	Reads        []string
	Writes       []string
	ParallelSafe bool
}

// FromManifest gives the scheduling view of a compiled runtime. The manifest
// of its package gives the version.
func FromManifest(rt *plugin.Runtime, version string) Runtime {
	r := Runtime{
		ID: rt.ID, PluginID: rt.PluginID, PluginVersion: version,
		Stage: rt.Schedule.Stage,
		Trigger: Trigger{
			Type: rt.Schedule.Trigger.Type, Interval: rt.Schedule.Trigger.Interval, Topic: rt.Schedule.Trigger.Topic,
			MaxCount: rt.Schedule.Trigger.MaxTriggerCount, CooldownTurns: rt.Schedule.Trigger.CooldownTurns,
			StartTurn: rt.Schedule.Trigger.StartTurn,
		},
		Needs: dependencies(rt.Schedule.Needs), After: dependencies(rt.Schedule.After),
		Contract: rt.IO.Output.Contract,
		Agent:    rt.Agent != nil,
		Story:    rt.Story(),
		Effects:  Effects{Reads: rt.Effects.Reads, Writes: rt.Effects.Writes, ParallelSafe: rt.Effects.ParallelSafe},
		Detached: rt.Schedule.Completion.Detached, Background: rt.Schedule.ManualExecution == "background",
	}
	for _, in := range rt.IO.Inputs {
		if in.Kernel == "" {
			r.Inputs = append(r.Inputs, Binding{
				Name: in.Name, Runtime: in.Runtime, Contract: in.Contract, All: in.Cardinality == "all",
				Committed: in.Scope == "committed", Required: in.Required,
			})
		}
	}
	return r
}

func dependencies(list []plugin.Dependency) []Dependency {
	out := make([]Dependency, 0, len(list))
	for _, d := range list {
		out = append(out, Dependency{Runtime: d.Runtime, Contract: d.Contract, All: d.Cardinality == "all", Session: d.Scope == "session"})
	}
	return out
}
