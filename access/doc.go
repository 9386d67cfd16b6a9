// Package access says who may do what at the engine's doors: bearer tokens with
// their scopes, and the entries of the audit.
//
// A token's secret is shown once, when it is made; what is stored is its hash.
// A secret has 256 random bits, so a plain SHA-256 keeps it as safe as a slow
// password hash would.
//
//	token, secret, err := access.Mint(access.Request{Name: "game-eu", Worlds: []string{"lanternfall"}, Now: now})
package access
