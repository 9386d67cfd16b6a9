package assembler

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
)

// WithResponseFormat ends a system prompt with the JSON rules and the compact
// schema (text T22), tagged as model.SchemaTag does, so that no adapter adds its
// own. The budget counts the schema itself, so this comes after Budget.Apply.
// Without a schema the prompt stays.
func WithResponseFormat(system string, schema json.RawMessage, texts *locale.Texts, lang locale.Lang) string {
	if len(schema) == 0 {
		return system
	}
	return joinNonEmpty(blankLine, system, texts.Get(lang, "T22", map[string]string{"schema": compact(schema)}))
}

// RetryHint is the hint of retry n, from 1 (text T15).
func RetryHint(texts *locale.Texts, lang locale.Lang, n int) string {
	return texts.Get(lang, "T15", map[string]string{"n": strconv.Itoa(n)})
}

// LongestRetryHint is the costliest hint that one of so many retries may add,
// "" without retries: what Budget.RetryHint reserves room for.
func LongestRetryHint(texts *locale.Texts, lang locale.Lang, est tokens.Estimator, retries int) string {
	if retries <= 0 {
		return ""
	}
	longest := RetryHint(texts, lang, retries)
	if cut := texts.Get(lang, "T16", nil); est.Count(cut) > est.Count(longest) {
		return cut
	}
	return longest
}

func compact(schema json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil {
		return string(schema)
	}
	return b.String()
}

// Fit is Apply for the parameters of a call: the first message is the system
// prompt. The fitted call carries the reserve as its output limit, and the
// response format's text at the end of its system prompt.
func (b Budget) Fit(p model.Params, ledger *Ledger) (model.Params, Report, error) {
	req := Request{Messages: p.Messages, Tools: p.Tools, ResponseSchema: p.ResponseSchema}
	if len(p.Messages) > 0 && p.Messages[0].Role == model.RoleSystem {
		req.System, req.Messages = p.Messages[0].Content, p.Messages[1:]
	}
	req, report, err := b.Apply(req, ledger)
	if err != nil {
		return p, report, err
	}
	system := WithResponseFormat(req.System, p.ResponseSchema, b.Texts, b.Lang)
	messages := make([]model.Message, 0, len(req.Messages)+1)
	if system != "" {
		messages = append(messages, model.Message{Role: model.RoleSystem, Content: system})
	}
	messages = append(messages, req.Messages...)
	p.Messages, p.MaxOutputTokens = messages, b.Reserve
	return p, report, nil
}
