package client

import (
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// outcomeOf reads the outcome off a stored record.
func outcomeOf(record store.TurnRecord) (turn.Outcome, error) {
	out := turn.Outcome{
		SessionID:   record.SessionID,
		TurnID:      record.TurnID,
		LogicalTurn: record.LogicalTurn,
		Runtimes:    []turn.RuntimeOutcome{},
		Suspensions: []turn.SuspensionRef{},
	}
	var results []turn.RuntimeResult
	if len(record.RuntimeResults) > 0 {
		if err := json.Unmarshal(record.RuntimeResults, &results); err != nil {
			return out, turn.Errorf("read outcome", "INVALID_VALUE", "turn %q: runtime results are unreadable: %w", record.TurnID, err)
		}
	}
	var story []string
	for i := range results {
		r := &results[i]
		out.Runtimes = append(out.Runtimes, turn.RuntimeOutcome{
			ID: r.RuntimeID, Stage: r.Stage, Status: r.Status, Steps: r.Steps, ToolCalls: len(r.ToolCalls),
			Usage: r.Usage, DurationMs: r.DurationMs, Reason: r.Reason, Error: r.Error,
		})
		out.Usage = out.Usage.Add(r.Usage)
		out.CostUSD += r.CostUSD
		if r.Story && r.Status == turn.RuntimeSuccess {
			story = append(story, r.NarrativeText())
		}
		if r.Status == turn.RuntimeSuspended {
			out.Suspensions = append(out.Suspensions, suspensionRef(r))
		}
	}
	out.Narrative = strings.Join(story, "\n\n")
	if len(record.Error) > 0 {
		out.Error = new(turn.OutcomeError)
		if err := json.Unmarshal(record.Error, out.Error); err != nil {
			return out, turn.Errorf("read outcome", "INVALID_VALUE", "turn %q: its error is unreadable: %w", record.TurnID, err)
		}
	}
	out.Status = status(record, out)
	if out.Status == turn.StatusAborted {
		out.AbortReason = "player-abort"
	}
	return out, nil
}

func status(record store.TurnRecord, out turn.Outcome) turn.Status {
	switch {
	case record.CommitStatus == "pending":
		return turn.StatusRunning
	case record.CommitStatus == "failed" && out.Error != nil && out.Error.Code == turn.CodeTurnAborted:
		return turn.StatusAborted
	case record.CommitStatus == "failed":
		return turn.StatusFailed
	case len(out.Suspensions) > 0:
		return turn.StatusSuspended
	default:
		return turn.StatusCommitted
	}
}

func suspensionRef(r *turn.RuntimeResult) turn.SuspensionRef {
	var mark struct {
		SuspensionID string `json:"suspensionId"`
		Reason       string `json:"reason"`
	}
	_ = json.Unmarshal(r.Output, &mark) // an output without the mark names no suspension
	return turn.SuspensionRef{ID: mark.SuspensionID, RuntimeID: r.RuntimeID, Reason: mark.Reason}
}
