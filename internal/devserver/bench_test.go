package devserver_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/covel-engine/covel/internal/devserver"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// BenchmarkWorkflow measures what one turn's building blocks cost from the
// caller's start request to the result.
func BenchmarkWorkflow(b *testing.B) {
	for _, place := range []string{"memory", "file"} {
		cfg := devserver.Config{UIPort: devserver.NoUI}
		if place == "file" {
			cfg.DatabasePath = filepath.Join(b.TempDir(), "temporal.db")
		}
		server := start(b, cfg)
		connected := dial(b, server)
		work(b, connected)
		for name, definition := range map[string]any{
			"LocalActivity":  oneStep,
			"RemoteActivity": remoteStep,
			"ThreeChildren":  threeChildren,
		} {
			b.Run(place+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				var took []time.Duration
				for b.Loop() {
					began := time.Now()
					run[int](b, connected, client.StartWorkflowOptions{}, definition)
					took = append(took, time.Since(began))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*9/10].Microseconds())/1000, "p90-ms")
			})
		}
	}
}

// BenchmarkStart measures a start on a database that exists, and its stop.
func BenchmarkStart(b *testing.B) {
	cfg := devserver.Config{DatabasePath: filepath.Join(b.TempDir(), "temporal.db"), UIPort: devserver.NoUI}
	var stopping time.Duration
	for b.Loop() {
		server, err := devserver.Start(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := server.Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
		stopping += time.Since(began)
	}
	b.ReportMetric(float64(stopping.Milliseconds())/float64(b.N), "stop-ms/op")
}
