package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

// maxChain is the longest chain of differences: at least every 32nd request of
// a runtime is a full list (spec 02 §18).
const maxChain = 32

// Request is one model call to record as llm.calling.
type Request struct {
	turn.Scope
	TraceID   string
	RuntimeID string
	Step      int
	// Attempt is the retry within the call, from 0 (spec 03 §11.8).
	Attempt     int
	LogicalTurn int
	Slot        string
	// Epoch changes with every compaction; a new one starts a full list.
	Epoch string
	// Records are what each target was sent. Without a body among them, Tools
	// and Messages are recorded instead.
	Records  []model.RequestRecord
	Tools    []model.Tool
	Messages []model.Message
	// Concealed requests are recorded without any body (spec 03 §18).
	Concealed bool
}

// callingPayload is the payload of llm.calling. The store keeps the event that
// the top-level member base names while this one stands.
type callingPayload struct {
	partList
	RuntimeID        string           `json:"runtimeId"`
	Step             int              `json:"step"`
	Attempt          int              `json:"attempt,omitempty"`
	LogicalTurn      int              `json:"logicalTurn,omitempty"`
	Slot             string           `json:"slot,omitempty"`
	Epoch            string           `json:"epoch,omitempty"`
	Concealed        bool             `json:"concealed,omitempty"`
	ProviderRequests []recordedTarget `json:"providerRequests,omitempty"`
	Tools            json.RawMessage  `json:"tools,omitempty"`
	Messages         json.RawMessage  `json:"messages,omitempty"`
}

// recordedTarget is one target's record. Its body is either inline or, when
// Parts is positive, the next Parts pieces of the request's list.
type recordedTarget struct {
	Provider string             `json:"provider,omitempty"`
	Protocol string             `json:"protocol,omitempty"`
	Model    string             `json:"model,omitempty"`
	Origin   string             `json:"origin,omitempty"`
	Attempts []model.SendRecord `json:"attempts,omitempty"`
	Body     json.RawMessage    `json:"body,omitempty"`
	Parts    int                `json:"parts,omitempty"`
}

// partList is a list of blob hashes, as a difference to an earlier event's
// list: runs of it and of New. Without Base, New is the whole list.
type partList struct {
	Base     string   `json:"base,omitempty"`
	BaseTurn string   `json:"baseTurn,omitempty"`
	Runs     []run    `json:"runs,omitempty"`
	Chain    int      `json:"chain,omitempty"`
	New      []string `json:"parts,omitempty"`
	// Keep and Tail are read only: an older event names the base's first and last
	// parts around New in the place of runs.
	Keep int `json:"keep,omitempty"`
	Tail int `json:"tail,omitempty"`
}

// empty lists belong to requests that were recorded without a body.
func (p *partList) empty() bool { return p.Base == "" && len(p.New) == 0 }

// whole gives the whole list, given the base's.
func (p *partList) whole(base []string) ([]string, error) {
	if p.Base == "" {
		return p.New, nil
	}
	if p.Runs == nil {
		return assemble(base, []run{{0, p.Keep}, {-1, len(p.New)}, {max(0, len(base)-p.Tail), p.Tail}}, p.New)
	}
	return assemble(base, p.Runs, p.New)
}

// RecordRequest writes one llm.calling event. What an earlier request of the
// same runtime holds already is referred to, so the cost is what is new. The
// same request recorded again changes nothing.
func (r *Recorder) RecordRequest(ctx context.Context, req Request) error {
	prepared, err := r.PrepareRequest(ctx, req)
	if err != nil {
		return err
	}
	if err := r.store.WithTx(ctx, prepared.Insert); err != nil {
		return fmt.Errorf("trace: record request of %s step %d: %w", req.RuntimeID, req.Step, err)
	}
	prepared.Committed()
	return nil
}

// PreparedRequest is a request that is ready to be written in a transaction of
// the caller's.
type PreparedRequest struct {
	recorder *Recorder
	req      Request
	row      store.TraceEvent
	content  map[string][]byte
	next     base
	known    bool // the same request is recorded already
}

// Insert writes the event and its new parts inside an open transaction.
func (p *PreparedRequest) Insert(ctx context.Context, tx store.Tx) error {
	if p.known {
		return nil
	}
	if len(p.content) > 0 {
		if err := tx.PutBlobs(ctx, p.content); err != nil {
			return err
		}
	}
	_, err := tx.InsertTrace(ctx, p.row)
	return err
}

