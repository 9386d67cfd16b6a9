package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/covel-engine/covel/store"
)

// countedStore counts the transactions of the worker.
type countedStore struct {
	store.Store
	transactions atomic.Int64
}

func (s *countedStore) WithTx(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	s.transactions.Add(1)
	return s.Store.WithTx(ctx, fn)
}

// cpu is processor time, user and system, of the server's and of this process.
type cpu struct{ server, worker time.Duration }

func (c cpu) since(before cpu) cpu { return cpu{c.server - before.server, c.worker - before.worker} }

// cpu reads the processor time used so far.
func (r *rig) cpu() (c cpu, err error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return c, err
	}
	c.worker = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	c.server, err = processTime(r.server.Process.Pid)
	return c, err
}

// clockTick is the unit of /proc/<pid>/stat: USER_HZ is 100 on every Linux.
const clockTick = 10 * time.Millisecond

// processTime reads fields 14 and 15, utime and stime, of /proc/<pid>/stat. It
// is 0 where there is no such file.
func processTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	// The second field, the command in brackets, may hold spaces.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}
