// Package transport carries one model request: four http.RoundTrippers on top
// of each other, the innermost opening only checked connections (spec 04 §1.3).
//
//		chain := transport.New(transport.Config{Base: guarded, Clock: clock, Jitter: jitter})
//		call := &transport.Call{URL: url, Body: body, Header: header, Budget: budget}
//		client := transport.Client(chain)
//		response, err := client.Do(request.WithContext(transport.WithCall(ctx, call)))
//
//	 1. edit and record puts the call's URL, headers and body in place of the
//	    library's and keeps what comes back. The library behind it is handed an
//	    empty JSON object per reply or event, so that its types cannot refuse what
//	    a provider sends; the adapter reads the recorded bytes.
//	 2. stream normaliser reads server-sent events as the standard has them.
//	 3. retry and budget sends again where that may help; the bytes are the same.
//	 4. Guard opens connections to public addresses, and to loopback.
//
// The layers hold no state of a call; that stands in the Call, which travels in
// the request's context. They are safe for concurrent use. The package knows
// nothing of models or protocols.
package transport
