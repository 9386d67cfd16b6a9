package devserver

import (
	"fmt"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// clusterName is written into every database; changing it would orphan them.
const clusterName = "active"

// temporalConfig is the server's static configuration.
func temporalConfig(cfg Config, sql *config.SQL, at ports) *config.Config {
	const store = sqliteplugin.PluginName
	service := func(port int) config.Service {
		return config.Service{RPC: config.RPC{BindOnIP: loopback, GRPCPort: port}}
	}
	disabled := config.Archival{
		History:    config.HistoryArchival{State: "disabled"},
		Visibility: config.VisibilityArchival{State: "disabled"},
	}
	return &config.Config{
		Archival: disabled,
		ClusterMetadata: &cluster.Config{
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {
					Enabled:                true,
					InitialFailoverVersion: 1,
					RPCAddress:             loopbackAddr(at.frontend),
				},
			},
			CurrentClusterName:       clusterName,
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Global: config.Global{
			Membership: config.Membership{BroadcastAddress: loopback, MaxJoinDuration: 30 * time.Second},
		},
		NamespaceDefaults: config.NamespaceDefaults{
			Archival: config.ArchivalNamespaceDefaults{
				History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
				Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
			},
		},
		Persistence: config.Persistence{
			DataStores:       map[string]config.DataStore{store: {SQL: sql}},
			DefaultStore:     store,
			NumHistoryShards: int32(cfg.HistoryShards),
			VisibilityStore:  store,
		},
		PublicClient: config.PublicClient{HostPort: loopbackAddr(at.frontend)},
		Services: map[string]config.Service{
			string(primitives.FrontendService): service(at.frontend),
			string(primitives.HistoryService):  service(at.history),
			string(primitives.MatchingService): service(at.matching),
			string(primitives.WorkerService):   service(at.worker),
		},
	}
}

// newTemporal builds the server. What the server's constructors treat as
// fatal, above all a port taken since it was chosen, comes back as an error.
func newTemporal(cfg Config, sql *config.SQL, at ports) (server temporal.Server, err error) {
	defer func() {
		if r := recover(); r != nil {
			fatal, ok := r.(*fatalError)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("devserver: the Temporal server could not be built: %w", fatal)
		}
	}()
	host := func(port int) static.Hosts { return static.SingleLocalHost(loopbackAddr(port)) }
	server, err = temporal.NewServer(
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
		temporal.WithConfig(temporalConfig(cfg, sql, at)),
		temporal.WithDynamicConfigClient(dynamicConfig()),
		temporal.WithLogger(serverLog{logger: cfg.Logger, level: cfg.LogLevel}),
		// Fixed addresses instead of a membership protocol: it saves a
		// second of joining at the start and another at the end.
		temporal.WithStaticHosts(map[primitives.ServiceName]static.Hosts{
			primitives.FrontendService: host(at.frontend),
			primitives.HistoryService:  host(at.history),
			primitives.MatchingService: host(at.matching),
			primitives.WorkerService:   host(at.worker),
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("devserver: the Temporal server could not be built: %w", err)
	}
	return server, nil
}
