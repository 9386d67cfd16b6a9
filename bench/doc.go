// Command bench measures whole turns on a real Temporal server: three stages
// of three agents, each of which makes one model call and one tool call. The
// model is the scripted storyteller, which takes no time, so what is measured
// is the engine.
//
//	go run ./bench
//	go run ./bench -turns 200 -messages 2000
//
// It starts the embedded server as a process of its own (`covel dev
// --no-worker`), plays with a worker in this process on SQLite, and prints a
// table: latency of a turn alone, turns per second at concurrency 16, bytes of
// Temporal history and of the store per turn.
package main
