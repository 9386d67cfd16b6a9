package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/turn"
)

// progressEvery is how often the live line looks at the running turn.
const progressEvery = 200 * time.Millisecond

// playTurn plays one turn: the story streams out as it is written, then the
// outcome's line with --json. An interrupt aborts the turn.
func playTurn(ctx context.Context, c *console, games *client.Client, sessionID, text string) error {
	handle, err := games.StartTurn(ctx, client.StartTurn{Session: sessionID, Message: text})
	if err != nil {
		return err
	}
	return followTurn(ctx, c, handle, sessionID)
}

// followTurn shows a started turn or resume to its end.
func followTurn(ctx context.Context, c *console, handle *client.Handle, sessionID string) error {
	if !c.json {
		showStory(ctx, c, handle)
	}
	outcome, err := handle.Wait(ctx)
	if ctx.Err() != nil {
		return abortTurn(handle, sessionID)
	}
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(outcome)
	}
	return reportOutcome(c, outcome)
}

// abortTurn ends the turn of an interrupted command: nothing is left running.
func abortTurn(handle *client.Handle, sessionID string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := handle.Abort(ctx)
	if err == nil || turn.CodeOf(err) == turn.CodeNoActiveTurn {
		return turn.Errorf("turn", turn.CodeTurnAborted, "interrupted; turn %q of session %q was aborted", handle.TurnID, sessionID)
	}
	return err
}

// showStory prints deltas until the turn has ended. On a terminal a line below
// the story names the stage and the runtimes at work.
func showStory(ctx context.Context, c *console, handle *client.Handle) {
	view := &storyView{c: c, live: terminal(c.err)}
	defer view.end()
	done := make(chan struct{})
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	if view.live {
		go func() {
			defer close(done)
			view.follow(watch, handle)
		}()
	} else {
		close(done)
	}
	for delta, err := range handle.Stream(ctx) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				fmt.Fprintf(c.err, "covel: the story cannot be followed: %s\n", oneLine(err.Error()))
			}
			break
		}
		view.show(delta)
	}
	cancel()
	<-done
}

// reportOutcome tells on a terminal what --json tells a program.
func reportOutcome(c *console, o turn.Outcome) error {
	switch o.Status {
	case turn.StatusCommitted, turn.StatusSuspended, turn.StatusRunning:
		var failed []string
		for _, r := range o.Runtimes {
			if r.Status == turn.RuntimeFailed && r.Error != nil {
				failed = append(failed, fmt.Sprintf("%s: %s", r.ID, r.Error.Message))
			}
		}
		if len(failed) > 0 {
			fmt.Fprintf(c.err, "(%s)\n", strings.Join(failed, "; "))
		}
		for _, s := range o.Suspensions {
			fmt.Fprintf(c.err, "(%s waits for an answer: %s; suspension %s)\n", s.RuntimeID, oneLine(s.Reason), s.ID)
		}
		return nil
	case turn.StatusAborted:
		return turn.Errorf("turn", turn.CodeTurnAborted, "turn %d ended before its commit: %s", o.LogicalTurn, o.AbortReason)
	case turn.StatusFailed:
	}
	if o.Error == nil {
		return turn.Errorf("turn", turn.CodeCommitFailed, "turn %d was rolled back; say it again", o.LogicalTurn)
	}
	return &turn.Error{Op: "turn", Kind: o.Error.Kind, Code: o.Error.Code, Err: errors.New(o.Error.Message)}
}
