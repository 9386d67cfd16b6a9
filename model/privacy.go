package model

import (
	"bytes"
	"encoding/json"
)

// redactError takes a key out of all that an error says.
func redactError(e *Error, key string) {
	if len(key) < 4 {
		return
	}
	e.Message = redact(e.Message, key)
	for name, raw := range e.Details {
		e.Details[name] = json.RawMessage(redact(string(raw), key))
	}
	if e.Err != nil {
		if text := e.Err.Error(); redact(text, key) != text {
			e.Err = &Error{Code: e.Code, Message: redact(text, key)}
		}
	}
}

// redactRecord takes a key out of a record.
func redactRecord(r *RequestRecord, key string) {
	if len(key) < 4 {
		return
	}
	r.Error = redact(r.Error, key)
	r.Body = bytes.ReplaceAll(r.Body, []byte(key), []byte("[redacted]"))
	for i := range r.Attempts {
		r.Attempts[i].Error = redact(r.Attempts[i].Error, key)
	}
}
