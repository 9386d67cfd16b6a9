// Package golden holds the exact requests of two scripted thirty-turn games of
// lanternfall, one in English and one in Chinese, over each of the four wire
// protocols, and what must hold on them. The games run through the real
// activities, gateway and wire protocols; only the clock, the ids and the far
// end of the connection are fixed, and that end keeps the bytes that reach it.
//
// A changed request shows up as a failing test that names the turn, the runtime
// and the first part that differs. When the change is meant:
//
//	go test ./golden -update
//
// rewrites the files: NAME.requests lists each request as hashes of its pieces,
// NAME.pieces.gz holds the pieces, each once. Of a game over a further protocol
// (NAME.PROTOCOL) most requests are stored as a digest, after "="; some of the
// narrator's are stored whole, to show what differs. It holds tests only.
package golden
