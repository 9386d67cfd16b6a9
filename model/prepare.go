package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// errSkipTarget marks a fallback target that cannot take the request.
var errSkipTarget = errors.New("the target cannot take this request")

// imageTokens is what an image counts where a window is checked.
const imageTokens = 1500

// prepare binds the call to one target: settings merged and checked, messages
// in the order in which they are sent. Nothing is sent when it fails.
func (c *call) prepare(ctx context.Context, b *bound, fallback bool) (*Request, error) {
	g := c.gateway
	if g.config.Adapters[b.target.Protocol] == nil {
		return nil, Configf("slot %s: no adapter for protocol %s in this program", b.target.Slot, b.target.Protocol)
	}
	if b.slot.Tag != TagText && b.slot.Tag != "" {
		return nil, Configf("slot %s: tag %s does not answer with text; call a slot of tag text", b.target.Slot, b.slot.Tag)
	}
	if err := checkTools(c.params.Tools, c.params.ResponseSchema); err != nil {
		return nil, err
	}
	messages, err := c.messagesFor(ctx, b, fallback)
	if err != nil {
		return nil, err
	}
	held, order := holdBack(messages)
	req := &Request{
		Target: b.target, Model: b.model, Identity: c.params.Identity, Messages: held, History: historyMarks(messages, order),
		Tools: c.params.Tools, Schema: c.params.ResponseSchema, Stream: c.onEvent != nil, Ceiling: c.budget.Ceiling(),
		CacheHistoryMarks: firstNumber(b.slot.CacheHistoryMarks, 2), HTTP: g.client, Memory: &g.memory, budget: c.budget, chain: g.chainConfig,
		count:  func(text string) int { return g.config.Count(b.target.Tokenizer, text) },
		Record: &RequestRecord{Provider: b.target.Provider, Protocol: b.target.Protocol, Model: b.target.Model, Origin: origin(b.target.BaseURL)},
	}
	if req.Identity.Slot == "" {
		req.Identity.Slot = c.slot
	}
	s, err := c.mergeSettings(b, req, fallback && c.foreign(b))
	if err != nil {
		return nil, err
	}
	if req.MaxOutputTokens, err = s.outputLimit(b, c.params.MaxOutputTokens); err != nil {
		return nil, skipIf(fallback, err)
	}
	if fallback && !c.fits(b, req) {
		return nil, errSkipTarget
	}
	optedOut := s.reasoning(b, c.params.ReasoningOff && !c.object)
	s.sampling(b)
	preference := c.params.ToolChoice
	if c.object {
		req.Tools, preference = nil, ToolChoice{}
	}
	if req.Choice, err = s.toolChoice(b, preference, optedOut); err != nil {
		return nil, err
	}
	if err := s.lateMode(b, req); err != nil {
		return nil, err
	}
	s.caching(b, req, c)
	req.InsertSchema = len(req.Schema) > 0 && !b.protocol.objectSchema && !holdsSchema(messages, req.Schema)
	s.fields.Sort()
	req.Fields = &s.fields
	return req, c.authorize(b, req)
}

// skipIf makes a fallback target's error a reason to skip it.
func skipIf(fallback bool, err error) error {
	if fallback {
		return fmt.Errorf("%w: %w", errSkipTarget, err)
	}
	return err
}

// messagesFor checks the messages and takes out images that the target does
// not see (spec 04 §6.4).
func (c *call) messagesFor(ctx context.Context, b *bound, fallback bool) ([]Message, error) {
	messages := c.params.Messages
	strip := b.declaredWithoutImages(c.gateway.config.Table)
	if fallback && c.chain[0].knownToSeeImages() && !b.knownToSeeImages() {
		strip = true
	}
	if strip {
		messages, _ = withoutImages(messages)
	}
	messages, err := c.gateway.resolveMedia(ctx, messages)
	if err != nil {
		return nil, err
	}
	return messages, checkMessages(messages)
}

// foreign says whether a target differs from the primary in provider, protocol
// or endpoint.
func (c *call) foreign(b *bound) bool {
	p := c.chain[0].target
	return p.Provider != b.target.Provider || p.Protocol != b.target.Protocol || p.BaseURL != b.target.BaseURL
}

