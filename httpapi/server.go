package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/covel-engine/covel/client"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"
)

// Config configures a Server.
type Config struct {
	// Burst is how many requests a token may send at once. Defaults to 1,000.
	Burst int
	// Client does the work. Required.
	Client *client.Client
	// DrainTimeout is how long a stopping server waits for open requests.
	// Defaults to 10 s.
	DrainTimeout time.Duration
	// KeepAlive is the time between the comments of a quiet stream. Defaults to
	// 15 s.
	KeepAlive time.Duration
	// MaxStreams bounds the streams that are open at once. Defaults to 10,000.
	MaxStreams int
	// Now is the clock that ends tokens. Defaults to time.Now.
	Now func() time.Time
	// Rate is how many requests a second a token may send, and all callers
	// together where no token is asked for. Defaults to 500.
	Rate float64
	// Ready says whether the parts behind the server can be used. Required.
	Ready func(ctx context.Context) error
	// SlowClient is how long one event may take to be taken. Defaults to 10 s.
	SlowClient time.Duration
	// Tokens are the bearer tokens that are asked for. Defaults to none: every
	// caller may do everything, which is for loopback only.
	Tokens Tokens
	// Version is the program's version, for the API's description.
	Version string
}

func (c Config) withDefaults() Config {
	if c.Burst == 0 {
		c.Burst = 1000
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = 10 * time.Second
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = 15 * time.Second
	}
	if c.MaxStreams == 0 {
		c.MaxStreams = 10_000
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rate == 0 {
		c.Rate = 500
	}
	if c.SlowClient == 0 {
		c.SlowClient = 10 * time.Second
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	return c
}

// Server serves the API.
type Server struct {
	cfg       Config
	api       huma.API
	http      *http.Server
	limits    *limiters
	strangers *rate.Limiter
	streams   chan struct{} // one token for each open stream
	draining  chan struct{} // closed when the server begins to stop
}

// New checks the configuration.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Ready == nil:
		return nil, fmt.Errorf("httpapi.Config.Ready is nil; give a readiness check")
	case cfg.Client == nil:
		return nil, fmt.Errorf("httpapi.Config.Client is nil; give a client.Client")
	case cfg.Rate < 0 || cfg.Burst < 0 || cfg.MaxStreams < 0:
		return nil, fmt.Errorf("httpapi.Config: rate %v, burst %d or max streams %d is negative; use 0 for the default", cfg.Rate, cfg.Burst, cfg.MaxStreams)
	}
	cfg = cfg.withDefaults()
	s := &Server{
		cfg:       cfg,
		limits:    newLimiters(cfg.Rate, cfg.Burst),
		strangers: rate.NewLimiter(strangersRate, int(strangersRate)),
		streams:   make(chan struct{}, cfg.MaxStreams),
		draining:  make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	s.api = s.describe(mux)
	s.http = &http.Server{
		Handler:           http.MaxBytesHandler(mux, maxBody),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	return s, nil
}

// maxBody bounds a request's body: a message of 32 KiB, escaped as JSON, and
// settings beside it.
const maxBody = 256 << 10

// errorForm is set once for the process: the API library has one error form.
var errorForm = sync.OnceFunc(func() { huma.NewError = schemaProblem })

func (s *Server) describe(mux *http.ServeMux) huma.API {
	errorForm()
	cfg := huma.DefaultConfig("Covel", s.cfg.Version)
	cfg.Info.Description = "Durable turns of AI narrative games."
	cfg.DocsPath = ""     // the documentation page would load scripts of strangers
	cfg.CreateHooks = nil // no $schema member in bodies
	cfg.SchemasPath = ""
	cfg.RejectUnknownQueryParameters = true
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer"}}
	if s.cfg.Tokens != nil {
		cfg.Security = []map[string][]string{{"bearer": {}}}
	}
	api := humago.New(mux, cfg)
	api.UseMiddleware(s.identify)
	s.addSessions(api)
	s.addTurns(api)
	s.addStreams(api)
	return api
}

// Handler answers requests without a server of its own around it, for tests
// and for programs that serve more than this API.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// OpenAPI is the API's description, as JSON.
func (s *Server) OpenAPI() ([]byte, error) { return json.MarshalIndent(s.api.OpenAPI(), "", "  ") }

// operation is what all operations share.
func operation(id, method, path, summary string, status int) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, DefaultStatus: status, MaxBodyBytes: maxBody,
		BodyReadTimeout: 15 * time.Second,
	}
}

// Serve answers requests on l until ctx ends, then drains: no new connection
// is taken, streams end, and open requests have DrainTimeout to be answered.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.DrainTimeout)
	defer cancel()
	close(s.draining)
	err := s.http.Shutdown(drain)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	if served := <-served; !errors.Is(served, http.ErrServerClosed) {
		return errors.Join(err, served)
	}
	return err
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
	defer cancel()
	if err := s.cfg.Ready(ctx); err != nil {
		answer(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	answer(w, http.StatusOK, "ready")
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": text}) // a gone client cannot be told
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	switch p.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}
