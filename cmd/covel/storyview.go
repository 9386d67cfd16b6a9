package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/turn"
	"golang.org/x/term"
)

// storyView writes a story and, on a terminal, one live line under it. The
// live line is erased before more story is written.
type storyView struct {
	c    *console
	live bool

	mu      sync.Mutex
	status  string // the live line on screen, "" for none
	written strings.Builder
	column  int // cells since the last newline of the story
}

// width is the terminal's width in cells.
func (v *storyView) width() int {
	if f, ok := v.c.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// cells counts the cells of a text; Han and its like take two.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n++
		if tokens.Wide(r) {
			n++
		}
	}
	return n
}

// below writes a text into the line under the story and goes back. It does
// nothing where the story fills its line: the cursor could not be brought back.
func (v *storyView) below(text string) bool {
	width := v.width()
	if v.column > 0 && v.column%width == 0 {
		return false
	}
	fmt.Fprintf(v.c.err, "\n\x1b[2K%s\x1b[1A\x1b[%dG", text, v.column%width+1)
	return true
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
			v.column = cells(d.Text[i+1:])
		} else {
			v.column += cells(d.Text)
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
	if v.below("\x1b[2m[" + line + "]\x1b[0m") {
		v.status = line
	}
}

// erase removes the live line from the screen.
func (v *storyView) erase() {
	if v.status == "" {
		return
	}
	v.below("")
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
