package commit

import (
	"maps"

	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/turn"
)

// views are the plan's results as the scheduling rules see them.
func (a *application) views() ([]schedule.Runtime, []schedule.Result) {
	runtimes := make([]schedule.Runtime, len(a.plan.Results))
	results := make([]schedule.Result, len(a.plan.Results))
	for i := range a.plan.Results {
		r := &a.plan.Results[i]
		runtimes[i] = schedule.Runtime{ID: r.RuntimeID, PluginID: r.PluginID}
		if rt, ok := a.plan.Runtimes[r.RuntimeID]; ok {
			runtimes[i] = schedule.FromManifest(rt, "")
		}
		runtimes[i].Story = r.Story
		results[i] = schedule.ResultOf(runtimes[i], r)
		results[i].Writes = len(a.writes[i].proposals) > 0
	}
	return runtimes, results
}

// dependents gives the results that lose their ground with the dropped ones,
// in order of dropping. A story or setup runtime among them fails the turn.
func (a *application) dependents() ([]Isolated, *failure) {
	runtimes, results := a.views()
	setup := maps.Clone(schedule.SetupMap(a.session.SetupRuntimes))
	if setup == nil {
		setup = schedule.SetupMap{}
	}
	maps.Copy(setup, a.plan.Setup)
	chain := schedule.DropDependents(runtimes, results, setup, a.out.Dropped())
	if chain.Rollback != "" {
		return nil, failf(turn.CodeCommitFailed, "runtime %q: upstream did not commit", chain.Rollback)
	}
	lost := make([]Isolated, len(chain.Dropped))
	for i, d := range chain.Dropped {
		lost[i] = Isolated{d.RuntimeID, d.Reason}
	}
	return lost, nil
}
