package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/turn"
)

// question is what a suspended runtime asks, field by field. Without fields the
// answer is one line of text.
type question struct {
	Title  string          `json:"title"`
	Fields []questionField `json:"fields"`
}

type questionField struct {
	ID       string           `json:"id"`
	Label    string           `json:"label"`
	Type     string           `json:"type"` // text, number, select or toggle
	Options  []questionOption `json:"options"`
	Required bool             `json:"required"`
}

type questionOption struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// questionOf reads the form that the runtime shows, else the properties of the
// schema that the answer must fit.
func questionOf(s client.Suspension) question {
	q := question{Title: s.Reason}
	var form question
	if json.Unmarshal(s.Form, &form) == nil && len(form.Fields) > 0 {
		if form.Title == "" {
			form.Title = s.Reason
		}
		return form
	}
	var schema struct {
		Properties map[string]struct {
			Type  any      `json:"type"`
			Enum  []string `json:"enum"`
			Title string   `json:"title"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(s.ResumeSchema, &schema) != nil {
		return q
	}
	for id, p := range schema.Properties {
		f := questionField{ID: id, Label: p.Title, Type: "text", Required: slices.Contains(schema.Required, id)}
		if f.Label == "" {
			f.Label = id
		}
		switch p.Type {
		case "number", "integer":
			f.Type = "number"
		case "boolean":
			f.Type = "toggle"
		}
		for _, value := range p.Enum {
			f.Type = "select"
			f.Options = append(f.Options, questionOption{value, value})
		}
		q.Fields = append(q.Fields, f)
	}
	slices.SortFunc(q.Fields, func(a, b questionField) int { return strings.Compare(a.ID, b.ID) })
	return q
}

// hint says what a field takes.
func (f questionField) hint() string {
	switch f.Type {
	case "number":
		return " (a number)"
	case "toggle":
		return " (yes or no)"
	case "select":
		values := make([]string, len(f.Options))
		for i, o := range f.Options {
			values[i] = o.Value
		}
		return " (" + strings.Join(values, ", ") + ")"
	}
	return ""
}

// value reads a line as the field's JSON value.
func (f questionField) value(line string) (any, error) {
	switch f.Type {
	case "number":
		n, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", line)
		}
		return n, nil
	case "toggle":
		switch strings.ToLower(line) {
		case "yes", "y", "true", "是":
			return true, nil
		case "no", "n", "false", "否":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither yes nor no", line)
	case "select":
		for _, o := range f.Options {
			if strings.EqualFold(o.Value, line) || strings.EqualFold(o.Label, line) {
				return o.Value, nil
			}
		}
		return nil, fmt.Errorf("%q is none of%s", line, f.hint())
	}
	return line, nil
}

// errLater leaves a question for another time.
var errLater = errors.New("answer later")

// asker asks the questions of suspended runtimes on the terminal.
type asker struct {
	c     *console
	games *client.Client
	lines <-chan inputLine
}

// answerAll asks what is open in a game until nothing is, or the player leaves
// it for later.
func (a *asker) answerAll(ctx context.Context, sessionID string) error {
	list, err := a.games.Suspensions(ctx, sessionID)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.Status != session.SuspensionOpen {
			continue
		}
		err := a.answer(ctx, s)
		switch {
		case errors.Is(err, errLater):
			fmt.Fprintf(a.c.err, "Left open. Answer it with: covel suspension resume %s --data JSON\n", s.ID)
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

func (a *asker) answer(ctx context.Context, s client.Suspension) error {
	q := questionOf(s)
	fmt.Fprintf(a.c.out, "\n%s\n", oneLine(q.Title))
	for {
		data, err := a.ask(ctx, q)
		if err != nil {
			return err
		}
		handle, err := a.games.Resume(ctx, client.Resume{Suspension: s.ID, Data: data})
		if turn.CodeOf(err) == turn.CodeInvalidResumeData {
			a.c.conclude(err)
			continue
		}
		if err != nil {
			return err
		}
		return followTurn(ctx, a.c, handle, s.SessionID)
	}
}

// ask reads an answer line by line. An empty line leaves out a field that is
// not required; for one that is, it leaves the whole question for later.
func (a *asker) ask(ctx context.Context, q question) (json.RawMessage, error) {
	if len(q.Fields) == 0 {
		line, err := a.line(ctx, "? ")
		if err != nil {
			return nil, err
		}
		if line == "" {
			return nil, errLater
		}
		return json.Marshal(line)
	}
	answer := map[string]any{}
	for _, f := range q.Fields {
		for {
			line, err := a.line(ctx, f.Label+f.hint()+": ")
			if err != nil {
				return nil, err
			}
			if line == "" && f.Required {
				return nil, errLater
			}
			if line == "" {
				break
			}
			value, err := f.value(line)
			if err == nil {
				answer[f.ID] = value
				break
			}
			fmt.Fprintln(a.c.err, err)
		}
	}
	return json.Marshal(answer)
}

func (a *asker) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(a.c.out, prompt)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line, ok := <-a.lines:
		if !ok {
			return "", errLater
		}
		return strings.TrimSpace(line.text), line.err
	}
}
