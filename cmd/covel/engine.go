package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/client"
	"github.com/covel-engine/covel/internal/devserver"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model/providers"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugins"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/dburl"
	"github.com/covel-engine/covel/store/sqlite"
	"github.com/covel-engine/covel/stream"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/worker"
	"github.com/covel-engine/covel/world"
	"github.com/covel-engine/covel/worlds"
	temporal "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.uber.org/zap"
)

// engineOptions say which parts of an engine a command needs.
type engineOptions struct {
	memory   bool // keep nothing on disk
	noStore  bool // no database: only Temporal
	readOnly bool // the database is only read
	// skipMigrate leaves the schema as it is.
	skipMigrate bool
	temporal    bool // a Temporal connection without a worker
	ui          bool // the embedded server's UI
	uiPort      int
	grpcPort    int
	worker      bool // run a worker in this process
	wantEmbed   bool // refuse an external Temporal
}

// engine is what a command works with; nil parts were not asked for.
type engine struct {
	client   *client.Client
	hub      *stream.Hub
	lock     *engineLock
	log      *zap.Logger
	library  *world.Library
	notices  []string
	plugins  *plugin.Generation
	server   *devserver.Server
	store    store.Store
	temporal temporal.Client
	worker   *worker.Worker
	attached bool // another process owns the data directory
}

// openEngine starts the asked parts; on an error nothing is left running.
func openEngine(ctx context.Context, set *settings, o engineOptions) (e *engine, err error) {
	e = &engine{log: newLogger()}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if err := e.loadContent(set); err != nil {
		return e, err
	}
	if err := e.openData(set, o); err != nil {
		return e, err
	}
	if !o.noStore {
		if err := e.openStore(ctx, set, o); err != nil {
			return e, err
		}
	}
	if o.temporal || o.worker || o.ui {
		if err := e.openTemporal(ctx, set, o); err != nil {
			return e, err
		}
	}
	if o.worker && !e.attached && (set.embedded() || o.noClient()) {
		if err := e.startWorker(set); err != nil {
			return e, err
		}
	}
	return e, e.openClient()
}

// noClient says that the command is a worker against an external Temporal.
func (o engineOptions) noClient() bool { return !o.ui && o.worker && o.temporal }

// loadContent loads plugins and worlds; broken packages are named, not fatal.
func (e *engine) loadContent(set *settings) error {
	gen, findings, err := plugin.Load(plugin.Config{Bundled: plugins.FS(), UserDir: set.plugins, Handlers: plugins.Handlers()})
	if err != nil {
		return err
	}
	for _, f := range findings {
		e.notices = append(e.notices, f.String())
	}
	lib, findings, err := world.Load(world.Config{Bundled: worlds.FS(), Plugins: gen, UserDir: set.worlds})
	if err != nil {
		return err
	}
	for _, f := range findings {
		e.notices = append(e.notices, f.String())
	}
	e.plugins, e.library = gen, lib
	return nil
}

// openData takes the data directory for this process, or finds the engine that
// owns it.
func (e *engine) openData(set *settings, o engineOptions) error {
	if o.memory || (!set.embedded() && set.postgres()) {
		return nil
	}
	lock, err := takeEngineLock(set.dataDir)
	var taken *lockTaken
	switch {
	case err == nil:
		e.lock = lock
		return nil
	case errors.As(err, &taken) && taken.Temporal != "" && !o.wantEmbed:
		e.attached = true
		set.temporal = taken.Temporal
		return nil
	case errors.As(err, &taken):
		return turn.Errorf("open "+set.dataDir, turn.CodeDataDirLocked,
			"the data directory belongs to a running engine (process %d); stop it or use another --data", taken.PID)
	default:
		return err
	}
}

func (e *engine) openStore(ctx context.Context, set *settings, o engineOptions) error {
	st, err := openDatabase(ctx, set, o, e.attached)
	if err != nil {
		return err
	}
	e.store = st
	if !o.readOnly && !e.attached && !o.skipMigrate {
		if err := st.Migrate(ctx); err != nil {
			return err
		}
	}
	poll := time.Duration(0)
	if e.attached {
		poll = 100 * time.Millisecond // the owner's notifications do not reach this process
	}
	e.hub, err = stream.NewHub(stream.Config{Store: st, PollInterval: poll})
	return err
}

// openDatabase opens the game's database, beside the engine that owns it where
// there is one.
func openDatabase(ctx context.Context, set *settings, o engineOptions, attached bool) (store.Store, error) {
	switch {
	case o.memory:
		st, err := sqlite.Open(ctx, sqlite.Config{InMemory: true})
		if err != nil {
			return nil, err
		}
		return st, nil
	case o.readOnly && !set.postgres():
		return dburl.OpenReadOnly(ctx, set.database, set.dataDir)
	case attached:
		return dburl.OpenBeside(ctx, set.database, set.dataDir)
	default:
		return dburl.Open(ctx, set.database, set.dataDir)
	}
}

