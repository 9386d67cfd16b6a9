package tool

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/turn"
)

// shownMembers are what models see of a dimension's snapshot (spec 05 §12.7).
var shownMembers = []string{"name", "description", "schema", "value", "version"}

// dimensions reads the execution's frozen snapshots, in snapshot order: their
// shown members, texts in the session's locale.
func (in invocation) dimensions() (ordered.Value, *refusal) {
	if len(in.View.Dimensions) == 0 {
		return ordered.Obj(), nil
	}
	all, err := ordered.Parse(in.View.Dimensions)
	if err != nil || all.Kind != ordered.Object {
		return ordered.Value{}, refusef(turn.ResultExecutionError, "the frozen world dimensions are unreadable")
	}
	shown := make([]ordered.Member, 0, len(all.Members))
	for _, d := range all.Members {
		members := make([]ordered.Member, 0, len(shownMembers))
		for _, name := range shownMembers {
			v, ok := d.Value.Get(name)
			if !ok {
				continue
			}
			switch name {
			case "value":
				v = assembler.LocalisedDimension(v, d.Value.Member("schema"), in.View.Locale)
			case "name", "description":
				v = assembler.LocalisedDimension(v, localeMap, in.View.Locale)
			}
			members = append(members, ordered.Member{Key: name, Value: v})
		}
		shown = append(shown, ordered.Member{Key: d.Key, Value: ordered.Obj(members...)})
	}
	return ordered.Obj(shown...), nil
}

// localeMap is the schema of a text that may be a map of locales.
var localeMap = ordered.Obj(ordered.Member{Key: "x-i18n", Value: ordered.Boolean(true)})

// under puts a dimension's id before its members.
func under(id string, snapshot ordered.Value) ordered.Value {
	return ordered.Obj(append([]ordered.Member{{Key: "dimension", Value: ordered.Str(id)}}, snapshot.Members...)...)
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
			results = append(results, under(q.Dimension, snapshot))
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
		items = append(items, under(m.Key, m.Value))
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
