package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
)

// storyView writes a story and, on a terminal, one live line under it. The
// live line is erased before more story is written.
type storyView struct {
	c    *console
	live bool

	mu      sync.Mutex
	status  string // the live line on screen, "" for none
	written strings.Builder
	column  int // runes since the last newline of the story
}

// show writes one delta. A reset drops what an earlier attempt wrote.
func (v *storyView) show(d stream.Chunk) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch d.Kind {
	case stream.KindText:
		v.erase()
		fmt.Fprint(v.c.out, d.Text)
		v.written.WriteString(d.Text)
		if i := strings.LastIndexByte(d.Text, '\n'); i >= 0 {
			v.column = len([]rune(d.Text[i+1:]))
		} else {
			v.column += len([]rune(d.Text))
		}
	case stream.KindReset:
		if v.written.Len() > 0 {
			v.erase()
			fmt.Fprint(v.c.out, "\n\n(the telling was interrupted; it begins again)\n\n")
			v.written.Reset()
			v.column = 0
		}
	case stream.KindReasoning, stream.KindEnd:
	}
}

// follow keeps the live line until ctx ends.
func (v *storyView) follow(ctx context.Context, handle *client.Handle) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p, err := handle.Progress(ctx)
		if err != nil {
			continue // the run may have closed between two looks
		}
		var running []string
		for _, r := range p.Runtimes {
			if r.Status == turn.RuntimeRunning {
				running = append(running, r.ID)
			}
		}
		line := p.Stage
		if len(running) > 0 {
			line += " · " + strings.Join(running, ", ")
		}
		v.setStatus(line)
	}
}

func (v *storyView) setStatus(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if line == v.status || line == "" {
		return
	}
	v.erase()
	// Save the cursor, write the line below the story, go back.
	fmt.Fprintf(v.c.err, "\x1b7\n\x1b[2m[%s]\x1b[0m\x1b8", line)
	v.status = line
}

// erase removes the live line from the screen.
func (v *storyView) erase() {
	if v.status == "" {
		return
	}
	fmt.Fprint(v.c.err, "\x1b7\n\x1b[2K\x1b8")
	v.status = ""
}

// end closes the story with a newline.
func (v *storyView) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	if v.column > 0 {
		fmt.Fprintln(v.c.out)
	}
}