// openTemporal connects, starting the embedded server where that is asked.
func (e *engine) openTemporal(ctx context.Context, set *settings, o engineOptions) error {
	options := temporal.Options{Logger: worker.NewLogger(e.log)}
	if set.embedded() {
		cfg := devserver.Config{
			FrontendPort:     o.grpcPort,
			Namespace:        "default",
			SearchAttributes: worker.SearchAttributes(),
			UIPort:           devserver.NoUI,
		}
		if o.ui {
			cfg.UIPort = o.uiPort
		}
		if !o.memory {
			cfg.DatabasePath = filepath.Join(set.dataDir, "temporal.db")
		}
		server, err := devserver.Start(ctx, cfg)
		if err != nil {
			return turn.Errorf("start Temporal", turn.CodeUnavailable, "%w", err)
		}
		e.server = server
		options.HostPort = server.FrontendAddr
		if e.lock != nil {
			if err := e.lock.publish(server.FrontendAddr, server.UIAddr); err != nil {
				return err
			}
		}
	} else {
		profile, err := envconfig.LoadDefaultClientOptions()
		if err != nil {
			return turn.Errorf("connect to Temporal", "CONFIG_ERROR", "%w", err)
		}
		profile.Logger = options.Logger
		options = profile
		options.HostPort = set.temporal
	}
	dial, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := temporal.DialContext(dial, options)
	if err != nil {
		return turn.Errorf("connect to Temporal", turn.CodeUnavailable,
			"%s does not answer (%s); start one with `covel dev` or set TEMPORAL_ADDRESS", options.HostPort, shortCause(err))
	}
	e.temporal = c
	return nil
}

func shortCause(err error) string {
	text := oneLine(err.Error())
	if i := strings.LastIndex(text, "desc = "); i >= 0 {
		text = text[i+len("desc = "):]
	}
	return text
}

func (e *engine) startWorker(set *settings) error {
	gateway, notices, err := providers.New(providers.Config{LLMPath: set.llm})
	if err != nil {
		return err
	}
	e.notices = append(e.notices, notices...)
	texts, err := locale.Load()
	if err != nil {
		return err
	}
	forced := os.Getenv(locale.SettingForced)
	if _, err := locale.ParseForced(forced); err != nil {
		return turn.Errorf("start worker", "bad-setting", "%w", err)
	}
	st, interceptors, err := armFailpoint(e.store)
	if err != nil {
		return err
	}
	acts, err := activities.New(activities.Config{
		ForcedLanguage: forced,
		Library:        e.library,
		Log:            e.log,
		Model:          gateway,
		Plugins:        e.plugins,
		Store:          st,
		Streams:        e.hub,
		Texts:          texts,
	})
	if err != nil {
		return err
	}
	w, err := worker.New(worker.Config{
		Activities: acts, EagerModelCalls: e.server != nil, Interceptors: interceptors, Temporal: e.temporal,
	})
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	e.worker = w
	return nil
}

func (e *engine) openClient() error {
	if e.store == nil {
		return nil
	}
	c, err := client.New(client.Config{
		Library: e.library, Plugins: e.plugins, Store: e.store, Streams: e.hub, Temporal: e.temporal,
	})
	e.client = c
	return err
}

// close ends the parts in the reverse order of their start.
func (e *engine) close() {
	if e.worker != nil {
		e.worker.Stop()
	}
	if e.hub != nil {
		e.hub.Close()
	}
	if e.temporal != nil {
		e.temporal.Close()
	}
	if e.server != nil {
		stop, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		if err := e.server.Stop(stop); err != nil {
			e.log.Warn("the embedded Temporal server did not stop cleanly", zap.Error(err))
		}
	}
	if e.store != nil {
		if err := e.store.Close(); err != nil {
			e.log.Warn("the database did not close cleanly", zap.Error(err))
		}
	}
	if e.lock != nil {
		e.lock.release()
	}
	_ = e.log.Sync() // standard error cannot be synced on every system
}

// newLogger logs warnings and worse to standard error.
func newLogger() *zap.Logger {
	cfg := zap.NewProductionConfig()
	cfg.Level = zap.NewAtomicLevelAt(zap.WarnLevel)
	cfg.Sampling = nil
	cfg.DisableStacktrace = true
	log, err := cfg.Build()
	if err != nil {
		return zap.NewNop()
	}
	return log
}

// namespace is the Temporal namespace of this process.
func namespace() string {
	if ns := os.Getenv("TEMPORAL_NAMESPACE"); ns != "" {
		return ns
	}
	return "default"
}
