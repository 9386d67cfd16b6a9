package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
	"github.com/spf13/cobra"
)

// playOptions are the flags of `covel play`.
type playOptions struct {
	fresh   bool
	locale  string
	memory  bool
	plugins []string
	say     []string
	session string
	world   string
}

func newPlay(c *console, set *settings) *cobra.Command {
	var o playOptions
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Play a game in the terminal, everything in one process",
		Long: `Play starts Temporal, the store and a worker inside this process and plays a
game. Started again it goes on with the latest game of the world. With --say it
plays those turns and ends.`,
		Example: `  covel play --world lanternfall
  covel play --world lanternfall --say "I row to the drowned lighthouse" --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runPlay(cmd.Context(), c, set, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.fresh, "new", false, "begin a new game even if there is one to go on with")
	flags.StringVar(&o.locale, "locale", "", "language of a new game, such as en-US or zh-CN (default: the world's)")
	flags.BoolVar(&o.memory, "memory", false, "keep nothing on disk")
	flags.StringArrayVar(&o.plugins, "plugin", nil, "activate a plugin in a new game; may be repeated")
	flags.StringArrayVar(&o.say, "say", nil, "play this turn and end; may be repeated")
	flags.StringVar(&o.session, "session", "", "go on with this game")
	flags.StringVar(&o.world, "world", "", "world of the game (default: the only one, or lanternfall)")
	return cmd
}

func runPlay(ctx context.Context, c *console, set *settings, o playOptions) error {
	e, err := openEngine(ctx, set, engineOptions{memory: o.memory, worker: true})
	if err != nil {
		return err
	}
	defer e.close()
	for _, notice := range e.notices {
		fmt.Fprintf(c.err, "covel: %s\n", notice)
	}
	game, created, err := chooseGame(ctx, e, o)
	if err != nil {
		return err
	}
	if !c.json {
		greet(c, game, created)
	}
	if len(o.say) > 0 {
		return playLines(ctx, c, e.client, game, o.say)
	}
	return playTerminal(ctx, c, e.client, game)
}

// chooseGame finds the game to go on with, or creates one.
func chooseGame(ctx context.Context, e *engine, o playOptions) (s session.Session, created bool, err error) {
	if o.session != "" {
		s, err = e.client.Session(ctx, o.session)
		return s, false, err
	}
	worldID := o.world
	if worldID == "" {
		worldID = defaultWorld
	}
	if !o.fresh {
		games, err := e.client.Sessions(ctx, 1000)
		if err != nil {
			return s, false, err
		}
		for _, g := range games {
			if g.WorldID == worldID && g.Status == session.StatusActive && (o.locale == "" || o.locale == g.Locale) {
				return g, false, nil
			}
		}
	}
	s, err = e.client.CreateSession(ctx, client.CreateSession{World: worldID, Locale: o.locale, Plugins: o.plugins})
	return s, true, err
}

// defaultWorld is what `covel play` plays when no world is named.
const defaultWorld = "lanternfall"

func greet(c *console, s session.Session, created bool) {
	if created {
		fmt.Fprintf(c.err, "A new game of %s (%s).\n", s.WorldID, s.ID)
		return
	}
	fmt.Fprintf(c.err, "Going on with %s, turn %d (%s).\n", s.WorldID, s.LogicalTurn(), s.ID)
}

// playLines plays the given turns one after another.
func playLines(ctx context.Context, c *console, games *client.Client, s session.Session, lines []string) error {
	for _, line := range lines {
		if !c.json {
			fmt.Fprintf(c.out, "> %s\n\n", line)
		}
		if err := playTurn(ctx, c, games, s.ID, line); err != nil {
			return err
		}
	}
	return nil
}

// playTerminal reads a line, plays a turn, and so on until the input ends.
func playTerminal(ctx context.Context, c *console, games *client.Client, s session.Session) error {
	prompt := terminal(c.in) && !c.json
	if prompt {
		fmt.Fprintln(c.err, "Say what you do. An empty line repeats the prompt, /quit ends.")
	}
	lines := readLines(ctx, c.in)
	questions := &asker{c: c, games: games, lines: lines}
	if prompt {
		if err := questions.answerAll(ctx, s.ID); err != nil {
			c.conclude(err)
		}
	}
	for {
		if prompt {
			fmt.Fprint(c.out, "\n> ")
		}
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			text := strings.TrimSpace(line.text)
			switch {
			case !ok || text == "/quit":
				return line.err
			case line.err != nil:
				return line.err
			case text == "":
				continue
			}
			err := playTurn(ctx, c, games, s.ID, text)
			if err == nil && prompt {
				err = questions.answerAll(ctx, s.ID)
			}
			if err != nil {
				var coded *turn.Error
				if !errors.As(err, &coded) || coded.Kind == turn.KindInternal {
					return err
				}
				c.conclude(err)
			}
		}
	}
}

type inputLine struct {
	text string
	err  error
}

// readLines reads in a goroutine of its own, so that an interrupt is heard
// while the terminal waits for a line. It ends with the input or the process.
func readLines(ctx context.Context, in io.Reader) <-chan inputLine {
	lines := make(chan inputLine)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(make([]byte, 0, 4096), turn.MaxPlayerMessageBytes+2)
		for scan.Scan() {
			select {
			case lines <- inputLine{text: scan.Text()}:
			case <-ctx.Done():
				return
			}
		}
		if err := scan.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = turn.Errorf("read input", turn.CodeInvalidTurnInput, "the line is over %d bytes; say less at once", turn.MaxPlayerMessageBytes)
			}
			select {
			case lines <- inputLine{err: err}:
			case <-ctx.Done():
			}
		}
	}()
	return lines
}
