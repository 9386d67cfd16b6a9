package tool

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/turn"
)

// shownMembers are what models see of a dimension's snapshot (spec 05 §12.7).
var shownMembers = []string{"name", "description", "schema", "value", "version"}

// dimensions reads the execution's frozen snapshots, in snapshot order.
func (in invocation) dimensions() (ordered.Value, *refusal) {
	if len(in.View.Dimensions) == 0 {
		return ordered.Obj(), nil
	}
	v, err := ordered.Parse(in.View.Dimensions)
	if err != nil || v.Kind != ordered.Object {
		return ordered.Value{}, refusef(turn.ResultExecutionError, "the frozen world dimensions are unreadable")
	}
	return v, nil
}

// shownDimension gives one snapshot's shown members under its id.
func shownDimension(id string, snapshot ordered.Value) []ordered.Member {
	members := []ordered.Member{{Key: "dimension", Value: ordered.Str(id)}}
	for _, name := range shownMembers {
		if v, ok := snapshot.Get(name); ok {
			members = append(members, ordered.Member{Key: name, Value: v})
		}
	}
	return members
}

func dimensionGet(_ context.Context, in invocation) (answer, *refusal) {
	var args struct {
		Queries []struct {
			Dimension string
			Path      *string
		}
	}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	all, refused := in.dimensions()
	if refused != nil {
		return answer{}, refused
	}
	var results []ordered.Value
	for i, q := range args.Queries {
		snapshot, ok := all.Get(q.Dimension)
		if !ok {
			return answer{}, violation(in.Name, Problem{
				fmt.Sprintf("queries[%d].dimension", i), fmt.Sprintf("there is no dimension %q; known: %s", q.Dimension, known(all)),
			})
		}
		if q.Path == nil || *q.Path == "" {
			results = append(results, ordered.Obj(shownDimension(q.Dimension, snapshot)...))
			continue
		}
		members := []ordered.Member{{Key: "dimension", Value: ordered.Str(q.Dimension)}, {Key: "path", Value: ordered.Str(*q.Path)}}
		value, found := pointed(snapshot.Member("value"), *q.Path)
		members = append(members, ordered.Member{Key: "found", Value: ordered.Boolean(found)})
		if found {
			members = append(members, ordered.Member{Key: "value", Value: value})
		}
		members = append(members, ordered.Member{Key: "version", Value: snapshot.Member("version")})
		results = append(results, ordered.Obj(members...))
	}
	data := ordered.Obj(ordered.Member{Key: "results", Value: ordered.List(results...)})
	return answer{summary: fmt.Sprintf("%d values", len(results)), data: data.Append(nil)}, nil
}

func dimensionList(_ context.Context, in invocation) (answer, *refusal) {
	args := struct{ Offset, Limit int }{Limit: 20}
	if refused := in.decode(&args); refused != nil {
		return answer{}, refused
	}
	all, refused := in.dimensions()
	if refused != nil {
		return answer{}, refused
	}
	total := len(all.Members)
	from := min(args.Offset, total)
	to := min(from+args.Limit, total)
	items := make([]ordered.Value, 0, to-from)
	for _, m := range all.Members[from:to] {
		items = append(items, ordered.Obj(shownDimension(m.Key, m.Value)...))
	}
	members := []ordered.Member{{Key: "total", Value: ordered.Int(total)}, {Key: "dimensions", Value: ordered.List(items...)}}
	if to < total {
		members = append(members, ordered.Member{Key: "nextOffset", Value: ordered.Int(to)})
	}
	return answer{summary: fmt.Sprintf("%d of %d dimensions", len(items), total), data: ordered.Obj(members...).Append(nil)}, nil
}

func known(all ordered.Value) string {
	const most = 40
	var ids []string
	for i, m := range all.Members {
		if i == most {
			ids = append(ids, "…")
			break
		}
		ids = append(ids, m.Key)
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// pointed resolves a JSON Pointer (RFC 6901). An index has no sign and no
// leading zero.
func pointed(v ordered.Value, pointer string) (ordered.Value, bool) {
	if !strings.HasPrefix(pointer, "/") {
		return ordered.Value{}, false
	}
	for _, seg := range strings.Split(pointer, "/")[1:] {
		seg = strings.ReplaceAll(strings.ReplaceAll(seg, "~1", "/"), "~0", "~")
		switch v.Kind {
		case ordered.Object:
			next, ok := v.Get(seg)
			if !ok {
				return ordered.Value{}, false
			}
			v = next
		case ordered.Array:
			i, err := strconv.Atoi(seg)
			if err != nil || strconv.Itoa(i) != seg || i < 0 || i >= len(v.Items) {
				return ordered.Value{}, false
			}
			v = v.Items[i]
		default:
			return ordered.Value{}, false
		}
	}
	return v, true
}
