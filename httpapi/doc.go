// Package httpapi is the engine's HTTP+SSE face over package client: sessions,
// turns, story streams, and the liveness (/healthz) and readiness (/readyz) of
// the process. The OpenAPI 3.1 description is generated from this code and
// served as /openapi.json.
//
// Errors are problem documents (application/problem+json) with the engine's
// kind and code. A start is idempotent by the turn id that the caller gives.
// Streams are server-sent events whose id is a position; a client that sends
// it back as Last-Event-ID goes on where it was, on any process.
//
//	srv, err := httpapi.New(httpapi.Config{Client: c, Ready: check})
//	err = srv.Serve(ctx, listener)
package httpapi
