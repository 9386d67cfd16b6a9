package devserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/server/common/primitives/timestamp"
)

const (
	readyWithin   = 30 * time.Second
	readyInterval = 5 * time.Millisecond
)

// settle waits until the namespace answers and brings what an older database
// stored for it, search attributes and retention, up to the configuration.
func settle(ctx context.Context, cfg Config, address string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	temporal, err := client.NewLazyClient(client.Options{
		HostPort:  address,
		Logger:    sdklog.NewStructuredLogger(cfg.Logger),
		Namespace: cfg.Namespace,
	})
	if err != nil {
		return fmt.Errorf("devserver: %w", err)
	}
	defer temporal.Close()

	namespace, err := describe(ctx, temporal.WorkflowService(), cfg.Namespace)
	if err != nil {
		return err
	}
	if err := settleAttributes(ctx, cfg, temporal.OperatorService()); err != nil {
		return err
	}
	if namespace.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == cfg.Retention {
		return nil
	}
	_, err = temporal.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: timestamp.DurationPtr(cfg.Retention)},
		Namespace: cfg.Namespace,
	})
	if err != nil {
		return fmt.Errorf("devserver: Retention %s: %w", cfg.Retention, err)
	}
	return nil
}

// describe asks for the namespace until the server answers.
func describe(ctx context.Context, frontend workflowservice.WorkflowServiceClient, namespace string) (*workflowservice.DescribeNamespaceResponse, error) {
	tick := time.NewTicker(readyInterval)
	defer tick.Stop()
	for {
		answer, err := frontend.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
		if err == nil {
			return answer, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("devserver: the server did not answer within %s: %w", readyWithin, err)
		}
	}
}

func settleAttributes(ctx context.Context, cfg Config, operator operatorservice.OperatorServiceClient) error {
	if len(cfg.SearchAttributes) == 0 {
		return nil
	}
	present, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: cfg.Namespace})
	if err != nil {
		return fmt.Errorf("devserver: SearchAttributes: %w", err)
	}
	missing := make(map[string]enumspb.IndexedValueType)
	for _, name := range slices.Sorted(maps.Keys(cfg.SearchAttributes)) {
		want := cfg.SearchAttributes[name]
		switch got, ok := present.GetCustomAttributes()[name]; {
		case !ok:
			missing[name] = want
		case got != want:
			return fmt.Errorf("devserver: search attribute %s is of type %s in the database, not %s; use another name or another data directory", name, got, want)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace:        cfg.Namespace,
		SearchAttributes: missing,
	})
	if err != nil {
		return fmt.Errorf("devserver: SearchAttributes: %w", err)
	}
	return nil
}
