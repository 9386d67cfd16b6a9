package assembler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/plugin"
)

// Positions and volatilities of segments (spec 01 §10.2).
const (
	PositionSystem      = "system"
	PositionPreHistory  = "pre-history"
	PositionPostHistory = "post-history"
	VolatilityStable    = "stable"
	VolatilitySession   = "session"
	VolatilityTurn      = "turn"
	AudienceAll         = "all"
	AudienceStory       = "story"
	AudienceSelf        = "self"
)

// Quoted gives a position or an audience as a segment holds it: a JSON string.
func Quoted(word string) json.RawMessage { return json.RawMessage(`"` + word + `"`) }

// ParseSegments reads the segments that a provider answered as JSON, a list or
// null. The provider's id is set whatever the segment says. A segment with an
// unknown field, a bad value or an id used before is dropped with a bad-segment
// warning; the others stay. Text that is no list is an error.
func ParseSegments(provider string, raw json.RawMessage) ([]plugin.Segment, []Warning, error) {
	v, err := jsonValue(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("segments of %s: %w", provider, err)
	}
	if v.Kind == ordered.Null {
		return nil, nil, nil
	}
	if v.Kind != ordered.Array {
		return nil, nil, fmt.Errorf("segments of %s: want a list", provider)
	}
	var segments []plugin.Segment
	var warnings []Warning
	for i, item := range v.Items {
		s, bad := segmentOf(item)
		if bad.Code != "" {
			if bad.Item = s.ID; bad.Item == "" {
				bad.Item = fmt.Sprintf("%d", i)
			}
			bad.Item = provider + "/" + bad.Item
			warnings = append(warnings, bad)
			continue
		}
		segments = append(segments, s)
	}
	segments, more := CheckSegments(provider, segments)
	return segments, append(warnings, more...), nil
}

func segmentOf(v ordered.Value) (plugin.Segment, Warning) {
	var s plugin.Segment
	if v.Kind != ordered.Object {
		return s, Warning{Code: WarnBadSegment, Value: Cut(v.JSON(), 80, "…"), Reason: "a segment is an object"}
	}
	s.ID, _ = textMember(v, "id")
	for _, m := range v.Members {
		ok := m.Value.Kind == ordered.String
		switch m.Key {
		case "id":
		case "content":
			s.Content = m.Value.Text
		case "position":
			s.Position, ok = m.Value.Append(nil), true
		case "role":
			s.Role = m.Value.Text
		case "audience":
			s.Audience, ok = m.Value.Append(nil), true
		case "volatility":
			s.Volatility = m.Value.Text
		case "order":
			s.Order, ok = wholeNumber(m.Value)
		case "providerPluginId":
			ok = true
		default:
			ok = false
		}
		if !ok {
			return s, Warning{Code: WarnBadSegment, Field: m.Key, Value: Cut(m.Value.JSON(), 80, "…"), Reason: "unknown field or bad value"}
		}
	}
	if _, ok := v.Get("content"); !ok {
		return s, Warning{Code: WarnBadSegment, Field: "content", Reason: "missing"}
	}
	return s, Warning{}
}

func wholeNumber(v ordered.Value) (int, bool) {
	f, ok := v.Float()
	if !ok || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// CheckSegments validates the segments of one provider and sets the provider's
// id on each. Bad ones and repeated ids are dropped with a warning.
func CheckSegments(provider string, segments []plugin.Segment) ([]plugin.Segment, []Warning) {
	var kept []plugin.Segment
	var warnings []Warning
	used := map[string]bool{}
	for _, s := range segments {
		field, value := "", ""
		switch _, positioned := placeOf(s); {
		case s.ID == "":
			field, value = "id", s.ID
		case used[s.ID]:
			field, value = "id", s.ID+" (used before)"
		case !positioned:
			field, value = "position", string(s.Position)
		case s.Role != "" && s.Role != "system" && s.Role != "user" && s.Role != "assistant":
			field, value = "role", s.Role
		case !audienceKnown(s.Audience):
			field, value = "audience", string(s.Audience)
		case volatilityRank(s.Volatility) < 0:
			field, value = "volatility", s.Volatility
		}
		if field != "" {
			warnings = append(warnings, Warning{Code: WarnBadSegment, Item: provider + "/" + s.ID, Field: field, Value: value, Reason: "bad value"})
			continue
		}
		used[s.ID] = true
		s.Provider = provider
		kept = append(kept, s)
	}
	return kept, warnings
}

// place is a parsed position.
type place struct {
	word  string // "" for a depth
	depth int
}

func placeOf(s plugin.Segment) (place, bool) {
	v, err := jsonValue(s.Position)
	if err != nil {
		return place{}, false
	}
	switch v.Kind {
	case ordered.String:
		switch v.Text {
		case PositionSystem, PositionPreHistory, PositionPostHistory:
			return place{word: v.Text}, true
		}
	case ordered.Object:
		n, ok := wholeNumber(v.Member("depth"))
		return place{depth: n}, ok && n >= 0 && len(v.Members) == 1
	}
	return place{}, false
}

func audienceKnown(raw json.RawMessage) bool {
	v, err := jsonValue(raw)
	if err != nil {
		return false
	}
	if v.Kind == ordered.Object {
		contract, ok := textMember(v, "contract")
		name, version, cut := strings.Cut(contract, "@")
		return ok && len(v.Members) == 1 && cut && name != "" && version != ""
	}
	return v.Kind == ordered.String && (v.Text == AudienceAll || v.Text == AudienceStory || v.Text == AudienceSelf)
}

func volatilityRank(v string) int {
	return slices.Index([]string{VolatilityStable, VolatilitySession, VolatilityTurn}, v)
}

// placed is a selected segment with its place.
type placed struct {
	plugin.Segment
	place
}

func (p placed) role() model.Role {
	if p.Role == "" {
		return model.RoleSystem
	}
	return model.Role(p.Role)
}

func (p placed) message() model.Message {
	return model.Message{Role: p.role(), Content: p.Content}
}

// selectSegments filters by audience, drops blank ones and sorts by volatility,
// order, provider and id (spec 01 §10.3).
func (b *build) selectSegments() []placed {
	var out []placed
	for _, s := range b.Segments {
		if !b.hears(s) {
			continue
		}
		at, ok := placeOf(s)
		if !ok || volatilityRank(s.Volatility) < 0 {
			b.warn(Warning{Code: WarnBadSegment, Item: s.Provider + "/" + s.ID, Field: "position", Value: string(s.Position), Reason: "not checked before assembling"})
			continue
		}
		if s.Content = clean(s.Content); blank(s.Content) {
			continue
		}
		out = append(out, placed{s, at})
	}
	slices.SortStableFunc(out, func(a, b placed) int {
		return cmp.Or(
			cmp.Compare(volatilityRank(a.Volatility), volatilityRank(b.Volatility)),
			cmp.Compare(a.Order, b.Order),
			strings.Compare(a.Provider, b.Provider),
			strings.Compare(a.ID, b.ID),
		)
	})
	return out
}

func (b *build) hears(s plugin.Segment) bool {
	v, err := jsonValue(s.Audience)
	if err != nil {
		return false
	}
	if contract, ok := textMember(v, "contract"); ok {
		return contract == b.Runtime.OutputContract
	}
	switch v.Text {
	case AudienceAll:
		return true
	case AudienceStory:
		return b.Runtime.Story
	case AudienceSelf:
		return s.Provider == b.Runtime.PluginID
	default:
		return false
	}
}
