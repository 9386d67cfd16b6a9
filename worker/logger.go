package worker

import (
	"go.temporal.io/sdk/log"
	"go.uber.org/zap"
)

// Logger lets the Temporal SDK log through zap.
type Logger struct {
	sugar *zap.SugaredLogger
}

var _ log.WithLogger = (*Logger)(nil)

// NewLogger wraps a zap logger.
func NewLogger(l *zap.Logger) *Logger {
	return &Logger{sugar: l.WithOptions(zap.AddCallerSkip(1)).Sugar()}
}

// Debug logs at debug level.
func (l *Logger) Debug(msg string, keyvals ...any) { l.sugar.Debugw(msg, keyvals...) }

// Info logs at info level.
func (l *Logger) Info(msg string, keyvals ...any) { l.sugar.Infow(msg, keyvals...) }

// Warn logs at warn level.
func (l *Logger) Warn(msg string, keyvals ...any) { l.sugar.Warnw(msg, keyvals...) }

// Error logs at error level.
func (l *Logger) Error(msg string, keyvals ...any) { l.sugar.Errorw(msg, keyvals...) }

// With adds fields to every later line.
func (l *Logger) With(keyvals ...any) log.Logger { return &Logger{sugar: l.sugar.With(keyvals...)} }
