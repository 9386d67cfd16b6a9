package model

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
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

// redactRecord takes a key out of a record, and image bytes, in whose place
// their length stands. The body that was sent is not touched.
func redactRecord(r *RequestRecord, messages []Message, key string) {
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Type != "image" {
				continue
			}
			if image, err := ParseImage(p); err == nil && len(image.Base64) > 0 && bytes.Contains(r.Body, []byte(image.Base64)) {
				length := strconv.Itoa(base64.StdEncoding.DecodedLen(len(image.Base64)))
				r.Body = bytes.ReplaceAll(r.Body, []byte(image.Base64), []byte("["+length+" bytes]"))
			}
		}
	}
	if len(key) < 4 {
		return
	}
	r.Error = redact(r.Error, key)
	if bytes.Contains(r.Body, []byte(key)) {
		r.Body = bytes.ReplaceAll(r.Body, []byte(key), []byte("[redacted]"))
	}
	for i := range r.Attempts {
		r.Attempts[i].Error = redact(r.Attempts[i].Error, key)
	}
	for i := range r.Warnings {
		r.Warnings[i].Message = redact(r.Warnings[i].Message, key)
	}
}
