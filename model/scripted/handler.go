package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/covel-engine/covel/model"
)

// HandlerConfig assembles a handler.
type HandlerConfig struct {
	// Dir is where relative script paths start. Defaults to the working directory.
	Dir string
	// Script answers every request, whatever model it names. Defaults to the
	// storyteller.
	Script string
}

// maxRequest bounds a request's body, in bytes.
const maxRequest = 64 << 20

// NewHandler serves a script or the storyteller in all four wire protocols:
//
//	POST /v1/chat/completions
//	POST /v1/responses
//	POST /v1/messages
//	POST /v1beta/models/{id}:generateContent and :streamGenerateContent
//
// What a script's conditions ask for beyond the request comes in the headers
// X-Covel-Slot, X-Covel-Runtime, X-Covel-Turn, X-Covel-Step, X-Covel-Attempt.
func NewHandler(c HandlerConfig) http.Handler {
	if c.Script == "" {
		c.Script = Storyteller
	}
	h := &handler{adapter: New(Config{Dir: c.Dir}), script: c.Script}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", h.serve(chatFace{}))
	mux.Handle("POST /v1/responses", h.serve(responsesFace{}))
	mux.Handle("POST /v1/messages", h.serve(messagesFace{}))
	mux.Handle("POST /v1beta/models/{id}", h.serve(geminiFace{}))
	return mux
}

type handler struct {
	adapter *Adapter
	script  string
}

// face is a wire protocol seen from the server's side.
type face interface {
	// read makes a prompt of a request's body and says whether to stream.
	read(r *http.Request, body []byte) (*Prompt, bool, error)
	// whole writes the reply as one JSON value.
	whole(r *Reply) any
	// events gives the stream's payloads in order; a truncated reply lacks the
	// terminal one.
	events(r *Reply) []any
}

func (h *handler) serve(f face) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			refuse(w, http.StatusRequestEntityTooLarge, err)
			return
		}
		prompt, stream, err := f.read(r, body)
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		prompt.Model, prompt.Identity, prompt.Attempt = h.script, identity(r.Header), max(1, number(r.Header, "X-Covel-Attempt"))
		reply, err := h.adapter.play(prompt)
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		switch {
		case reply.Fault != nil && reply.Fault.Connection != "":
			panic(http.ErrAbortHandler) // the connection breaks, as the script asks
		case reply.Fault != nil:
			maps.Copy(w.Header(), reply.Fault.header())
			w.WriteHeader(reply.Fault.Status)
			_, _ = w.Write(reply.Fault.body())
		case stream:
			writeStream(w, r, f, reply)
		default:
			writeJSON(w, http.StatusOK, f.whole(reply))
		}
	})
}

func identity(h http.Header) model.Identity {
	return model.Identity{
		Slot: h.Get("X-Covel-Slot"), RuntimeID: h.Get("X-Covel-Runtime"), Turn: number(h, "X-Covel-Turn"), Step: number(h, "X-Covel-Step"),
	}
}

// number reads a header's number, 0 for none.
func number(h http.Header, name string) int {
	n, _ := strconv.Atoi(h.Get(name)) // anything else matches no condition
	return n
}

func writeStream(w http.ResponseWriter, r *http.Request, f face, reply *Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for _, payload := range f.events(reply) {
		if pause(r.Context(), reply.DelayMs) != nil {
			return
		}
		raw, err := json.Marshal(payload)
		if err != nil {
			return // texts, numbers and raw JSON that was checked
		}
		var typed struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(raw, &typed) // an object
		if typed.Type != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", typed.Type)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", raw)
		if err := flush.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return
		}
	}
}

func refuse(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]any{"error": map[string]string{"message": err.Error(), "type": "invalid_request_error"}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// object is a JSON object in the making.
type object = map[string]any

// looseContent reads a message's content: a text, or a list of parts whose
// texts are joined.
func looseContent(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// argumentsJSON is a call's arguments as JSON, {} when they are none.
func argumentsJSON(arguments string) json.RawMessage {
	if !json.Valid([]byte(arguments)) {
		return json.RawMessage(`{}`)
	}
	return json.RawMessage(arguments)
}
