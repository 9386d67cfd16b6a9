package devserver

import (
	"context"
	"log/slog"
	"strings"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog hands the Temporal server's log to slog.
type serverLog struct {
	logger *slog.Logger
	level  slog.Leveler
}

var (
	_ log.Logger     = serverLog{}
	_ log.WithLogger = serverLog{}
)

// fatalError is what the server panics with where its own logger would end
// the process.
type fatalError struct {
	message string
	attrs   []slog.Attr
}

func (e *fatalError) Error() string {
	var text strings.Builder
	text.WriteString(e.message)
	for _, attr := range e.attrs {
		text.WriteString(" " + attr.String())
	}
	return text.String()
}

func (l serverLog) write(level slog.Level, msg string, tags []tag.Tag) {
	if level < l.level.Level() {
		return
	}
	l.logger.LogAttrs(context.Background(), level, msg, attrs(tags)...)
}

func attrs(tags []tag.Tag) []slog.Attr {
	list := make([]slog.Attr, 0, len(tags))
	for _, t := range tags {
		list = append(list, slog.Any(t.Key(), t.Value()))
	}
	return list
}

func (l serverLog) Debug(msg string, tags ...tag.Tag)  { l.write(slog.LevelDebug, msg, tags) }
func (l serverLog) Info(msg string, tags ...tag.Tag)   { l.write(slog.LevelInfo, msg, tags) }
func (l serverLog) Warn(msg string, tags ...tag.Tag)   { l.write(slog.LevelWarn, msg, tags) }
func (l serverLog) Error(msg string, tags ...tag.Tag)  { l.write(slog.LevelError, msg, tags) }
func (l serverLog) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

func (l serverLog) Panic(msg string, tags ...tag.Tag) {
	l.write(slog.LevelError, msg, tags)
	panic(&fatalError{message: msg, attrs: attrs(tags)})
}

func (l serverLog) Fatal(msg string, tags ...tag.Tag) { l.Panic(msg, tags...) }

// With returns a log that adds the tags to every line.
func (l serverLog) With(tags ...tag.Tag) log.Logger {
	args := make([]any, 0, len(tags))
	for _, attr := range attrs(tags) {
		args = append(args, attr)
	}
	return serverLog{logger: l.logger.With(args...), level: l.level}
}
