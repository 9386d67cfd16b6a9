package activities

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tool"
	"github.com/covel-engine/covel/turn"
)

// segmentTimeout bounds one provider of prompt.segment@1 (spec 01 §10.2).
const segmentTimeout = 500 * time.Millisecond

// contextOf gives a run's entry 0: the stored one, or the context assembled now
// (spec 01 §3), with what must be written for it. It is folded into the run's
// first model call; a crash before the reply is stored assembles again, from
// the same records to the same bytes.
func (a *Activities) contextOf(ctx context.Context, ex *execution, rt *plugin.Runtime, stage string) (*runContext, *newContext, error) {
	stored, err := a.context(ctx, ex.scope, rt.ID)
	if err != nil || stored != nil {
		return stored, nil, err
	}
	in, set, err := a.assemblyInput(ctx, ex, rt, stage)
	if err != nil {
		return nil, nil, err
	}
	built, err := assembler.Build(in)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range built.Warnings {
		a.cfg.Log.Sugar().Warnw("something was left out of a prompt", "session", ex.scope.SessionID, "turn", ex.scope.TurnID,
			"runtime", rt.ID, "code", w.Code, "item", w.Item, "reason", w.Reason)
	}
	assembled := &runContext{
		Head: contextHead{
			FrameworkHead:           len(built.FrameworkHead),
			CurrentTurnUserMessages: built.CurrentTurnUserMessages,
			Sections:                built.Sections,
			Slot:                    a.slot(ex, rt),
			ResponseSchema:          responseSchema(rt, built.Mode),
		},
		System:   built.SystemPrompt,
		Tools:    set.Offered(nil),
		Messages: built.Messages,
	}
	fresh, err := a.prepareContext(ex.scope, rt.ID, stage, assembled)
	return assembled, fresh, err
}

// slot is the model slot of a runtime's calls: for story runtimes the player's
// overrides come first (spec 03 §11.2).
func (a *Activities) slot(ex *execution, rt *plugin.Runtime) string {
	if rt.Story() {
		if s := ex.frozen.Input.ModelOverride; s != "" {
			return s
		}
		if s := ex.frozen.Input.RuntimeModelOverrides[rt.ID]; s != "" {
			return s
		}
		if s := ex.session.RuntimeModelOverrides[rt.ID]; s != "" {
			return s
		}
	}
	if rt.Agent == nil || rt.Agent.Model == "" {
		return defaultSlot
	}
	return rt.Agent.Model
}

// responseSchema is the response format of a run that must answer JSON. A run
// whose completing tool's data is the output sends none (spec 03 §11.4).
func responseSchema(rt *plugin.Runtime, mode assembler.Mode) json.RawMessage {
	if rt.Story() || mode == assembler.ModeCompletingTool {
		return nil
	}
	return rt.IO.Output.Schema
}

func (a *Activities) assemblyInput(ctx context.Context, ex *execution, rt *plugin.Runtime, stage string) (assembler.Input, tool.Set, error) {
	set := a.toolSet(ex, rt)
	if err := a.refresh(ctx, ex); err != nil {
		return assembler.Input{}, set, err
	}
	runtime := assembler.RuntimeOf(rt, set.Names())
	runtime.Stage = stage
	if err := a.loadSelfData(ctx, ex, rt, &runtime); err != nil {
		return assembler.Input{}, set, err
	}
	bound, err := a.bind(ctx, ex, rt, stage)
	if err != nil {
		return assembler.Input{}, set, err
	}
	history, recent, err := a.history(ctx, ex, rt)
	if err != nil {
		return assembler.Input{}, set, err
	}
	tail, err := a.cfg.Store.MessageTail(ctx, ex.scope.SessionID, maxScanDepth)
	if err != nil {
		return assembler.Input{}, set, err
	}
	summaries, err := a.summaries(ctx, ex, rt)
	if err != nil {
		return assembler.Input{}, set, err
	}
	segments, err := a.segments(ctx, ex)
	if err != nil {
		return assembler.Input{}, set, err
	}
	in := assembler.Input{
		Activation:     activation(ex, rt),
		Body:           rt.BodyIn(ex.frozen.Locale, string(ex.lang)),
		EventCatalogue: a.eventCatalogue(ex),
		Exports:        bound.exports,
		ForcedLanguage: a.cfg.ForcedLanguage,
		History:        history,
		Inputs:         bound.inputs,
		Pictures:       recent,
		Results:        results(ex),
		Runtime:        runtime,
		ScanTail:       tail,
		Segments:       segments,
		Snapshot: assembler.Snapshot{
			Characters: ex.characters, Lorebook: ex.lore, FormValues: ex.form, Seats: ex.session.Seats, World: ex.world.forTemplates(ex.lore),
		},
		Story:     stories(ex, stage),
		Summaries: summaries,
		Texts:     a.cfg.Texts,
		Turn: assembler.Turn{
			SessionID: ex.scope.SessionID, TurnID: ex.scope.TurnID, Number: ex.frozen.TurnNumber,
			PlayerMessage: ex.frozen.Input.PlayerMessage, Locale: ex.frozen.Locale,
		},
		UserSettings: ex.frozen.Settings[rt.PluginID],
	}
	if m := ex.frozen.Input.ManualTrigger; m != nil {
		in.Turn.ManualRuntime = rt.ID
	}
	return in, set, nil
}

// maxScanDepth bounds what lorebook keywords look back on (spec 01 §7.2).
const maxScanDepth = 20

