package schedule_test

import (
	"fmt"

	"github.com/covel-engine/covel/schedule"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

func ExamplePlan() {
	auto := schedule.Trigger{Type: schedule.TriggerAuto}
	plan := schedule.Plan(schedule.Input{
		Phase: session.PhasePlaying, LogicalTurn: 4,
		Runtimes: []schedule.Runtime{
			{ID: "tracker", Stage: schedule.StagePostTurn, Trigger: auto, Needs: []schedule.Dependency{{Contract: "facts@1"}}},
			{ID: "facts", Stage: schedule.StagePostTurn, Trigger: auto, Contract: "facts@1"},
			{ID: "narrator", Stage: schedule.StageNarrative, Trigger: auto, Agent: true, Story: true},
			{ID: "weather", Stage: schedule.StagePreTurn, Trigger: schedule.Trigger{Type: schedule.TriggerScheduled, Interval: 3}},
		},
	})
	for _, stage := range plan.Stages {
		fmt.Println(stage.Name, stage.Levels)
	}
	fmt.Println(plan.NotTriggered)
	// Output:
	// narrative [[narrator]]
	// post-turn [[facts] [tracker]]
	// [{weather interval 3 does not divide turn 4}]
}

func ExampleGate() {
	reader := schedule.Runtime{ID: "reader", Needs: []schedule.Dependency{{Runtime: "facts"}}}
	d := schedule.Gate(reader, schedule.Facts{Results: []schedule.Result{{ID: "facts", Status: turn.RuntimeFailed}}})
	fmt.Println(d.Run, d.Reason, d.SkippedBy)
	// Output: false upstream not success: facts framework:needs
}
