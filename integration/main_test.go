package integration_test

import (
	"os"
	"testing"

	"github.com/covel-engine/covel/internal/pgtest"
	"go.temporal.io/sdk/worker"
)

// TestMain switches the sticky workflow cache off for workers inside this
// process, so that each of their workflow tasks replays its whole history.
// Worker processes keep it.
func TestMain(m *testing.M) {
	worker.SetStickyWorkflowCacheSize(0)
	os.Exit(pgtest.Main(m))
}
