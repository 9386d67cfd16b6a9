package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/covel-engine/covel/store"
)

const transcriptTable = "transcripts"

// blobLock is held shared by writers of blob references and alone by deletion,
// so that a blob never goes while a reference to it is being written.
const blobLock = "covel:blobs"

func scanTranscript(r Row, e *store.TranscriptEntry) error {
	return r.Scan(&e.RunID, &e.Seq, &e.SessionID, &e.TurnID, &e.Role, &e.ContentHash, &e.Content, at(&e.CreatedAt))
}

// Transcript gives entries [from, to) of a run.
func (r Reads) Transcript(ctx context.Context, runID string, from, to int) ([]store.TranscriptEntry, error) {
	a := newArgs(r.Conn, "read transcript", transcriptTable).ref("run_id", runID).int(int64(from)).int(int64(to))
	return many(ctx, r.Conn, "transcript_range", a, scanTranscript)
}

// Blobs gives the stored bytes of those hashes that are known.
func (r Reads) Blobs(ctx context.Context, hashes []string) (map[string][]byte, error) {
	if len(hashes) == 0 {
		return map[string][]byte{}, nil
	}
	type blob struct {
		hash  string
		bytes []byte
	}
	a := newArgs(r.Conn, "read blobs", "blobs").texts("hash", hashes)
	rows, err := many(ctx, r.Conn, "blob_get_many", a, func(row Row, b *blob) error { return row.Scan(&b.hash, &b.bytes) })
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(rows))
	for _, b := range rows {
		out[b.hash] = b.bytes
	}
	return out, nil
}

// PutBlobs stores texts under their hashes; a key that is not the lower-case
// SHA-256 of its bytes is INVALID_VALUE.
func (t *Tx) PutBlobs(ctx context.Context, blobs map[string][]byte) error {
	const op = "put blobs"
	if len(blobs) == 0 {
		return nil
	}
	if err := t.share(ctx, op, "blobs", blobLock); err != nil {
		return err
	}
	hashes := make([]string, 0, len(blobs))
	for hash := range blobs {
		hashes = append(hashes, hash)
	}
	slices.Sort(hashes) // one order for all writers: no deadlock
	for _, hash := range hashes {
		if hash != hashOf(blobs[hash]) {
			return invalid(op, "blobs", hash, hash, "the hash is not the lower-case SHA-256 of the bytes")
		}
		if err := t.putBlob(ctx, op, hash, blobs[hash]); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) putBlob(ctx context.Context, op, hash string, bytes []byte) error {
	a := newArgs(t.conn, op, "blobs").id("hash", hash).bytes(bytes).time("created_at", t.now())
	_, err := exec(ctx, t.conn, "blob_put", a)
	return err
}

// AppendTranscript stores an entry once and says whether this call stored it.
func (t *Tx) AppendTranscript(ctx context.Context, e store.TranscriptEntry) (store.TranscriptEntry, bool, error) {
	const op = "append transcript entry"
	if err := t.pin(ctx, op, e.SessionID); err != nil {
		return store.TranscriptEntry{}, false, err
	}
	if err := t.share(ctx, op, "blobs", blobLock); err != nil {
		return store.TranscriptEntry{}, false, err
	}
	hash := hashOf(e.Content)
	if e.ContentHash != "" && e.ContentHash != hash {
		return store.TranscriptEntry{}, false, invalid(op, transcriptTable, e.RunID, e.ContentHash, "content_hash is not the SHA-256 of the content")
	}
	if e.Seq < 0 {
		return store.TranscriptEntry{}, false, invalid(op, transcriptTable, e.RunID, fmt.Sprint(e.Seq), "seq is negative; entries count from 0")
	}
	e.ContentHash, e.CreatedAt = hash, t.stamp(e.CreatedAt)
	a := newArgs(t.conn, op, transcriptTable).id("run_id", e.RunID).int(int64(e.Seq)).id("session_id", e.SessionID).
		ref("turn_id", e.TurnID).text("role", e.Role).text("content_hash", hash).time("created_at", e.CreatedAt)
	n, err := exec(ctx, t.conn, "transcript_append", a)
	if err != nil {
		return store.TranscriptEntry{}, false, err
	}
	if n == 0 {
		stored, err := t.storedEntry(ctx, op, e)
		return stored, false, err
	}
	if err := t.putBlob(ctx, op, hash, e.Content); err != nil {
		return store.TranscriptEntry{}, false, err
	}
	return e, true, t.refer(ctx, op, e.SessionID, e.Content)
}

func (t *Tx) storedEntry(ctx context.Context, op string, e store.TranscriptEntry) (store.TranscriptEntry, error) {
	var stored store.TranscriptEntry
	a := newArgs(t.conn, op, transcriptTable).id("run_id", e.RunID).int(int64(e.Seq)).int(int64(e.Seq) + 1)
	err := one(ctx, t.conn, "transcript_range", a, func(row Row) error { return scanTranscript(row, &stored) })
	switch {
	case errors.Is(err, errNoRow):
		return stored, notFound(op, transcriptTable, e.RunID)
	case err == nil && stored.SessionID != e.SessionID:
		return store.TranscriptEntry{}, &store.Error{
			Code: store.CodeForeignID, Op: op, Table: transcriptTable, ID: e.RunID, Value: e.SessionID,
		}
	}
	return stored, err
}

// refer notes the hashes that a text mentions, so that deleting another
// session keeps their blobs.
func (t *Tx) refer(ctx context.Context, op, sessionID string, text []byte) error {
	hashes := mentionedHashes(text)
	if len(hashes) == 0 {
		return nil
	}
	list, err := json.Marshal(hashes)
	if err != nil {
		return err
	}
	a := newArgs(t.conn, op, "blob_refs").id("session_id", sessionID).text("hash", string(list))
	_, err = exec(ctx, t.conn, "blob_refs_put", a)
	return err
}

// mentionedHashes finds the runs of exactly 64 lower-case hex digits, sorted,
// each once.
func mentionedHashes(text []byte) []string {
	var out []string
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isHex(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start == hex.EncodedLen(sha256.Size) {
			out = append(out, string(text[start:i]))
		}
		start = -1
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func isHex(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' }

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
