package assembler

import (
	"encoding/json"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/session"
)

// variables resolves template paths (spec 01 §6.5). A root is built when the
// body first names it.
type variables struct {
	in    *build
	roots map[string]ordered.Value
}

func (v *variables) read(path []string) (ordered.Value, bool) {
	root, ok := v.roots[path[0]]
	if !ok {
		make := map[string]func() ordered.Value{
			"player": v.player, "characters": v.characters, "session": v.session,
			"inputs": v.inputs, "world": v.world, "userSettings": v.userSettings,
		}[path[0]]
		if make == nil {
			return ordered.Value{}, false
		}
		root = make()
		v.roots[path[0]] = root
	}
	return walk(root, path[1:])
}

// value reads stored JSON; what cannot be read is empty and warned about.
func (v *variables) value(path string, raw json.RawMessage) ordered.Value {
	value, err := jsonValue(raw)
	if err != nil {
		v.in.warn(Warning{Code: WarnTemplateValue, Item: path, Reason: err.Error()})
	}
	return value
}

func (v *variables) player() ordered.Value {
	in := v.in.Input
	out := ordered.Obj(ordered.Member{Key: "message", Value: ordered.Str(in.Turn.PlayerMessage)})
	if values := v.value("player.lastFormValues", in.Snapshot.FormValues); values.Kind == ordered.Object && len(values.Members) > 0 {
		out = out.With("lastFormValues", values)
	}
	if c, ok := CurrentCharacter(in.Snapshot.Seats, in.Snapshot.Characters); ok {
		out = out.With("character", characterSheet(c, nil))
	}
	return out
}

func (v *variables) characters() ordered.Value {
	in := v.in.Input
	current, _ := CurrentCharacter(in.Snapshot.Seats, in.Snapshot.Characters)
	text := CharacterLines(in.Snapshot.Characters, current.ID, nil, v.in.Texts, v.in.lang)
	return ordered.Obj(ordered.Member{Key: "npcs", Value: ordered.Str(text)})
}

func (v *variables) session() ordered.Value {
	return ordered.Obj(
		ordered.Member{Key: "id", Value: ordered.Str(v.in.Turn.SessionID)},
		ordered.Member{Key: "turnNumber", Value: ordered.Int(v.in.Turn.Number)},
	)
}

func (v *variables) inputs() ordered.Value {
	out := ordered.Obj()
	for _, r := range v.in.Results {
		if len(r.Output) == 0 {
			continue
		}
		pluginID, runtimeID, _ := strings.Cut(runtimeKey(r.Key), "/")
		output := v.value("inputs."+pluginID+"."+runtimeID, r.Output)
		if output.Kind != ordered.Object {
			continue
		}
		runtimes, ok := out.Get(pluginID)
		if !ok {
			runtimes = ordered.Obj()
		}
		out = out.With(pluginID, runtimes.With(runtimeID, output))
	}
	return out
}

func (v *variables) world() ordered.Value {
	w := v.in.Snapshot.World
	entries := make([]ordered.Value, len(w.Entries))
	for i, e := range w.Entries {
		entries[i] = ordered.Obj(
			ordered.Member{Key: "key", Value: ordered.Str(e.Key)},
			ordered.Member{Key: "content", Value: ordered.Str(e.Content)},
		)
	}
	dimensions := ordered.Obj()
	for _, d := range w.Dimensions {
		dimensions = dimensions.With(d.ID, v.dimension(d))
	}
	return ordered.Obj(
		ordered.Member{Key: "id", Value: ordered.Str(w.ID)},
		ordered.Member{Key: "name", Value: ordered.Str(w.Name)},
		ordered.Member{Key: "description", Value: ordered.Str(w.Summary)},
		ordered.Member{Key: "tags", Value: ordered.Str(strings.Join(w.Tags, ", "))},
		ordered.Member{Key: "lore", Value: ordered.Str(w.Lore)},
		ordered.Member{Key: "schema", Value: v.value("world.schema", w.Schema)},
		ordered.Member{Key: "entries", Value: ordered.List(entries...)},
		ordered.Member{Key: "dimensions", Value: dimensions},
	)
}

// dimension is the public snapshot {name, description?, schema, value, version}.
func (v *variables) dimension(d Dimension) ordered.Value {
	out := ordered.Obj(ordered.Member{Key: "name", Value: ordered.Str(d.Name)})
	if d.Description != "" {
		out = out.With("description", ordered.Str(d.Description))
	}
	path := "world.dimensions." + d.ID
	return out.With("schema", v.value(path+".schema", d.Schema)).
		With("value", LocalisedDimension(v.value(path+".value", d.Value), v.value(path+".schema", d.Schema), v.in.Turn.Locale)).
		With("version", ordered.Int(d.Version))
}

func (v *variables) userSettings() ordered.Value {
	settings := v.value("userSettings", v.in.UserSettings)
	if settings.Kind != ordered.Object {
		return ordered.Obj()
	}
	return settings
}

// CurrentCharacter is the current character of the primary seat (spec 01 §6.5).
// Without seats it is the first character of type player.
func CurrentCharacter(seats []session.Seat, characters []session.Character) (session.Character, bool) {
	seat, seated := session.PrimarySeat(seats)
	for _, c := range characters {
		if seated && c.ID == seat.CurrentCharacterID || !seated && c.Type == session.CharacterTypePlayer {
			return c, true
		}
	}
	return session.Character{}, false
}
