package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Where a point lies relative to an activity.
const (
	Before = "before" // nothing is done yet
	After  = "after"  // everything is done, the answer is not known to Temporal
	InTx   = "tx"     // inside the activity's store transaction, before its end
)

// Point is one place to stop at. It triggers once.
type Point struct {
	Activity string
	Where    string
	pause    string // file prefix; empty kills
	nth      int64
	seen     atomic.Int64
}

// Parse reads ACTIVITY:WHERE:ACTION[:NTH[:FILE]].
func Parse(text string) (*Point, error) {
	fields := strings.SplitN(text, ":", 5)
	if len(fields) < 3 {
		return nil, fmt.Errorf("failpoint %q: write ACTIVITY:WHERE:ACTION[:NTH[:FILE]]", text)
	}
	if fields[0] == "" {
		return nil, fmt.Errorf("failpoint %q: it names no activity", text)
	}
	p := &Point{Activity: fields[0], Where: fields[1], nth: 1}
	if p.Where != Before && p.Where != After && p.Where != InTx {
		return nil, fmt.Errorf("failpoint %q: place %q is not before, after or tx", text, p.Where)
	}
	if len(fields) > 3 {
		n, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("failpoint %q: count %q is no number from 1", text, fields[3])
		}
		p.nth = n
	}
	switch {
	case fields[2] == "kill":
	case fields[2] == "pause" && len(fields) == 5 && fields[4] != "":
		p.pause = fields[4]
	default:
		return nil, fmt.Errorf("failpoint %q: action %q is not kill, or pause with a file", text, fields[2])
	}
	return p, nil
}

// hit triggers the point when this is its place for the nth time.
func (p *Point) hit(activity, where string) {
	if activity != p.Activity || where != p.Where || p.seen.Add(1) != p.nth {
		return
	}
	if p.pause == "" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	}
	if err := os.WriteFile(p.pause+".reached", nil, 0o600); err != nil {
		panic(fmt.Sprintf("failpoint: %v", err))
	}
	for {
		if _, err := os.Stat(p.pause + ".go"); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
