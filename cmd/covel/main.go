// Command covel plays, serves and inspects AI narrative games on the Covel turn
// engine. `covel --help` lists its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Errors of the command line itself are machine-readable too.
	c := &console{in: os.Stdin, out: os.Stdout, err: os.Stderr, json: slices.Contains(os.Args, "--json")}
	defer profile(os.Getenv("COVEL_CPUPROFILE"))()
	root := newRoot(c)
	root.SetArgs(os.Args[1:])
	err := root.ExecuteContext(ctx)
	return c.conclude(err)
}