// fits says whether a fallback target's window holds messages, tools, schema
// and the output reserve.
func (c *call) fits(b *bound, req *Request) bool {
	if b.model.ContextWindow == 0 {
		return true
	}
	count := func(text string) int { return c.gateway.config.Count(b.target.Tokenizer, text) }
	total := req.MaxOutputTokens
	if total == 0 {
		total = ResponseReserve(b.model.ContextWindow, b.model.MaxOutputTokens)
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		total += count(StripSentinels(m.Text()))
		for _, p := range m.Parts {
			if p.Type == "image" {
				total += imageTokens
			}
		}
		for _, t := range m.ToolCalls {
			total += count(t.Name) + count(t.Arguments)
		}
	}
	for _, t := range req.Tools {
		total += count(t.Name) + count(t.Description) + count(string(t.Parameters))
	}
	return total+count(string(req.Schema)) <= b.model.ContextWindow
}

// lateMode settles how late system messages go out (spec 04 §9.2).
func (s *settings) lateMode(b *bound, req *Request) error {
	mode := b.slot.LateSystem
	if s.late != nil {
		if mode != "" && !b.slot.lateFolded {
			return Configf("lateSystem: %q stands together with lateSystemAsUser = %v; give one of the two", mode, *s.late)
		}
		mode = lateModeAsUser(b.target.Protocol, *s.late)
	}
	if mode == "" || !slices.Contains(b.protocol.lateModes, mode) { // a binding may have changed the protocol
		mode = b.protocol.lateDefault
	}
	if mode == LateNative && !b.model.Has(TraitNativeLateSystem) {
		req.Warn("unsupported", "lateSystem", "model "+b.target.Model+" takes no system messages between others; they were sent in an envelope")
		mode = LateEnvelope
	}
	req.LateSystem = mode
	return checkSystemText(b.protocol, req)
}

// checkSystemText refuses images in system text where the protocol has no
// place for them (spec 04 §9.4).
func checkSystemText(p *protocol, req *Request) error {
	leading := Leading(req.Messages)
	for i := range req.Messages {
		m := &req.Messages[i]
		if !m.IsSystem() || m.HasOnlyText() {
			continue
		}
		if i < leading && p.textSystem || i >= leading && p.textLate {
			return Configf("messages[%d].content: %s needs text parts only in system text", i, req.Target.Protocol)
		}
	}
	return nil
}

// caching settles strategy and cache key (spec 04 §13.1, §13.4).
func (s *settings) caching(b *bound, req *Request, c *call) {
	if !slices.Contains(b.protocol.strategies, req.Target.CacheStrategy) { // a binding may have changed the protocol
		req.Target.CacheStrategy = b.protocol.stableCache
	}
	if b.protocol.cacheKey && !b.protocol.breakpoints && b.model.Has(TraitCacheBreakpoints) && c.gateway.firstTime("breakpoints\n"+b.target.Slot) {
		req.Warn("compatibility", "cacheStrategy", "model "+b.target.Model+" reuses its history only over "+ProtocolResponses)
	}
	if !b.protocol.cacheKey || s.fields.Has("prompt_cache_key") || c.object {
		return
	}
	u, err := url.Parse(b.target.BaseURL)
	send := err == nil && u.Host == "api.openai.com" && req.Target.CacheStrategy != CacheNone
	if s.cacheKey != nil {
		send = *s.cacheKey
	}
	if send {
		req.CacheKey = c.params.PromptCacheKey
	}
}

// authorize finds the key and headers that go to this target.
func (c *call) authorize(b *bound, req *Request) error {
	key, own, err := c.gateway.key(b)
	if err != nil {
		return err
	}
	req.Key = key
	if own {
		req.Headers = b.slot.Headers
	}
	return nil
}

// SchemaTag wraps a compact schema in the tag that models and the storyteller
// look for.
func SchemaTag(schema json.RawMessage) string {
	return "<response-format>" + string(compactJSON(schema)) + "</response-format>"
}

// SchemaInstruction asks for an answer that matches a schema (spec 04 §14).
func SchemaInstruction(schema json.RawMessage) string {
	return "Answer with one JSON value that matches this JSON Schema and with nothing else.\n" + SchemaTag(schema)
}

// holdsSchema says whether a system message holds exactly that tagged schema.
func holdsSchema(messages []Message, schema json.RawMessage) bool {
	tag := SchemaTag(schema)
	return slices.ContainsFunc(messages, func(m Message) bool { return m.IsSystem() && strings.Contains(m.Text(), tag) })
}

// firstTime is true once for a subject.
func (g *Gateway) firstTime(subject string) bool {
	_, told := g.warned.LoadOrStore(subject, true)
	return !told
}
