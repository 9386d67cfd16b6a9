package devserver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/temporal"
)

// portAttempts bounds how often Start chooses ports anew.
const portAttempts = 3

// Server is a running Temporal server.
type Server struct {
	// FrontendAddr is the host and port of the gRPC API.
	FrontendAddr string
	// UIAddr is the host and port of the web UI, "" without one.
	UIAddr string

	database *config.SQL
	temporal temporal.Server
	ui       *webUI

	stopOnce sync.Once
	stopped  chan struct{}
	stopErr  error
}

// Start runs a server and returns when it answers requests.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.DatabasePath != "" {
		if err := prepareFile(ctx, cfg.DatabasePath, cfg.HistoryShards); err != nil {
			return nil, err
		}
	}
	server := &Server{database: sqlConfig(cfg.DatabasePath), stopped: make(chan struct{})}
	if err := server.start(ctx, cfg); err != nil {
		return nil, errors.Join(err, server.stop())
	}
	return server, nil
}

func (s *Server) start(ctx context.Context, cfg Config) error {
	if err := createNamespace(cfg, s.database); err != nil {
		return err
	}
	at, err := s.build(ctx, cfg)
	if err != nil {
		return err
	}
	s.FrontendAddr = loopbackAddr(at.frontend)
	if err := s.temporal.Start(); err != nil {
		return fmt.Errorf("devserver: the Temporal server did not start: %w", err)
	}
	if err := settle(ctx, cfg, s.FrontendAddr); err != nil {
		return err
	}
	if at.ui == NoUI {
		return nil
	}
	s.UIAddr = loopbackAddr(at.ui)
	s.ui, err = startUI(ctx, at.ui, s.FrontendAddr, cfg.Namespace)
	return err
}

func (s *Server) build(ctx context.Context, cfg Config) (ports, error) {
	for attempt := 1; ; attempt++ {
		at, err := choosePorts(ctx, cfg.FrontendPort, cfg.UIPort)
		if err != nil {
			return ports{}, err
		}
		s.temporal, err = newTemporal(cfg, s.database, at)
		var fatal *fatalError
		if err == nil || !errors.As(err, &fatal) || attempt == portAttempts {
			return at, err
		}
	}
}

// Stop ends the server and closes its database. It returns when nothing of
// the server is left, or when ctx ends; the stopping then goes on. Further
// calls wait for the first.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		go func() {
			defer close(s.stopped)
			s.stopErr = s.stop()
		}()
	})
	select {
	case <-s.stopped:
		return s.stopErr
	case <-ctx.Done():
		return fmt.Errorf("devserver: still stopping: %w", context.Cause(ctx))
	}
}

func (s *Server) stop() error {
	var failed []error
	if s.ui != nil {
		s.ui.stop()
	}
	if s.temporal != nil {
		if err := s.temporal.Stop(); err != nil {
			failed = append(failed, fmt.Errorf("devserver: stop: %w", err))
		}
	}
	return errors.Join(append(failed, closeDatabase(s.database))...)
}