// loadSelfData reads the bounded views of own rows (spec 01 §8.2).
func (a *Activities) loadSelfData(ctx context.Context, ex *execution, rt *plugin.Runtime, runtime *assembler.Runtime) error {
	reads, err := assembler.SelfDataReads(*runtime)
	if err != nil {
		return err
	}
	for i := range runtime.Injects {
		inject := &runtime.Injects[i]
		if inject.SelfData == nil {
			continue
		}
		read := reads[0]
		reads = reads[1:]
		rows, err := a.cfg.Store.ProjectPluginData(ctx, ex.scope.SessionID, rt.PluginID, read.Namespace, read.Limit)
		if err != nil {
			return err
		}
		inject.SelfData.Rows = &rows
	}
	return nil
}

// history gives the rows that a runtime may read, filtered and windowed, and
// the pictures to attach to a story (spec 01 §11, §13.2).
func (a *Activities) history(ctx context.Context, ex *execution, rt *plugin.Runtime) ([]session.Message, []assembler.Picture, error) {
	if n := rt.Agent.HistoryMaxTurns; n != nil && *n == 0 && !rt.Story() {
		return nil, nil, nil
	}
	rows, err := a.rawHistory(ctx, ex)
	if err != nil {
		return nil, nil, err
	}
	rows = assembler.WithoutCurrentTurn(rows, turn.OpenedTurnID(ex.scope.TurnID))
	var recent []assembler.Picture
	if rt.Story() {
		recent = assembler.RecentPictures(rows)
	}
	rows = assembler.FilterHistory(rows, rt.ID, storyRuntimes(ex))
	if n := rt.Agent.HistoryMaxTurns; n != nil {
		rows = assembler.Window(rows, *n)
	}
	return rows, recent, nil
}

// summaries are merged only without a window, or where the manifest asks for
// them (spec 01 §11.2).
func (a *Activities) summaries(ctx context.Context, ex *execution, rt *plugin.Runtime) ([]session.Summary, error) {
	if rt.Agent.HistoryMaxTurns != nil && !rt.Agent.IncludeSummaries {
		return nil, nil
	}
	return a.cfg.Store.Summaries(ctx, ex.scope.SessionID)
}

func storyRuntimes(ex *execution) []string {
	var ids []string
	for _, rt := range ex.active.Runtimes() {
		if rt.Story() {
			ids = append(ids, rt.ID)
		}
	}
	return ids
}

// stories are the story texts of earlier stages of this execution (spec 01 §12.1).
func stories(ex *execution, stage string) []assembler.Story {
	var list []assembler.Story
	for _, r := range ex.allResults() {
		if r.Story && r.Status == turn.RuntimeSuccess && earlierStage(r.Stage, stage) {
			list = append(list, assembler.Story{Name: r.RuntimeID, Content: r.NarrativeText()})
		}
	}
	return list
}

// results are the completed results that templates may read.
func results(ex *execution) []assembler.Result {
	var list []assembler.Result
	for _, r := range ex.allResults() {
		if r.Status == turn.RuntimeSuccess {
			key := r.RuntimeID
			if key == r.PluginID {
				key = r.PluginID + "/" + r.PluginID
			}
			list = append(list, assembler.Result{Key: key, Output: r.Output})
		}
	}
	return list
}

// activation says why a runtime runs; a run of its stage has no payload.
func activation(ex *execution, rt *plugin.Runtime) *assembler.Activation {
	if event := ex.event(rt.ID); event != nil {
		payload, err := json.Marshal(event)
		if err != nil {
			return nil
		}
		return &assembler.Activation{Source: "event", Payload: payload}
	}
	if m := ex.frozen.Input.ManualTrigger; m != nil {
		return &assembler.Activation{Source: "manual", Payload: m.Payload}
	}
	return nil
}

// segmentsOnce are the segments of one execution: a provider is asked once,
// whoever needs its segments (spec 01 §10.2).
type segmentsOnce struct {
	mu   sync.Mutex
	done bool
	list []plugin.Segment
}

// segments collects the static segments and asks each provider once.
func (a *Activities) segments(ctx context.Context, ex *execution) ([]plugin.Segment, error) {
	once := &ex.segments
	once.mu.Lock()
	defer once.mu.Unlock()
	if once.done {
		return once.list, nil
	}
	list := ex.active.StaticSegments(ex.frozen.Locale, string(ex.lang))
	for _, ext := range ex.active.Extensions(plugin.PointSegment) {
		if ext.Segment == nil {
			continue
		}
		view := a.view(ex, ext.PluginID, "", false)
		provided, err := bounded(ctx, segmentTimeout, func(ctx context.Context) ([]plugin.Segment, error) { return ext.Segment(ctx, view) })
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			a.cfg.Log.Sugar().Warnw("a segment provider was skipped", "session", ex.scope.SessionID, "turn", ex.scope.TurnID,
				"provider", ext.PluginID, "error", clip(err.Error()))
			continue
		}
		checked, warnings := assembler.CheckSegments(ext.PluginID, provided)
		for _, w := range warnings {
			a.cfg.Log.Sugar().Warnw("a segment was dropped", "provider", ext.PluginID, "segment", w.Item, "field", w.Field, "value", w.Value)
		}
		list = append(list, checked...)
	}
	once.list, once.done = list, true
	return list, nil
}

// eventCatalogue lists the topics that active packages consume (spec 01 §8.7).
func (a *Activities) eventCatalogue(ex *execution) string {
	var topics []assembler.EventTopic
	for _, m := range ex.active.Plugins() {
		for _, e := range m.Contributes.Events {
			topics = append(topics, assembler.EventTopic{Topic: e.Topic, Description: e.Description, Schema: e.Schema, Advertise: e.Advertise})
		}
	}
	return assembler.EventCatalogue(topics, a.cfg.Texts, ex.lang)
}
