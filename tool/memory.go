package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// ContractMemory is the service behind memory-get-block and
// memory-update-block.
const ContractMemory = "memory.block-access@1"

// ErrNoProvider says that no active package serves a contract.
var ErrNoProvider = errors.New("no active package provides the service")

// MemoryRequest is the input of service memory.block-access@1. Op get answers
// the block ({key, label, content}) or null; op update answers the row to
// write ({namespace, key, value}), which becomes a plugin.data proposal of the
// provider, or null for an unknown key.
type MemoryRequest struct {
	Op      string `json:"op"` // get or update
	Key     string `json:"key"`
	Content string `json:"content,omitempty"`
}

// Recollection is one result of memory-search. Source is messages or
// archival:plugin_data; Ref names the turn or the row.
type Recollection struct {
	Source string `json:"source"`
	Ref    string `json:"ref,omitempty"`
	Text   string `json:"text"`
}

func memorySearch(ctx context.Context, in invocation) (answer, *refusal) {
	args := struct {
		Query string
		Limit int
	}{Limit: 8}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	if in.World == nil {
		return answer{}, refusef(turn.ResultNotFound, "this run has no memory to search")
	}
	found, err := in.World.Recall(ctx, args.Query, args.Limit)
	if err != nil {
		return answer{}, failedRead(err)
	}
	found = found[:min(len(found), args.Limit)]
	if found == nil {
		found = []Recollection{}
	}
	data, refused := encode(map[string]any{"results": found})
	return answer{summary: fmt.Sprintf("%d results", len(found)), data: data}, refused
}

// access calls the memory service.
func (in invocation) access(ctx context.Context, req MemoryRequest) (json.RawMessage, string, *refusal) {
	if in.World == nil {
		return nil, "", refusef(turn.ResultNotFound, "no active package provides %s", ContractMemory)
	}
	out, provider, err := in.World.Memory(ctx, req)
	switch {
	case errors.Is(err, ErrNoProvider):
		return nil, "", refusef(turn.ResultNotFound, "no active package provides %s", ContractMemory)
	case err != nil:
		return nil, "", refusef(turn.ResultExecutionError, "%s: %v", ContractMemory, err)
	case len(out) == 0 || string(out) == "null":
		return nil, "", violation(in.Name, Problem{"key", fmt.Sprintf("there is no memory block %q", req.Key)})
	}
	return out, provider, nil
}

func memoryGetBlock(ctx context.Context, in invocation) (answer, *refusal) {
	req := MemoryRequest{Op: "get"}
	if refused := in.decode(&req); refused != nil {
		return answer{}, refused
	}
	block, _, refused := in.access(ctx, req)
	return answer{summary: req.Key, data: block}, refused
}

func memoryUpdateBlock(ctx context.Context, in invocation) (answer, *refusal) {
	req := MemoryRequest{Op: "update"}
	if refused := in.decode(&req); refused != nil {
		return answer{}, refused
	}
	row, provider, refused := in.access(ctx, req)
	if refused != nil {
		return answer{}, refused
	}
	var write dataWrite
	if err := json.Unmarshal(row, &write); err != nil || write.Namespace == "" || write.Key == "" {
		return answer{}, refusef(turn.ResultExecutionError, "%s answered no row to write", ContractMemory)
	}
	if err := in.set.packages.CheckDatum(provider, write.Namespace, write.Key, write.Value); err != nil {
		return answer{}, refusedDatum("content", err)
	}
	proposal, refused := propose(turn.ProposalPluginData, write)
	return answer{summary: fmt.Sprintf("memory block %s is updated", req.Key), proposals: []plugin.ProposedWrite{proposal}, owner: provider}, refused
}
