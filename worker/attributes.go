package worker

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/covel-engine/covel/turn"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
)

// SearchAttributes are the search attributes that a namespace needs before
// turns run in it.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	const keyword, number = enumspb.INDEXED_VALUE_TYPE_KEYWORD, enumspb.INDEXED_VALUE_TYPE_INT
	return map[string]enumspb.IndexedValueType{
		turn.AttrSession:      keyword,
		turn.AttrTurn:         keyword,
		turn.AttrWorld:        keyword,
		turn.AttrOrigin:       keyword,
		turn.AttrStatus:       keyword,
		turn.AttrLogicalTurn:  number,
		turn.AttrCostMicroUSD: number,
	}
}

// EnsureSearchAttributes creates the missing search attributes of a namespace
// and waits until they can be read. It gives the names it added, sorted.
func EnsureSearchAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	added := []string{}
	missing, err := missingAttributes(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
			Namespace: namespace, SearchAttributes: missing,
		})
		if err != nil {
			return nil, turn.Errorf("create search attributes", turn.CodeUnavailable, "namespace %q: %w; create them by hand where the server forbids it", namespace, err)
		}
		added = slices.Sorted(maps.Keys(missing))
	}
	for len(missing) > 0 {
		select {
		case <-ctx.Done():
			return added, turn.Errorf("create search attributes", turn.CodeUnavailable, "namespace %q does not show them yet: %w", namespace, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
		if missing, err = missingAttributes(ctx, c, namespace); err != nil {
			return added, err
		}
	}
	return added, nil
}

// missingAttributes are the search attributes that a namespace lacks.
func missingAttributes(ctx context.Context, c client.Client, namespace string) (map[string]enumspb.IndexedValueType, error) {
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return nil, turn.Errorf("list search attributes", turn.CodeUnavailable, "namespace %q: %w", namespace, err)
	}
	missing := SearchAttributes()
	for name, kind := range listed.GetCustomAttributes() {
		if want, ok := missing[name]; ok && want != kind {
			return nil, turn.Errorf("list search attributes", "CONFIG_ERROR",
				"namespace %q has %s as %s instead of %s; remove it there", namespace, name, kind, want)
		}
		delete(missing, name)
	}
	return missing, nil
}

// MissingSearchAttributes names the search attributes that a namespace lacks, sorted.
func MissingSearchAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	missing, err := missingAttributes(ctx, c, namespace)
	return slices.Sorted(maps.Keys(missing)), err
}
