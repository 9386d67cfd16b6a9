package commit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/commit"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// Every wrong payload names its field.
func TestRefusedPayloads(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 129)
	for name, c := range map[string]struct{ typ, payload, want string }{
		"no object":          {turn.ProposalStatePatch, `[]`, "payload of state.patch must be an object"},
		"table":              {turn.ProposalStatePatch, `{"table":"","key":"k","value":1}`, "table must be a non-empty string"},
		"table type":         {turn.ProposalStatePatch, `{"table":7}`, "table must be a string"},
		"state key":          {turn.ProposalStatePatch, `{"table":"t","value":1}`, "key must be a non-empty string"},
		"state value":        {turn.ProposalStatePatch, `{"table":"t","key":"k"}`, "value is missing"},
		"state op":           {turn.ProposalStatePatch, `{"table":"t","key":"k","op":"add","value":1}`, `op "add" is not one of set, merge, delete`},
		"state merge":        {turn.ProposalStatePatch, `{"table":"t","key":"k","op":"merge","value":1}`, "value must be an object for op merge"},
		"event":              {turn.ProposalEventEmit, `{}`, "topic must be a non-empty string"},
		"narrative":          {turn.ProposalNarrativeAppend, `{"text":" "}`, "text must be a non-empty string"},
		"interaction":        {turn.ProposalInteractionRequest, `{"type":"form"}`, "interactionId must be a non-empty string"},
		"namespace":          {turn.ProposalPluginData, `{"key":"k","value":1}`, "namespace must be a non-empty string"},
		"reserved":           {turn.ProposalPluginData, `{"namespace":"_jobs","key":"k","value":1}`, "RESERVED_NAMESPACE"},
		"key":                {turn.ProposalPluginData, `{"namespace":"n","key":"","value":1}`, "key must be a non-empty string"},
		"long key":           {turn.ProposalPluginData, `{"namespace":"n","key":"` + long + `","value":1}`, "key has 129 characters, at most 128 are allowed"},
		"control key":        {turn.ProposalPluginData, `{"namespace":"n","key":"a\nb","value":1}`, "must not have control characters"},
		"value":              {turn.ProposalPluginData, `{"namespace":"n","key":"k"}`, "value is missing"},
		"large value":        {turn.ProposalPluginData, `{"namespace":"n","key":"k","value":"` + strings.Repeat("x", 65_535) + `"}`, "VALIDATION_ERROR: plugin data n/k: value has 65537 bytes"},
		"schema":             {turn.ProposalPluginData, `{"namespace":"strict","key":"k","value":1}`, "VALIDATION_ERROR: plugin data strict/k: score must be a number"},
		"batch":              {turn.ProposalPluginDataBatch, `{"namespace":"n","entries":[]}`, "entries must have at least one entry"},
		"batch entry":        {turn.ProposalPluginDataBatch, `{"namespace":"n","entries":[{"key":"k","value":1},{"key":""}]}`, "key must be a non-empty string"},
		"batch type":         {turn.ProposalPluginDataBatch, `{"namespace":"n","entries":{}}`, "entries must be an array"},
		"batch version":      {turn.ProposalPluginDataBatch, `{"namespace":"n","entries":[{"key":"k","value":1,"compare":true,"expected":3}]}`, "VERSION_CONFLICT"},
		"delete":             {turn.ProposalPluginDataDelete, `{"namespace":"n"}`, "key must be a non-empty string"},
		"delete hidden":      {turn.ProposalPluginDataDelete, `{"namespace":"_hidden.n","key":"k"}`, "RESERVED_NAMESPACE"},
		"character id":       {turn.ProposalCharacterUpsert, `{"name":"Ada"}`, "id must be a non-empty string"},
		"new character name": {turn.ProposalCharacterUpsert, `{"id":"npc-x"}`, "name must be a non-empty string"},
		"new character type": {turn.ProposalCharacterUpsert, `{"id":"npc-x","name":"X"}`, "type must be a non-empty string"},
		"character fields":   {turn.ProposalCharacterUpsert, `{"id":"npc-x","name":"X","type":"npc","fields":[1]}`, "fields must be an object"},
		"character schema":   {turn.ProposalCharacterSchemaSet, `{"schema":1}`, "schema must be an object"},
		"lore id":            {turn.ProposalLorebookUpsert, `{"content":"c"}`, "id must be a non-empty string"},
		"lore content":       {turn.ProposalLorebookUpsert, `{"id":"l"}`, "content must be a non-empty string"},
		"lore strategy":      {turn.ProposalLorebookUpsert, `{"id":"l","content":"c","strategy":"magic"}`, `strategy "magic" is not one of constant, keyword`},
		"lore position":      {turn.ProposalLorebookUpsert, `{"id":"l","content":"c","position":"top"}`, `position "top"`},
		"dimension id":       {turn.ProposalDimensionInitialize, `{"dimensions":[{"initialValue":1}]}`, "dimensions[0].id must be a non-empty string"},
		"dimension value":    {turn.ProposalDimensionInitialize, `{"dimensions":[{"id":"d"}]}`, "dimensions[0].initialValue is missing"},
		"unknown dimension":  {turn.ProposalDimensionUpdate, `{"updates":[{"id":"d","value":1,"version":1}]}`, `updates[0].id "d" is no dimension`},
		"dimension receipt":  {turn.ProposalDimensionUpdate, `{"receipt":"maybe"}`, `receipt "maybe" is not one of`},
		"asset modality":     {turn.ProposalAssetGenerate, `{}`, "modality must be a non-empty string"},
		"asset mime":         {turn.ProposalAssetGenerate, `{"modality":"image","data":"AAAA"}`, "mime must be a non-empty string"},
		"asset data":         {turn.ProposalAssetGenerate, `{"modality":"image"}`, "data must be a non-empty base64 text"},
		"asset meta":         {turn.ProposalAssetGenerate, `{"modality":"image","meta":[]}`, "meta must be an object"},
		"asset unknown":      {turn.ProposalAssetGenerate, `{"modality":"image","sha256":"` + strings.Repeat("0", 64) + `"}`, "NOT_FOUND"},
		"unknown":            {"weather.set", `{}`, "unknown proposal type: weather.set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.plan.Checks.PluginData = func(_, namespace string, _ json.RawMessage) (int, error) {
				if namespace == "strict" {
					return 0, errors.New("score must be a number")
				}
				return 2, nil
			}
			b.runtime("a", turn.Proposal{Type: c.typ, Payload: json.RawMessage(c.payload)})
			out := b.apply(t)
			if out.Status != commit.Failed || len(out.FailedProposals) != 1 || !strings.Contains(out.FailedProposals[0].Error, c.want) {
				t.Errorf("outcome is %+v, want %q", out, c.want)
			}
		})
	}
}

