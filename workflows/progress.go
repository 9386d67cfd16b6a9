package workflows

import (
	"github.com/covel-engine/covel/turn"
)

func (t *turnRun) progress() turn.Progress {
	p := turn.Progress{LogicalTurn: t.plan.LogicalTurn, Stage: t.stage, Runtimes: t.facts}
	for _, s := range t.plan.Stages {
		p.Children = append(p.Children, turn.StageWorkflowID(t.scope.SessionID, t.scope.TurnID, s.Stage))
	}
	return p
}
