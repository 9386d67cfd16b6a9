// Package httpapi is the HTTP face of the engine: liveness (/healthz) and
// readiness (/readyz). Sessions, turns and streams are in package client.
//
//	srv, err := httpapi.New(httpapi.Config{Ready: check})
//	err = srv.Serve(ctx, listener)
package httpapi
