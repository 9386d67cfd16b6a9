// Package httpapi is the HTTP face of the engine. It answers liveness and
// readiness; sessions, turns and streams are reached through package client
// until they stand here.
//
//	srv, err := httpapi.New(httpapi.Config{Ready: check})
//	err = srv.Serve(ctx, listener)
package httpapi
