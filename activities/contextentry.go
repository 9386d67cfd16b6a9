package activities

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/covel-engine/covel/assembler"
	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/trace"
	"github.com/covel-engine/covel/turn"
)

// runContext is entry 0 of a transcript: the assembled context, before any
// model call.
type runContext struct {
	Head     contextHead
	System   string
	Tools    []model.Tool
	Messages []model.Message
}

// contextHead is the small part of a context, kept with every run.
type contextHead struct {
	FrameworkHead           int                 `json:"frameworkHead,omitempty"` // bytes of System
	CurrentTurnUserMessages int                 `json:"currentTurnUserMessages"`
	Sections                []assembler.Section `json:"sections,omitempty"`
	Slot                    string              `json:"slot"`
	ResponseSchema          json.RawMessage     `json:"responseSchema,omitempty"`
}

// contextEntry is how entry 0 is stored: hashes of its parts (system prompt,
// tools, then one a message), as a difference to the context that the same
// runtime had in an earlier run. So a turn stores what is new in it, however
// long its history.
type contextEntry struct {
	Version int         `json:"v"`
	Head    contextHead `json:"head"`
	// Base is the run whose parts are shared: its first Keep and last Tail
	// parts around New. Without a base New is the whole list.
	Base  string   `json:"base,omitempty"`
	Keep  int      `json:"keep,omitempty"`
	Tail  int      `json:"tail,omitempty"`
	Chain int      `json:"chain,omitempty"`
	New   []string `json:"new"`
}

const (
	contextVersion = 1
	// maxContextChain bounds how many entries a read may follow.
	maxContextChain = 32
	// fixedParts are the parts before the messages: system prompt and tools.
	fixedParts = 2
)

// keptContext is a context that a worker remembers, with its parts' hashes.
type keptContext struct {
	runID  string
	chain  int
	ctx    *runContext
	hashes []string
}

func contextKey(sessionID, runtimeID string) string { return sessionID + "\x00" + runtimeID }

// newContext is an assembled context on its way to a run's entry 0. It is
// written together with the run's first reply.
type newContext struct {
	runtimeID string
	stage     string
	kept      *keptContext
	content   []byte
	blobs     map[string][]byte
}

// prepareContext works out which parts of a context are new.
func (a *Activities) prepareContext(scope turn.Scope, runtimeID, stage string, c *runContext) (*newContext, error) {
	runID := turn.RunID(scope.ExecutionID, runtimeID)
	base, known := a.contexts.Get(contextKey(scope.SessionID, runtimeID))
	kept := &keptContext{runID: runID, ctx: c}
	entry := contextEntry{Version: contextVersion, Head: c.Head}
	blobs := map[string][]byte{}
	var err error
	if kept.hashes, err = hashParts(c, base, blobs); err != nil {
		return nil, err
	}
	entry.New = kept.hashes
	if known && base.chain+1 < maxContextChain {
		keep, tail := shared(base.hashes, kept.hashes)
		kept.chain = base.chain + 1
		entry.Base, entry.Keep, entry.Tail, entry.Chain = base.runID, keep, tail, kept.chain
		entry.New = kept.hashes[keep : len(kept.hashes)-tail]
	}
	content, err := json.Marshal(entry)
	if err != nil {
		return nil, fmt.Errorf("context of %s: %w", runtimeID, err)
	}
	return &newContext{runtimeID: runtimeID, stage: stage, kept: kept, content: content, blobs: blobs}, nil
}

// writeContext stores a run's entry 0 once.
func (a *Activities) writeContext(ctx context.Context, tx store.Tx, scope turn.Scope, c *newContext) error {
	if err := tx.PutBlobs(ctx, c.blobs); err != nil {
		return err
	}
	_, _, err := tx.AppendTranscript(ctx, store.TranscriptEntry{
		RunID: c.kept.runID, Seq: 0, SessionID: scope.SessionID, TurnID: scope.TurnID,
		Role: "context", Content: c.content, CreatedAt: a.cfg.Now(),
	})
	if err != nil {
		return err
	}
	return trace.Insert(ctx, tx, a.cfg.Now(), started(scope, c.runtimeID, c.stage))
}

// rememberContext keeps a stored context as the base of the runtime's next.
func (a *Activities) rememberContext(scope turn.Scope, runtimeID string, c *newContext) {
	a.contexts.Add(contextKey(scope.SessionID, runtimeID), c.kept)
}

// context gives a run's stored entry 0, nil when there is none yet.
func (a *Activities) context(ctx context.Context, scope turn.Scope, runtimeID string) (*runContext, error) {
	runID := turn.RunID(scope.ExecutionID, runtimeID)
	if kept, ok := a.contexts.Get(contextKey(scope.SessionID, runtimeID)); ok && kept.runID == runID {
		return kept.ctx, nil
	}
	entries, err := a.cfg.Store.Transcript(ctx, runID, 0, 1)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return a.readContext(ctx, entries[0].Content)
}

