package activities

import lru "github.com/hashicorp/golang-lru/v2"

// How much a worker remembers. All of it can be read from the store again.
const (
	contextsKept   = 512
	executionsKept = 512
	historiesKept  = 256
)

// newCache remembers the values used last. It is safe for concurrent use.
func newCache[V any](limit int) *lru.Cache[string, V] {
	cache, err := lru.New[string, V](limit)
	if err != nil {
		panic(err) // only a limit below 1 is refused
	}
	return cache
}
