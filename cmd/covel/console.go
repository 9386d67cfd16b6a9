package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
	"golang.org/x/term"
)

// Exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// console is where a command reads and writes.
type console struct {
	in   io.Reader
	out  io.Writer
	err  io.Writer
	json bool
}

// usageError is a wrong use of a command: exit code 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// errReported ends a command with exit code 1 that has said everything on
// standard output.
var errReported = errors.New("findings were reported")

// printJSON writes one object on one line.
func (c *console) printJSON(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// conclude prints an error as one line and gives the exit code.
func (c *console) conclude(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errReported) {
		return exitFailed
	}
	failure, code := describe(err)
	fmt.Fprintf(c.err, "covel: %s\n", oneLine(err.Error()))
	if c.json {
		_ = c.printJSON(map[string]any{"error": failure}) // a closed pipe cannot be told anything
	}
	return code
}

// describe gives an error's machine-readable form and exit code.
func describe(err error) (turn.OutcomeError, int) {
	var usage usageError
	var coded *turn.Error
	var stored *store.Error
	var call *model.Error
	switch {
	case errors.As(err, &usage):
		return turn.OutcomeError{Kind: turn.KindInvalid, Code: "usage", Message: usage.Error()}, exitUsage
	case errors.As(err, &coded):
		return turn.OutcomeError{Kind: coded.Kind, Code: coded.Code, Message: oneLine(err.Error()), Field: coded.Field}, coded.Kind.ExitCode()
	case errors.As(err, &stored):
		kind := turn.KindOf(stored.Code)
		return turn.OutcomeError{Kind: kind, Code: stored.Code, Message: oneLine(err.Error())}, kind.ExitCode()
	case errors.As(err, &call):
		kind := turn.KindOf(call.Code)
		return turn.OutcomeError{Kind: kind, Code: call.Code, Message: oneLine(err.Error())}, kind.ExitCode()
	default:
		return turn.OutcomeError{Kind: turn.KindInternal, Code: "internal", Message: oneLine(err.Error())}, exitFailed
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// terminal says whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
