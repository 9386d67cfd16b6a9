package workflows

import (
	"github.com/covel-engine/covel/turn"
)

// Progress answers query progress on a Turn and on a Stage; a client merges
// the two.
type Progress struct {
	LogicalTurn int                 `json:"logicalTurn,omitempty"`
	Stage       string              `json:"stage,omitempty"`
	Children    []string            `json:"children,omitempty"`
	Runtimes    []turn.RuntimeFacts `json:"runtimes,omitempty"`
}

func (t *turnRun) progress() Progress {
	p := Progress{LogicalTurn: t.plan.LogicalTurn, Stage: t.stage, Runtimes: t.facts}
	for _, s := range t.plan.Stages {
		p.Children = append(p.Children, turn.StageWorkflowID(t.scope.SessionID, t.scope.TurnID, s.Stage))
	}
	return p
}
