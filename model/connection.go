package model

import "net/http"

// connection is the innermost layer: the configured transport or the guarded
// one.
func (g *Gateway) connection() http.RoundTripper {
	return g.config.Transport
}
