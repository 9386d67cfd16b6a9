package main

import (
	"testing"

	"github.com/covel-engine/covel/plugin"
)

// TestShape: the benchmark measures what its table says.
func TestShape(t *testing.T) {
	t.Parallel()
	gen, findings, err := plugin.Load(plugin.Config{Bundled: benchPlugin(), Handlers: benchHandlers()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
	byStage := map[string]int{}
	for _, rt := range gen.Active([]string{"bench"}).Runtimes() {
		byStage[rt.Schedule.Stage]++
	}
	if len(byStage) != stages {
		t.Errorf("stages %v, want %d", byStage, stages)
	}
	for stage, n := range byStage {
		if n != runtimes {
			t.Errorf("stage %s has %d runtimes, want %d", stage, n, runtimes)
		}
	}
}
