package worker_test

import (
	"strings"
	"testing"

	"github.com/covel-engine/covel/activities"
	"github.com/covel-engine/covel/turn"
	covelworker "github.com/covel-engine/covel/worker"
	"go.temporal.io/sdk/client"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	lazy, err := client.NewLazyClient(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lazy.Close)
	acts := &activities.Activities{}
	for name, c := range map[string]struct {
		cfg   covelworker.Config
		field string // named by the error; empty: it stands
	}{
		"everything required":          {covelworker.Config{Activities: acts, Temporal: lazy}, ""},
		"no activities":                {covelworker.Config{Temporal: lazy}, "Activities"},
		"no connection":                {covelworker.Config{Activities: acts}, "Temporal"},
		"a deployment without a build": {covelworker.Config{Activities: acts, Temporal: lazy, Deployment: "covel"}, "BuildID"},
		"a build without a deployment": {covelworker.Config{Activities: acts, Temporal: lazy, BuildID: "b-1"}, "Deployment"},
		"a deployment and a build":     {covelworker.Config{Activities: acts, Temporal: lazy, Deployment: "covel", BuildID: "b-1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := covelworker.New(c.cfg)
			if c.field == "" && err != nil || c.field != "" && (err == nil || !strings.Contains(err.Error(), c.field)) {
				t.Errorf("error %v, want one that names %q", err, c.field)
			}
		})
	}
}

// TestSearchAttributes: a namespace that was set up by the list has every
// attribute that turns use.
func TestSearchAttributes(t *testing.T) {
	t.Parallel()
	have := covelworker.SearchAttributes()
	for _, name := range []string{
		turn.AttrSession, turn.AttrTurn, turn.AttrWorld, turn.AttrOrigin, turn.AttrStatus, turn.AttrLogicalTurn, turn.AttrCostMicroUSD,
	} {
		if _, ok := have[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}
