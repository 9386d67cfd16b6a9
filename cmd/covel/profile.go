package main

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// profile writes a CPU profile of this process to a file until stop; an empty
// path does nothing. It is for engineers: COVEL_CPUPROFILE names the file.
func profile(path string) (stop func()) {
	if path == "" {
		return func() {}
	}
	file, err := os.Create(path) //nolint:gosec // whoever runs the process names the file
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "covel: no CPU profile: %v\n", err)
		return func() {}
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // a profile that cannot be written is no reason to fail
	}
}
