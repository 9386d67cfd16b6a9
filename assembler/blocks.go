package assembler

import (
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// turnData writes the data blocks of the turn context in their fixed order
// (spec 01 §8.6).
func (b *build) turnData() (string, error) {
	var parts []string
	for _, inject := range b.Runtime.Injects {
		text, err := b.inject(inject)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	parts = append(parts, b.slots("runtime-inputs", b.Inputs, true), b.slots("runtime-exports", b.Exports, false))
	if a := b.Activation; a != nil && a.Source != sourceStage {
		parts = append(parts, b.activation())
	}
	return joinNonEmpty("\n", parts...), nil
}

const sourceStage = "stage"

func (b *build) inject(inject Inject) (string, error) {
	tag, ok := tagName(inject.As)
	if !ok {
		return "", badTag(b.Runtime.ID, inject.As)
	}
	if inject.SelfData != nil {
		return b.selfData(tag, *inject.SelfData)
	}
	for _, r := range b.Results {
		if runtimeKey(r.Key) != runtimeKey(inject.FromRuntime) {
			continue
		}
		field, ok := b.read("inject "+inject.As, r.Output).Get(inject.Field)
		if !ok || field.Kind == ordered.Null {
			return "", nil
		}
		return "<" + tag + ">" + Escape(render(field)) + "</" + tag + ">", nil
	}
	return "", nil
}

// runtimeKey writes an inline runtime's key in full: its plugin id stands for
// both levels.
func runtimeKey(key string) string {
	if strings.Contains(key, "/") {
		return key
	}
	return key + "/" + key
}

func badTag(runtime, tag string) *turn.Error {
	e := turn.Errorf("assemble context", "bad-tag",
		"tag %q of runtime %s is no tag name; use letters, digits, _ and - only", tag, runtime)
	e.Runtime, e.Field = runtime, "as"
	return e
}

// slots writes resolved input or export slots as one data block. Story replaces
// a value that is wholly a story text by a pointer to it.
func (b *build) slots(tag string, slots []Slot, pointer bool) string {
	if len(slots) == 0 {
		return ""
	}
	out := ordered.Obj()
	for _, s := range slots {
		slot := ordered.Obj(ordered.Member{Key: "cardinality", Value: ordered.Str(s.Cardinality)})
		if s.Cardinality == cardinalityAll {
			items := make([]ordered.Value, len(s.Items))
			for i, item := range s.Items {
				items[i] = ordered.Obj(
					ordered.Member{Key: "value", Value: project(b.read(tag+"."+s.Name, item.Value))},
					ordered.Member{Key: "source", Value: source(&item.Source)},
				)
			}
			slot = slot.With("items", ordered.List(items...))
		} else {
			value := project(b.read(tag+"."+s.Name, s.Value))
			if pointer && b.isStory(value) {
				value = ordered.Str(b.text("T27", nil))
			}
			slot = slot.With("value", value)
			if s.Source != nil {
				slot = slot.With("source", source(s.Source))
			}
		}
		out = out.With(s.Name, slot)
	}
	return block(tag, Escape(out.JSON()))
}

const cardinalityAll = "all"

// source shows where a value came from: plugin and runtime, never the result.
func source(s *plugin.InputSource) ordered.Value {
	return ordered.Obj(
		ordered.Member{Key: "pluginId", Value: ordered.Str(s.PluginID)},
		ordered.Member{Key: "runtimeId", Value: ordered.Str(s.RuntimeID)},
	)
}

func (b *build) isStory(v ordered.Value) bool {
	if v.Kind != ordered.String {
		return false
	}
	text := strings.TrimSpace(v.Text)
	for _, s := range b.Story {
		if text == strings.TrimSpace(s.Content) {
			return true
		}
	}
	return false
}

func (b *build) activation() string {
	a := b.Activation
	return block("runtime-activation", Escape(ordered.Obj(
		ordered.Member{Key: "source", Value: ordered.Str(a.Source)},
		ordered.Member{Key: "detached", Value: ordered.Boolean(a.Detached)},
		ordered.Member{Key: "payload", Value: project(b.read("runtime-activation", a.Payload))},
	).JSON()))
}
