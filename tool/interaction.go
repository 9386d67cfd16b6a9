package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// handlers are the builtin tools by name.
func handlers() map[string]handler {
	return map[string]handler{
		"create-form":           createForm,
		"create-choices":        createChoices,
		"create-notification":   createNotification,
		"plugin-data-get":       dataGet,
		"plugin-data-list":      dataList,
		"plugin-data-set":       dataSet,
		"plugin-data-set-batch": dataSetBatch,
		"list-characters":       listCharacters,
		"get-character":         getCharacter,
		"create-character":      createCharacter,
		"update-character":      updateCharacter,
		"sync-characters":       syncCharacters,
		"world-dimension-get":   dimensionGet,
		"world-dimension-list":  dimensionList,
		"emit-event":            emitEvent,
		"memory-search":         memorySearch,
		"memory-get-block":      memoryGetBlock,
		"memory-update-block":   memoryUpdateBlock,
		"suspend":               suspend,
		turn.ToolRuntimeDone:    runtimeDone,
		turn.ToolSearchTools:    searchTools,
	}
}

// interaction is the id under which a call shows something: the same for every
// attempt of the call.
func (in invocation) interaction(kind string) string {
	sum := sha256.Sum256([]byte(in.View.Scope.ExecutionID + "\n" + in.View.RuntimeID + "\n" + in.ID))
	return kind + "-" + hex.EncodeToString(sum[:6])
}

// show proposes an interaction: its id and kind, then the arguments as sent.
func (in invocation) show(kind, summary string) (answer, *refusal) {
	id := in.interaction(kind)
	args, err := ordered.Parse(in.args)
	if err != nil {
		return answer{}, violation(in.Name, Problem{"arguments", err.Error()})
	}
	members := []ordered.Member{{Key: "interactionId", Value: ordered.Str(id)}, {Key: "type", Value: ordered.Str(kind)}}
	payload := ordered.Obj(append(members, args.Members...)...).Append(nil)
	data, refused := encode(map[string]string{"interaction": id})
	return answer{
		summary: summary, data: data,
		proposals: []plugin.ProposedWrite{{Type: turn.ProposalInteractionRequest, Payload: payload}},
	}, refused
}

func createForm(_ context.Context, in invocation) (answer, *refusal) {
	var args struct {
		Fields []struct {
			ID string `json:"id"`
		} `json:"fields"`
	}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	seen := map[string]bool{}
	for i, f := range args.Fields {
		if seen[f.ID] {
			return answer{}, violation(in.Name, Problem{fmt.Sprintf("fields[%d].id", i), fmt.Sprintf("%q is used twice", f.ID)})
		}
		seen[f.ID] = true
	}
	return in.show("form", fmt.Sprintf("The form with %d fields is shown to the player.", len(args.Fields)))
}

func createChoices(_ context.Context, in invocation) (answer, *refusal) {
	var args struct {
		Choices []struct {
			ID string `json:"id"`
		} `json:"choices"`
	}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	seen := map[string]bool{}
	for i, c := range args.Choices {
		if seen[c.ID] {
			return answer{}, violation(in.Name, Problem{fmt.Sprintf("choices[%d].id", i), fmt.Sprintf("%q is used twice", c.ID)})
		}
		seen[c.ID] = true
	}
	return in.show("choices", fmt.Sprintf("The %d choices are shown to the player.", len(args.Choices)))
}

func createNotification(_ context.Context, in invocation) (answer, *refusal) {
	return answer{summary: "The player is told.", notifications: []json.RawMessage{in.args}}, nil
}
