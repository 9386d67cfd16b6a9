package plugins

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
)

// Handlers gives the Go code of the bundled packages.
func Handlers() plugin.Handlers {
	h := plugin.Handlers{
		Entries:     map[string]plugin.Registration{},
		Extensions:  map[string]plugin.ExtensionHandler{},
		Functions:   map[string]plugin.FunctionHandler{},
		Guards:      map[string]plugin.GuardHandler{},
		Hooks:       map[string]plugin.HookHandler{},
		Projections: map[string]plugin.ProjectionHandler{},
		Segments:    map[string]plugin.SegmentHandler{},
		Services:    map[string]plugin.ServiceHandler{},
		Tools:       map[string]plugin.ToolHandler{},
	}
	t := loadTexts()
	registerAffinity(&h)
	registerCharCreator(&h)
	registerCharacterBlueprint(&h, t)
	registerDiceCheck(&h)
	registerGuide(&h)
	registerHistoryCompaction(&h)
	registerIllustrator(&h)
	registerMemory(&h, t)
	registerNarrator(&h, t)
	registerPromptProbe(&h)
	registerWorldInit(&h, t)
	return h
}

// texts are the framework's fixed texts and the bundled plugins' own; a failure
// to load them reaches whoever first asks for one.
type texts struct {
	catalogue *locale.Texts
	own       *locale.Texts
	err       error
}

//go:embed texts/*.yaml
var ownTexts embed.FS

func loadTexts() texts {
	framework, err := locale.Load()
	if err != nil {
		return texts{err: err}
	}
	own, err := locale.LoadCatalogue(ownTexts, "texts")
	return texts{catalogue: framework, own: own, err: err}
}

// words gives the plugins' own texts in the language of a call.
func (t texts) words(v plugin.View) assembler.Words {
	lang := langOf(v)
	return func(id string, args map[string]string) string { return t.own.Get(lang, id, args) }
}

// langOf is the instruction language of a call.
func langOf(v plugin.View) locale.Lang { return locale.Instruction(v.Locale, v.Language) }

// rows reads all rows of a namespace, page by page.
func rows(ctx context.Context, data plugin.DataReader, namespace string) ([]session.PluginDatum, error) {
	if data == nil {
		return nil, nil
	}
	var all []session.PluginDatum
	after := ""
	for {
		page, err := data.List(ctx, namespace, after, pageRows)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", namespace, err)
		}
		all = append(all, page...)
		if len(page) < pageRows {
			return all, nil
		}
		after = page[len(page)-1].Key
	}
}

const pageRows = 100

// propose makes a proposal of a payload.
func propose(kind string, payload any) (plugin.ProposedWrite, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return plugin.ProposedWrite{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	return plugin.ProposedWrite{Type: kind, Payload: raw}, nil
}

// Payloads of proposals, as the commit reads them (spec 03 §10.5).
type (
	dataWrite struct {
		Namespace string          `json:"namespace"`
		Key       string          `json:"key"`
		Value     json.RawMessage `json:"value"`
	}
	dataBatch struct {
		Namespace string       `json:"namespace"`
		Entries   []batchEntry `json:"entries"`
	}
	batchEntry struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	}
)

// refuse answers a tool call with VALIDATION_ERROR.
func refuse(format string, args ...any) plugin.ToolResult {
	return plugin.ToolResult{Code: "VALIDATION_ERROR", Message: fmt.Sprintf(format, args...)}
}

// findCharacter looks a character up by id, name or alias.
func findCharacter(characters []session.Character, ref string) (session.Character, bool) {
	for _, by := range []func(session.Character) bool{
		func(c session.Character) bool { return c.ID == ref },
		func(c session.Character) bool { return sameName(c.Name, ref) },
		func(c session.Character) bool {
			for _, a := range c.Aliases {
				if sameName(a, ref) {
					return true
				}
			}
			return false
		},
	} {
		for _, c := range characters {
			if by(c) {
				return c, true
			}
		}
	}
	return session.Character{}, false
}
