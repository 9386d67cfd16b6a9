package stream

import "time"

// Kind says what a chunk is (spec 02 §20).
type Kind string

// Kinds of chunks. After a reset a listener drops all earlier text of the
// stream; after an end the stream has no more chunks.
const (
	KindText      Kind = "text"
	KindReasoning Kind = "reasoning"
	KindReset     Kind = "reset"
	KindEnd       Kind = "end"
)

// Chunk is one piece of one runtime's stream. Seq counts from 0 in the stream;
// Cursor is the position in the whole turn after this chunk.
type Chunk struct {
	RuntimeID string    `json:"runtimeId"`
	Seq       int64     `json:"seq"`
	Attempt   int       `json:"attempt"`
	Kind      Kind      `json:"kind"`
	Text      string    `json:"text,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	Cursor    Cursor    `json:"-"`
}
