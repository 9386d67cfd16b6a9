// Package scripted is a model without a network: provider "scripted", protocol
// scripted-v1 (spec 04 §17). It plays YAML scripts in tests and demonstrations,
// and the storyteller where no llm.toml stands, so that a fresh checkout can be
// played at once.
//
//	adapter, err := scripted.New(scripted.Config{Dir: "."})
//
// A script answers by rules; the first whose conditions all hold is used:
//
//	version: 1
//	replies:
//	  - when: {slot: story, turn: 1, lastUser: "north|door"}
//	    text: "The door opens."
//	  - when: {attempt: 1}
//	    error: {status: 429, retryAfterMs: 1000}
//	  - text: "The story goes on."
//
// A reply depends on the request, its identity and the attempt only, never on a
// clock, a process or an earlier call: another worker gives the same bytes.
// NewHandler serves the same replies over HTTP in all four wire protocols.
package scripted
