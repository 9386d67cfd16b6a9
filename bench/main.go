package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/covel-engine/covel/client"
)

func main() {
	turns := flag.Int("turns", 60, "turns to measure at concurrency 1")
	load := flag.Int("load", 160, "turns to measure at concurrency 16")
	messages := flag.Int("messages", 2000, "messages in the session of the second row")
	binary := flag.String("covel", "", "covel binary for the server (default: build it)")
	memory := flag.Bool("memory", false, "keep the server's database in memory instead of a file")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the worker to this file")
	flag.Parse()
	if err := measure(*binary, *memory, *profile, *turns, *load, *messages); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(binary string, memory bool, profile string, turns, load, messages int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if profile != "" {
		stopProfile, err := startProfile(profile)
		if err != nil {
			return err
		}
		defer stopProfile()
	}
	return run(ctx, binary, memory, turns, load, messages)
}

func run(ctx context.Context, binary string, memory bool, turns, load, messages int) error {
	rig, err := newRig(ctx, binary, memory)
	if err != nil {
		return err
	}
	defer rig.close()
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "messages\tp50 ms\tp95 ms\tturns/s x1\tturns/s x16\tserver CPU ms\tworker CPU ms\ttasks\ttransactions\thistory B\tpayload B\tstore B\t")
	for _, n := range []int{0, messages} {
		row, err := rig.measure(ctx, n, turns, load)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%d\t%.0f\t%.0f\t%.1f\t%.1f\t%.0f\t%.0f\t%d\t%.0f\t%d\t%d\t%d\t\n", n, row.p50, row.p95, row.alone, row.loaded,
			row.serverCPU, row.workerCPU, row.tasks, row.transactions, row.history, row.payload, row.store)
	}
	return w.Flush()
}

func startProfile(path string) (stop func(), err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = file.Close() }, pprof.StartCPUProfile(file)
}

// row is one line of the table.
type row struct {
	p50, p95                float64 // ms, one session
	alone, loaded           float64 // turns a second
	serverCPU, workerCPU    float64 // ms a turn, under load
	transactions            float64 // of the store, a turn
	tasks                   int     // workflow tasks of a turn
	history, payload, store int64
}

const concurrency = 16

func (r *rig) measure(ctx context.Context, messages, turns, load int) (row, error) {
	var out row
	id, err := r.session(ctx, messages)
	if err != nil {
		return out, err
	}
	for range 5 { // warm caches and pollers
		if _, err := r.turn(ctx, id); err != nil {
			return out, err
		}
	}
	before, transactions := r.storeBytes(), r.store.transactions.Load()
	var took []time.Duration
	var last *client.Handle
	started := time.Now()
	for range turns {
		begin := time.Now()
		if last, err = r.turn(ctx, id); err != nil {
			return out, err
		}
		took = append(took, time.Since(begin))
	}
	out.alone = float64(turns) / time.Since(started).Seconds()
	out.store = (r.storeBytes() - before) / int64(turns)
	out.transactions = float64(r.store.transactions.Load()-transactions) / float64(turns)
	slices.Sort(took)
	out.p50 = milliseconds(took[len(took)/2])
	out.p95 = milliseconds(took[len(took)*95/100])
	if err := r.measureHistory(ctx, last, &out); err != nil {
		return out, err
	}
	return out, r.throughput(ctx, messages, load, &out)
}

// throughput plays turns in concurrent sessions.
func (r *rig) throughput(ctx context.Context, messages, turns int, out *row) error {
	ids := make([]string, concurrency)
	for i := range ids {
		id, err := r.session(ctx, messages)
		if err != nil {
			return err
		}
		ids[i] = id
		if _, err := r.turn(ctx, id); err != nil {
			return err
		}
	}
	before, err := r.cpu()
	if err != nil {
		return err
	}
	errs := make([]error, concurrency)
	var group sync.WaitGroup
	started := time.Now()
	for i, id := range ids {
		group.Go(func() {
			for range turns / concurrency {
				if _, errs[i] = r.turn(ctx, id); errs[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	took := time.Since(started)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	after, err := r.cpu()
	played := float64(turns / concurrency * concurrency)
	used := after.since(before)
	out.loaded = played / took.Seconds()
	out.serverCPU, out.workerCPU = milliseconds(used.server)/played, milliseconds(used.worker)/played
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