// Committed remembers the request for later differences. Call it when the
// transaction of Insert has ended well.
func (p *PreparedRequest) Committed() {
	if !p.known && len(p.next.hashes) > 0 {
		p.recorder.bases.put(p.req.SessionID, p.req.RuntimeID, p.next)
	}
}

// PrepareRequest works out what of a request is new. It reads the store at most.
func (r *Recorder) PrepareRequest(ctx context.Context, req Request) (*PreparedRequest, error) {
	payload := callingPayload{
		RuntimeID: req.RuntimeID, Step: req.Step, Attempt: req.Attempt, LogicalTurn: req.LogicalTurn,
		Slot: req.Slot, Epoch: req.Epoch, Concealed: req.Concealed,
	}
	pieces, err := req.pieces(&payload)
	if err != nil {
		return nil, err
	}
	hashes := make([]string, len(pieces))
	content := make(map[string][]byte, len(pieces))
	for i, p := range pieces {
		hashes[i] = hashOf(p)
		content[hashes[i]] = p
	}
	event := Event{Scope: req.Scope, TraceID: req.TraceID, Type: LLMCalling}
	// The digest is part of the key: two different requests never share an id,
	// so a later difference always refers to the list that is stored.
	event.Key = fmt.Sprintf("%s/%d/%d/%s", req.RuntimeID, req.Step, req.Attempt, hashOf([]byte(strings.Join(hashes, ""))))
	id := eventID(event.SessionID, event.traceID(), event.Type, event.Key)

	if len(pieces) > 0 {
		payload.New = hashes
		base, found, err := r.base(ctx, req)
		if err != nil {
			return nil, err
		}
		if found && base.id == id {
			return &PreparedRequest{known: true}, nil
		}
		if found && base.epoch == req.Epoch && base.chain+1 < maxChain {
			// A list that is mostly new, as after a compaction, is kept whole.
			if runs, fresh := difference(base.hashes, hashes); 2*len(fresh) <= len(hashes) {
				payload.partList = partList{Base: base.id, BaseTurn: base.turnID, Runs: runs, Chain: base.chain + 1, New: fresh}
			}
		}
		if found {
			for _, known := range base.hashes {
				delete(content, known)
			}
		}
	}
	event.Payload = payload
	row, err := event.row(r.clock())
	if err != nil {
		return nil, err
	}
	return &PreparedRequest{
		recorder: r, req: req, row: row, content: content,
		next: base{id: id, turnID: req.TurnID, epoch: req.Epoch, chain: payload.Chain, hashes: hashes},
	}, nil
}

// pieces cuts the request's bodies and notes in the payload how many pieces
// each has.
func (req *Request) pieces(payload *callingPayload) ([][]byte, error) {
	var pieces [][]byte
	for _, rec := range req.Records {
		target := recordedTarget{
			Provider: rec.Provider, Protocol: rec.Protocol, Model: rec.Model, Origin: rec.Origin, Attempts: rec.Attempts,
		}
		if !req.Concealed {
			cut := split(rec.Body)
			target.Parts = len(cut)
			pieces = append(pieces, cut...)
		}
		payload.ProviderRequests = append(payload.ProviderRequests, target)
	}
	if len(pieces) > 0 || req.Concealed {
		return pieces, nil
	}
	body, err := json.Marshal(struct {
		Tools    []model.Tool    `json:"tools,omitempty"`
		Messages []model.Message `json:"messages"`
	}{req.Tools, withoutImageData(req.Messages)})
	if err != nil {
		return nil, fmt.Errorf("trace: record request of %s: %w", req.RuntimeID, err)
	}
	return split(body), nil
}

// withoutImageData replaces inline image bytes by their length (spec 01 §13.3).
func withoutImageData(messages []model.Message) []model.Message {
	out := make([]model.Message, len(messages))
	for i, m := range messages {
		out[i] = m
		if len(m.Parts) == 0 {
			continue
		}
		out[i].Parts = make([]model.Part, len(m.Parts))
		for j, p := range m.Parts {
			if p.Image != "" && !strings.HasPrefix(p.Image, "https://") {
				_, data, found := strings.Cut(p.Image, ";base64,")
				if !found {
					data = p.Image
				}
				p.Image = "[image data omitted: " + strconv.Itoa(len(data)) + " base64 characters]"
			}
			out[i].Parts[j] = p
		}
	}
	return out
}
