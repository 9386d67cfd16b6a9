package workflows

import (
	"github.com/covel-engine/covel/turn"
	"go.temporal.io/sdk/workflow"
)

// Edit makes one short change of a session outside of its turns. It runs under
// the session's lock, so no turn runs meanwhile (spec 03 §17).
func (w *Workflows) Edit(ctx workflow.Context, in turn.EditInput) (turn.EditResult, error) {
	var result turn.EditResult
	if err := in.Validate(); err != nil {
		return result, refuse(err)
	}
	scope := turn.Scope{
		SessionID: in.SessionID, TurnID: in.EditID, ExecutionID: workflow.GetInfo(ctx).WorkflowExecution.RunID,
	}
	local := w.storeContext(ctx, w.cfg.CommitTimeout, string(in.Action))
	if err := workflow.ExecuteLocalActivity(local, turn.ActivityApplyEdit, scope, in).Get(ctx, &result); err != nil {
		return result, failTurn(err)
	}
	return result, nil
}
