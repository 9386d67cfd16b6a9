// Package golden holds the exact requests of two scripted thirty-turn games of
// lanternfall, one in English and one in Chinese, and what must hold on them.
// The games run through the real activities, gateway and wire protocols; only
// the clock, the ids and the far end of the connection are fixed.
//
// A changed request shows up as a failing test that names the turn, the runtime
// and the first part that differs. When the change is meant:
//
//	go test ./golden -update
//
// rewrites the files: NAME.requests lists each request as hashes of its pieces,
// NAME.pieces.gz holds the pieces, each once. It holds tests only.
package golden