func TestEffectsOfWrongShape(t *testing.T) {
	t.Parallel()
	for want, effects := range map[string]turn.Effects{
		"effects.interactions is not an array":      {Interactions: json.RawMessage(`{}`)},
		"effects.notifications[1] is not an object": {Notifications: json.RawMessage(`[{},7]`)},
		"effects.statePatches[0] is not an object":  {StatePatches: json.RawMessage(`[null]`), Assets: json.RawMessage(`7`)},
		"effects.pluginData is not an array":        {PluginData: json.RawMessage(`"x"`)},
		"effects.assets[0] is not an object":        {Assets: json.RawMessage(`[[]]`)},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r, _ := b.runtime("a")
			r.Effects = &effects
			if out := b.apply(t); out.Status != commit.Failed || out.Message != want {
				t.Errorf("outcome is %+v", out)
			}
		})
	}
}

func TestStateAndData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.plan.Checks.PluginData = func(string, string, json.RawMessage) (int, error) { return 3, nil }
	one := int64(1)
	b.runtime("a",
		propose(turn.ProposalStatePatch, commit.StatePatch{Table: "stats", Key: "o", Value: json.RawMessage(`{"z":1,"a":2}`)}),
		propose(turn.ProposalStatePatch, commit.StatePatch{Table: "stats", Key: "o", Op: "merge", Value: json.RawMessage(`{"a":null,"b":3,"z":4}`)}),
		patch("gone", 1),
		propose(turn.ProposalStatePatch, commit.StatePatch{Table: "stats", Key: "gone", Op: "delete"}),
		propose(turn.ProposalPluginDataBatch, commit.DataBatch{Namespace: "n", Entries: []commit.BatchEntry{
			{Key: "x", Value: json.RawMessage(`{"version":1}`), Compare: true}, {Key: "y", Value: json.RawMessage(`2`)},
		}}),
		propose(turn.ProposalPluginDataBatch, commit.DataBatch{Namespace: "n", Entries: []commit.BatchEntry{
			{Key: "x", Value: json.RawMessage(`{"version":2}`), Compare: true, Expected: &one},
		}}),
		propose(turn.ProposalPluginData, commit.DataWrite{Namespace: "_hidden.n", Key: "h", Value: json.RawMessage(`"secret"`)}),
	)
	out := b.apply(t)
	if out.Status != commit.Committed {
		t.Fatalf("outcome %+v", out)
	}
	for got, want := range map[string]string{
		b.state(t, "o"): `{"z":4,"b":3}`, b.state(t, "gone"): "", b.datum(t, "p-a", "n", "x"): `{"version":2}`,
		b.datum(t, "p-a", "_hidden.n", "h"): `"secret"`,
	} {
		if got != want {
			t.Errorf("stored is %s, want %s", got, want)
		}
	}
	row, err := b.store.PluginDatum(t.Context(), "s", "p-a", "n", "y")
	must(t, err)
	if row.SchemaVersion != 3 {
		t.Errorf("the schema version is %d, want 3", row.SchemaVersion)
	}
	traces, err := b.store.TraceEvents(t.Context(), "s", "t", "proposal.committed")
	must(t, err)
	if len(traces) != 7 {
		t.Errorf("%d proposals are traced, want 7", len(traces))
	}
}

func TestAgentsDoNotReachHiddenRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, rt := b.runtime("a", propose(turn.ProposalPluginData, commit.DataWrite{Namespace: "_hidden.n", Key: "h", Value: json.RawMessage(`1`)}))
	rt.Type = "agent"
	if out := b.apply(t); out.Status != commit.Failed {
		t.Fatalf("outcome %+v", out)
	}
}

func TestCharacters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text := "A guard."
	b.plan.Checks.Character = func(schema json.RawMessage, c session.Character) error {
		if !strings.Contains(string(schema), "attributes") {
			return fmt.Errorf("schema is %s", schema)
		}
		return nil
	}
	b.runtime("a",
		propose(turn.ProposalCharacterSchemaSet, commit.CharacterSchemaSet{Schema: json.RawMessage(`{"attributes":[]}`)}),
		propose(turn.ProposalCharacterUpsert, commit.CharacterUpsert{ID: "player-ada", Name: "Ada", Type: "player", Fields: json.RawMessage(`{"hp":1,"mp":2}`)}),
		propose(turn.ProposalCharacterUpsert, commit.CharacterUpsert{ID: "npc-bo", Name: "Bo", Type: "npc"}),
		propose(turn.ProposalCharacterUpsert, commit.CharacterUpsert{ID: "player-ada", Description: &text, Fields: json.RawMessage(`{"mp":3,"hp":null}`), Aliases: []string{"A"}}),
		propose(turn.ProposalCharacterUpsert, commit.CharacterUpsert{ID: "player-cy", Name: "Cy", Type: "player"}),
		propose(turn.ProposalLorebookUpsert, commit.LoreUpsert{ID: "l", Content: "c", Keys: []string{"lamp"}}),
	)
	if out := b.apply(t); out.Status != commit.Committed {
		t.Fatalf("outcome %+v", out)
	}
	all, err := b.store.Characters(t.Context(), "s")
	must(t, err)
	for _, c := range all {
		if c.ID == "player-ada" && (c.Name != "Ada" || c.Description != text || string(c.Fields) != `{"mp":3}` || c.Version != 2) {
			t.Errorf("the character is %+v", c)
		}
	}
	seats := b.session(t).Seats
	if len(all) != 3 || len(seats) != 1 || fmt.Sprint(seats[0].CharacterIDs) != "[player-ada player-cy]" || seats[0].CurrentCharacterID != "player-ada" {
		t.Errorf("%d characters, seats %+v", len(all), seats)
	}
	lore, err := b.store.Lorebook(t.Context(), "s")
	must(t, err)
	if len(lore) != 1 || lore[0].Owner.PluginID != "p-a" || lore[0].Strategy != "keyword" || lore[0].Position != "after_plugin" || !lore[0].Enabled {
		t.Errorf("lore is %+v", lore)
	}
}

