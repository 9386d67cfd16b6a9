package worker_test

import (
	"os"
	"path/filepath"
	"testing"

	covelworker "github.com/covel-engine/covel/worker"
	"github.com/covel-engine/covel/workflows"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// TestReplay replays the histories recorded by this and every earlier released
// build. They are never rewritten: a run that began on an old build must end on
// a new one. New ones come from the integration tests:
//
//	go test ./integration -run TestHistoryBars -record worker/testdata/histories/vX.Y.Z
func TestReplay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/histories/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 3 {
		t.Fatalf("%d recorded histories were found; at least a Turn and its stages belong here", len(files))
	}
	for _, path := range files {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			history, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
			if err != nil {
				t.Fatal(err)
			}
			replayer := worker.NewWorkflowReplayer()
			covelworker.RegisterWorkflows(replayer, workflows.Config{})
			if err := replayer.ReplayWorkflowHistory(nil, history); err != nil {
				t.Errorf("%s does not replay: %v", path, err)
			}
		})
	}
}