// readContext rebuilds a context from its stored entry, following bases.
func (a *Activities) readContext(ctx context.Context, content []byte) (*runContext, error) {
	entry, hashes, err := a.resolveParts(ctx, content, 0)
	if err != nil {
		return nil, err
	}
	blobs, err := a.cfg.Store.Blobs(ctx, hashes)
	if err != nil {
		return nil, err
	}
	part := func(i int) ([]byte, error) {
		b, ok := blobs[hashes[i]]
		if !ok {
			return nil, fmt.Errorf("context: blob %s is missing", hashes[i])
		}
		return b, nil
	}
	c := &runContext{Head: entry.Head, Messages: make([]model.Message, len(hashes)-fixedParts)}
	system, err := part(0)
	if err != nil {
		return nil, err
	}
	c.System = string(system)
	for i := 1; i < len(hashes); i++ {
		b, err := part(i)
		if err != nil {
			return nil, err
		}
		var into any = &c.Tools
		if i >= fixedParts {
			into = &c.Messages[i-fixedParts]
		}
		if err := json.Unmarshal(b, into); err != nil {
			return nil, fmt.Errorf("context: part %d is unreadable: %w", i, err)
		}
	}
	return c, nil
}

func (a *Activities) resolveParts(ctx context.Context, content []byte, depth int) (contextEntry, []string, error) {
	var entry contextEntry
	if err := json.Unmarshal(content, &entry); err != nil {
		return entry, nil, fmt.Errorf("context entry is unreadable: %w", err)
	}
	if entry.Version != contextVersion {
		return entry, nil, fmt.Errorf("context entry has version %d; this program reads %d", entry.Version, contextVersion)
	}
	if entry.Base == "" {
		if len(entry.New) < fixedParts {
			return entry, nil, fmt.Errorf("context entry has %d parts; it needs %d or more", len(entry.New), fixedParts)
		}
		return entry, entry.New, nil
	}
	if depth > maxContextChain {
		return entry, nil, fmt.Errorf("context entry follows more than %d bases", maxContextChain)
	}
	rows, err := a.cfg.Store.Transcript(ctx, entry.Base, 0, 1)
	if err != nil {
		return entry, nil, err
	}
	if len(rows) == 0 {
		return entry, nil, fmt.Errorf("context entry refers to run %s, which is gone", entry.Base)
	}
	_, base, err := a.resolveParts(ctx, rows[0].Content, depth+1)
	if err != nil {
		return entry, nil, err
	}
	if entry.Keep+entry.Tail > len(base) {
		return entry, nil, fmt.Errorf("context entry shares %d and %d parts of %d", entry.Keep, entry.Tail, len(base))
	}
	hashes := make([]string, 0, entry.Keep+len(entry.New)+entry.Tail)
	hashes = append(hashes, base[:entry.Keep]...)
	hashes = append(hashes, entry.New...)
	return entry, append(hashes, base[len(base)-entry.Tail:]...), nil
}

// hashParts gives the hash of each part and puts the bytes of new ones into
// blobs. Parts equal to the base's in place are not encoded again.
func hashParts(c *runContext, base *keptContext, blobs map[string][]byte) ([]string, error) {
	hashes := make([]string, fixedParts+len(c.Messages))
	put := func(i int, b []byte) {
		sum := sha256.Sum256(b)
		hashes[i] = hex.EncodeToString(sum[:])
		blobs[hashes[i]] = b
	}
	if base != nil && base.ctx.System == c.System {
		hashes[0] = base.hashes[0]
	} else {
		put(0, []byte(c.System))
	}
	if base != nil && reflect.DeepEqual(base.ctx.Tools, c.Tools) {
		hashes[1] = base.hashes[1]
	} else {
		b, err := encodePart(c.Tools)
		if err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
		put(1, b)
	}
	for i := range c.Messages {
		if base != nil && i < len(base.ctx.Messages) && samePlain(&base.ctx.Messages[i], &c.Messages[i]) {
			hashes[fixedParts+i] = base.hashes[fixedParts+i]
			continue
		}
		b, err := encodePart(c.Messages[i])
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		put(fixedParts+i, b)
	}
	return hashes, nil
}

// encodePart encodes as the wire protocols do, without escaping markup, so that
// the same text is the same bytes there and here.
func encodePart(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// samePlain says whether two messages are equal and hold text only.
func samePlain(a, b *model.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.Name == b.Name && a.ToolCallID == b.ToolCallID &&
		a.ReasoningContent == b.ReasoningContent && a.Null == b.Null &&
		len(a.Parts)+len(b.Parts)+len(a.ToolCalls)+len(b.ToolCalls) == 0 &&
		a.ProviderContinuation == nil && b.ProviderContinuation == nil
}

// shared counts the equal parts at the start and at the end of two lists.
func shared(base, next []string) (keep, tail int) {
	for keep < len(base) && keep < len(next) && base[keep] == next[keep] {
		keep++
	}
	for tail < len(base)-keep && tail < len(next)-keep && base[len(base)-1-tail] == next[len(next)-1-tail] {
		tail++
	}
	return keep, tail
}
