package plugin

import (
	"bytes"
	"encoding/json"

	"github.com/covel-engine/covel/plugin/source"
)

// ComposedSettings are one package's settings for a session. Values is a JSON
// object in declared order; Ignored names given keys that are not declared.
type ComposedSettings struct {
	Values  json.RawMessage
	Ignored []string
}

// Settings composes a package's settings: the player's value, else the world's,
// else the default (spec 05 §8). A value that does not fit is refused with
// plugin, key and value (*turn.Error, code invalid-value).
func (g *Generation) Settings(pluginID string, world, player map[string]json.RawMessage) (ComposedSettings, error) {
	m, ok := g.manifest[pluginID]
	if !ok {
		return ComposedSettings{}, refusef("plugin.Settings", "unknown-reference", "plugin %q is not loaded", pluginID)
	}
	out := ComposedSettings{}
	var b bytes.Buffer
	b.WriteByte('{')
	declared := map[string]bool{}
	for _, s := range m.Contributes.Settings {
		declared[s.Key] = true
		value := s.Default
		for _, layer := range []map[string]json.RawMessage{world, player} {
			v, ok := layer[s.Key]
			if !ok {
				continue
			}
			if why := s.Refuses(v); why != "" {
				return ComposedSettings{}, refusef("plugin.Settings", "invalid-value", "setting %s of plugin %s: value %s %s", s.Key, pluginID, v, why)
			}
			value = v
		}
		if value == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		source.Quote(&b, s.Key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	out.Values = b.Bytes()
	for _, layer := range []map[string]json.RawMessage{world, player} {
		for _, key := range sortedKeys(layer) {
			if !declared[key] {
				out.Ignored = append(out.Ignored, key)
			}
		}
	}
	return out, nil
}