func TestDimensions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.plan.DimensionsOwner = "p-world"
	b.plan.Checks.Dimension = func(_, value json.RawMessage) error {
		if string(value) == `"bad"` {
			return errors.New("must be a number")
		}
		return nil
	}
	initialize := propose(turn.ProposalDimensionInitialize, commit.DimensionInitialize{Dimensions: []commit.Dimension{
		{ID: "tide", InitialValue: json.RawMessage(`1`), Schema: json.RawMessage(`{"type":"number"}`)},
	}})
	update := func(version int, value string) turn.Proposal {
		return propose(turn.ProposalDimensionUpdate, commit.DimensionUpdate{Updates: []commit.DimensionChange{{ID: "tide", Version: version, Value: json.RawMessage(value)}}})
	}
	b.runtime("world", initialize, update(1, `2`), initialize)
	if out := b.apply(t); out.Status != commit.Committed {
		t.Fatalf("outcome %+v", out)
	}
	var d commit.Dimension
	must(t, json.Unmarshal([]byte(b.datum(t, "p-world", commit.NamespaceDimensions, "tide")), &d))
	if string(d.Value) != "2" || d.Version != 2 {
		t.Fatalf("the dimension is %+v", d)
	}
	if got := b.datum(t, "p-world", commit.NamespaceSettlements, "t"); !strings.Contains(got, `"settled"`) {
		t.Errorf("the receipt is %s", got)
	}
	for name, c := range map[string]struct {
		proposal turn.Proposal
		runtime  string
		code     string
	}{
		"old version": {update(1, `3`), "world", "dimension-version-conflict"},
		"bad value":   {update(2, `"bad"`), "world", turn.CodeCommitFailed},
		"not owner":   {update(2, `3`), "other", turn.CodeCommitFailed},
	} {
		b.next(t, "t-"+name, "x-"+name)
		b.plan.Results = nil
		b.runtime(c.runtime, c.proposal)
		if out := b.apply(t); out.Status != commit.Failed || out.Code != c.code {
			t.Errorf("%s: outcome %+v", name, out)
		}
	}
	for i := range 25 {
		id := fmt.Sprint("n", i)
		b.next(t, id, "x-"+id)
		b.plan.Results = nil
		b.runtime("world", propose(turn.ProposalDimensionUpdate, commit.DimensionUpdate{}))
		b.apply(t)
	}
	rows, err := b.store.PluginData(t.Context(), "s", "p-world", commit.NamespaceSettlements, "", 100)
	must(t, err)
	if len(rows) != 20 || !strings.Contains(string(rows[0].Value), "no-change") {
		t.Errorf("%d receipts are kept, want 20", len(rows))
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.plan.Checks.PictureText = func(description string) string { return "shown: " + description }
	picture := func(meta string) turn.Proposal {
		return propose(turn.ProposalAssetGenerate, commit.AssetGenerate{
			Modality: "image", Mime: "image/png", Data: []byte("png" + meta), Meta: json.RawMessage(meta),
		})
	}
	b.runtime("draw", picture(`{"prompt":"a\n lamp"}`), picture(`{"caption":"`+strings.Repeat("é", 700)+`","prompt":"p"}`), picture(`{}`),
		propose(turn.ProposalAssetGenerate, commit.AssetGenerate{Modality: "audio", Mime: "audio/wav", Data: []byte("wav")}))
	b.story("narrator", "A story.")
	out := b.apply(t)
	var got []string
	for _, m := range b.messages(t) {
		got = append(got, string(m.Role)+"/"+string(m.SourceType)+": "+m.Content)
	}
	want := []string{
		"user/player: run", `assistant/runtime: draw`, "assistant/runtime: A story.",
		"user/system: shown: a lamp", "user/system: shown: " + strings.Repeat("é", 600), "user/system: shown: ",
	}
	if out.Status != commit.Committed || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("rows are %q, want %q", got, want)
	}
	row := b.messages(t)[3]
	var ui commit.PictureUI
	must(t, json.Unmarshal(row.UI, &ui))
	if _, data, err := b.store.Media(t.Context(), "s", ui.MediaRef); err != nil || string(data) != `png{"prompt":"a\n lamp"}` || row.SourceRuntimeID != "draw" {
		t.Errorf("the picture is %q, %v", data, err)
	}
	for _, e := range out.Events {
		if strings.Contains(string(e.Payload), "data") && strings.Contains(string(e.Payload), "cG5n") {
			t.Error("an event holds the picture's bytes")
		}
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.plan.Interjections = []string{"wait", "go on"}
	form := func(id string) turn.Proposal {
		return propose(turn.ProposalInteractionRequest, map[string]string{"interactionId": id})
	}
	b.runtime("a", form("one"), form("one"), propose(turn.ProposalNarrativeAppend, commit.NarrativeAppend{Text: "Thunder."}))
	_, hidden := b.runtime("hidden", patch("hp", 1))
	hidden.IO.Concealed = true
	b.story("narrator", "A story.")
	again, _ := b.runtime("b", form("one"), form("two"))
	again.Output = json.RawMessage(`{"roll":3}`)
	out := b.apply(t)
	var got []string
	for _, m := range b.messages(t) {
		got = append(got, m.Name+"|"+m.Content+"|"+string(m.PendingInput))
	}
	want := []string{
		"|run|", "|wait|", "|go on|", `a|a|[{"interactionId":"one"}]`, "|Thunder.|", "narrator|A story.|", `b|{"roll":3}|[{"interactionId":"two"}]`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || out.Status != commit.Committed || b.state(t, "hp") != "1" {
		t.Fatalf("rows are %q, want %q", got, want)
	}
}

func TestExports(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, rt := b.runtime("a")
	rt.IO.Output = plugin.Output{RecordAs: "facts", Schema: json.RawMessage(`{}`)}
	r.CanonicalValue = json.RawMessage(`{"v":1}`)
	if out := b.apply(t); out.Status != commit.Committed {
		t.Fatalf("outcome %+v", out)
	}
	e, ok, err := b.store.Export(t.Context(), "s", "facts", now)
	must(t, err)
	if !ok || string(e.Value) != `{"v":1}` {
		t.Errorf("the export is %+v", e)
	}
	b.next(t, "t2", "x2")
	b.plan.Results = nil
	_, rt = b.runtime("a")
	rt.IO.Output = plugin.Output{RecordAs: "facts"}
	if out := b.apply(t); out.Status != commit.Failed || !strings.Contains(out.Message, "neither schema nor contract") {
		t.Errorf("outcome %+v", out)
	}
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.story("narrator", "A story.")
	emitter, _ := b.runtime("emitter", badPatch())
	emitter.Effects = &turn.Effects{Events: []turn.Event{{Topic: "T"}}}
	note, _ := b.runtime("note")
	note.Effects = &turn.Effects{Notifications: json.RawMessage(`[{"level":"info"}]`)}
	b.plan.Jobs = []commit.Job{
		{RuntimeID: "d", Payload: json.RawMessage(`{"job":1}`)}, {RuntimeID: "f", Emitters: []string{"emitter"}, Payload: json.RawMessage(`{}`)},
	}
	out := b.apply(t)
	rows, err := b.store.Outbox(t.Context(), "s", "x")
	must(t, err)
	if out.Jobs != 1 || len(rows) != 2 || string(rows[0].Payload) != `{"job":1}` || rows[1].Kind != "notification" {
		t.Fatalf("outcome %+v, outbox %+v", out, rows)
	}
	if len(out.Events) != 1 || out.Events[0].Type != commit.EventSessionNotice {
		t.Errorf("events are %+v", out.Events)
	}
}

func TestSnapshotFailureLosesOnlyTheSnapshot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.story("narrator", "A story.")
	b.plan.Snapshot = func(ctx context.Context, tx store.Tx) error {
		if err := tx.PutPluginData(ctx, session.PluginDatum{SessionID: "s", PluginID: "p", Namespace: "n", Key: "k", Value: json.RawMessage(`1`)}); err != nil {
			return err
		}
		return errors.New("no room")
	}
	if out := b.apply(t); out.Status != commit.Committed || out.SnapshotFailed != "no room" || b.datum(t, "p", "n", "k") != "" {
		t.Errorf("outcome %+v", out)
	}
}
