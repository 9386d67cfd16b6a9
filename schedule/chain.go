package schedule

import (
	"slices"

	"github.com/covel-engine/covel/turn"
)

// MaxDepth bounds the event chain (spec 03 §6).
const MaxDepth = 8

// ChainInput is what the next depth of the event chain is planned from.
type ChainInput struct {
	Runtimes []Runtime
	// Depth is the one to plan: 1 follows the stages.
	Depth int
	// Results of this execution so far, in stored order, without seeds.
	Results     []Result
	LogicalTurn int
	Ledger      map[string]Run
	Setup       SetupMap
	// Deferred are the followers that earlier depths queued as jobs.
	Deferred []string
	Policy   string
}

// Depth is one depth of the event chain: a graph of its own.
type Depth struct {
	Stage  Stage
	Events map[string]turn.Event // payload by follower
	// Deferred followers are queued as jobs by the commit.
	Deferred []Deferred
	Skipped  []Skip
	Hazards  []Hazard
}

// Deferred is a background follower (spec 03 §6).
type Deferred struct {
	RuntimeID string     `json:"runtimeId"`
	PluginID  string     `json:"pluginId"`
	Event     turn.Event `json:"triggerEvent"`
}

// NextDepth plans one depth from the events of the depth before. A depth
// without levels ends the chain.
func NextDepth(in ChainInput) Depth {
	d := Depth{Stage: Stage{Name: FollowUpStage(in.Depth)}}
	if in.Depth > MaxDepth {
		return d
	}
	payloads := d.payloads(in)
	if len(payloads) == 0 {
		return d
	}
	d.Events = map[string]turn.Event{}
	var followers []Runtime
	for _, rt := range in.Runtimes {
		event, emitted := payloads[rt.Trigger.Topic]
		if !emitted || !in.follows(rt) {
			continue
		}
		if rt.Background {
			d.Deferred = append(d.Deferred, Deferred{RuntimeID: rt.ID, PluginID: rt.PluginID, Event: event})
			continue
		}
		if rt.Detached {
			d.Hazards = append(d.Hazards, Hazard{Code: HazardDetachedIneligible, Runtimes: []string{rt.ID}})
		}
		d.Events[rt.ID] = event
		followers = append(followers, rt)
	}
	slices.SortFunc(d.Deferred, func(a, b Deferred) int { return compareID(a.RuntimeID, b.RuntimeID) })
	released := map[string]bool{}
	for _, r := range in.Results {
		if r.Contract != "" && r.satisfies() {
			released[r.Contract] = true
		}
	}
	g := newGraph(followers, released)
	levels, stuck := g.levels()
	d.Skipped = g.skips(stuck, d.Stage.Name)
	for _, level := range levels {
		settled, hazards := settle(g.runtimes(level), in.Policy)
		d.Stage.Levels = append(d.Stage.Levels, settled...)
		d.Hazards = append(d.Hazards, hazards...)
	}
	return d
}

// payloads takes the first emission of each topic; the others are lost.
func (d *Depth) payloads(in ChainInput) map[string]turn.Event {
	first := map[string]turn.Event{}
	from := map[string]string{}
	for _, r := range in.Results {
		if r.Seed || r.Depth != in.Depth-1 || r.Status != turn.RuntimeSuccess {
			continue
		}
		for _, e := range r.Events {
			if _, taken := first[e.Topic]; taken {
				lost := e
				d.Hazards = append(d.Hazards, Hazard{
					Code: HazardEventDropped, Runtimes: []string{from[e.Topic], r.ID}, Resource: e.Topic, Lost: &lost,
				})
				continue
			}
			first[e.Topic], from[e.Topic] = e, r.ID
		}
	}
	return first
}

// follows says whether an event runtime may run in this depth.
func (in ChainInput) follows(rt Runtime) bool {
	return rt.Trigger.Type == TriggerEvent && !in.hasResult(rt.ID) && !slices.Contains(in.Deferred, rt.ID) &&
		missed(rt.Trigger, in.Ledger[rt.ID], in.LogicalTurn) == "" && !(rt.Setup() && in.Setup.finished(rt))
}

func (in ChainInput) hasResult(id string) bool {
	return slices.ContainsFunc(in.Results, func(r Result) bool { return r.ID == id && !r.Seed })
}
