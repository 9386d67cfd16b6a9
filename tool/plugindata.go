package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// dataWrite is the payload of plugin.data.
type dataWrite struct {
	Namespace string          `json:"namespace"`
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
}

// dataBatch is the payload of plugin.data.batch.
type dataBatch struct {
	Namespace string      `json:"namespace"`
	Entries   []dataEntry `json:"entries"`
}

type dataEntry struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// pendingData are the values that earlier calls of this run wrote to a
// namespace: a model that was told to treat a write as done reads it back.
func (in invocation) pendingData(namespace string) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, p := range in.Pending {
		if p.Source.PluginID != "" && p.Source.PluginID != in.View.PluginID {
			continue
		}
		switch p.Type {
		case turn.ProposalPluginData:
			var w dataWrite
			if json.Unmarshal(p.Payload, &w) == nil && w.Namespace == namespace {
				values[w.Key] = w.Value
			}
		case turn.ProposalPluginDataBatch:
			var b dataBatch
			if json.Unmarshal(p.Payload, &b) == nil && b.Namespace == namespace {
				for _, e := range b.Entries {
					values[e.Key] = e.Value
				}
			}
		case turn.ProposalPluginDataDelete:
			var w dataWrite
			if json.Unmarshal(p.Payload, &w) == nil && w.Namespace == namespace {
				values[w.Key] = nil
			}
		}
	}
	return values
}

func dataGet(ctx context.Context, in invocation) (answer, *refusal) {
	var args struct{ Namespace, Key string }
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	value, pending := in.pendingData(args.Namespace)[args.Key]
	if !pending {
		if in.View.Data == nil {
			return answer{}, refusef(turn.ResultNotFound, "this run has no plugin data")
		}
		var err error
		if value, err = in.View.Data.Get(ctx, args.Namespace, args.Key); err != nil {
			return answer{}, failedRead(err)
		}
	}
	if value == nil {
		return answer{summary: fmt.Sprintf("%s/%s is absent", args.Namespace, args.Key), data: json.RawMessage("null")}, nil
	}
	return answer{summary: fmt.Sprintf("%s/%s", args.Namespace, args.Key), data: value}, nil
}

func dataList(ctx context.Context, in invocation) (answer, *refusal) {
	args := struct {
		Namespace string
		Limit     int
		After     string
	}{Limit: 50}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	if in.View.Data == nil {
		return answer{}, refusef(turn.ResultNotFound, "this run has no plugin data")
	}
	// One row more says whether there is a next page. Deleted pending rows may
	// shorten it.
	rows, err := in.View.Data.List(ctx, args.Namespace, args.After, args.Limit+1)
	if err != nil {
		return answer{}, failedRead(err)
	}
	more := len(rows) > args.Limit
	if more {
		rows = rows[:args.Limit]
	}
	entries := make([]dataEntry, 0, len(rows))
	pending := in.pendingData(args.Namespace)
	last := ""
	for _, r := range rows {
		last = r.Key
		value := r.Value
		if v, ok := pending[r.Key]; ok {
			value = v
			delete(pending, r.Key)
		}
		if value != nil {
			entries = append(entries, dataEntry{r.Key, value})
		}
	}
	for key, value := range pending { // new rows that belong on this page
		if value != nil && key > args.After && (!more || key < last) {
			entries = append(entries, dataEntry{key, value})
		}
	}
	slices.SortFunc(entries, func(a, b dataEntry) int { return strings.Compare(a.Key, b.Key) })
	result := struct {
		Rows []dataEntry `json:"rows"`
		Next string      `json:"next,omitempty"`
	}{Rows: entries}
	if more {
		result.Next = last
	}
	data, refused := encode(result)
	return answer{summary: fmt.Sprintf("%d rows of %s", len(entries), args.Namespace), data: data}, refused
}

func dataSet(_ context.Context, in invocation) (answer, *refusal) {
	var args dataWrite
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	if err := in.set.packages.CheckDatum(in.View.PluginID, args.Namespace, args.Key, args.Value); err != nil {
		return answer{}, refusedDatum("value", err)
	}
	write, refused := propose(turn.ProposalPluginData, args)
	return answer{summary: fmt.Sprintf("%s/%s is set", args.Namespace, args.Key), proposals: []plugin.ProposedWrite{write}}, refused
}

func dataSetBatch(_ context.Context, in invocation) (answer, *refusal) {
	var args dataBatch
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	seen := map[string]bool{}
	for i, e := range args.Entries {
		field := fmt.Sprintf("entries[%d]", i)
		if seen[e.Key] {
			return answer{}, violation(in.Name, Problem{field + ".key", fmt.Sprintf("%q is used twice", e.Key)})
		}
		seen[e.Key] = true
		if err := in.set.packages.CheckDatum(in.View.PluginID, args.Namespace, e.Key, e.Value); err != nil {
			return answer{}, refusedDatum(field+".value", err)
		}
	}
	write, refused := propose(turn.ProposalPluginDataBatch, args)
	return answer{summary: fmt.Sprintf("%d rows of %s are set", len(args.Entries), args.Namespace), proposals: []plugin.ProposedWrite{write}}, refused
}

// refusedDatum passes on a data check's text, which names namespace and key.
func refusedDatum(field string, err error) *refusal {
	text := err.Error()
	var coded *turn.Error
	if errors.As(err, &coded) && coded.Err != nil {
		text = coded.Err.Error()
	}
	r := refusef(turn.ResultValidationError, "%s", text)
	r.details, _ = json.Marshal([]Problem{{field, text}}) // texts only: cannot fail
	return r
}

func failedRead(err error) *refusal {
	return refusef(turn.ResultExecutionError, "read: %v", err)
}
