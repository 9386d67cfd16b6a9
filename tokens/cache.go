package tokens

import (
	"hash/maphash"
	"sync"
)

// CacheConfig holds the options of a Cache.
type CacheConfig struct {
	// MaxEntries bounds the remembered counts; each takes about 40 bytes.
	// Defaults to 65,536.
	MaxEntries int
	// MinBytes is the length below which a text is counted anew, because
	// looking it up costs as much. Defaults to 16.
	MinBytes int
}

// Cache remembers an estimator's counts by content hash. It is bounded and safe
// for concurrent use. Old counts go in halves: when the young half is full it
// becomes the old half, and what nobody asked for since then is forgotten.
type Cache struct {
	est    Estimator
	min    int
	seeds  [2]maphash.Seed
	shards [shardCount]shard
}

const shardCount = 16

// key is 128 bits of two independently seeded hashes. The seeds are secret to
// the process, so that no text can be made to collide.
type key struct{ a, b uint64 }

type shard struct {
	mu         sync.Mutex
	young, old map[key]int32
	limit      int
}

// NewCache wraps an estimator. It pays for the tiktoken encodings; the built-in
// estimator counts about as fast as a text can be hashed.
func NewCache(est Estimator, cfg CacheConfig) *Cache {
	if cfg.MaxEntries <= 0 {
		cfg.MaxEntries = 65536
	}
	if cfg.MinBytes <= 0 {
		cfg.MinBytes = 16
	}
	c := &Cache{est: est, min: cfg.MinBytes, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	for i := range c.shards {
		c.shards[i] = shard{young: map[key]int32{}, old: map[key]int32{}, limit: max(1, cfg.MaxEntries/shardCount/2)}
	}
	return c
}

// Name is the wrapped estimator's.
func (c *Cache) Name() string { return c.est.Name() }

// Count looks the text up, else counts it.
func (c *Cache) Count(text string) int {
	if len(text) < c.min {
		return c.est.Count(text)
	}
	k := key{maphash.String(c.seeds[0], text), maphash.String(c.seeds[1], text)}
	s := &c.shards[k.a%shardCount]
	if n, ok := s.get(k); ok {
		return n
	}
	n := c.est.Count(text)
	s.put(k, n)
	return n
}

// Len is the number of remembered counts.
func (c *Cache) Len() int {
	n := 0
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += len(s.young) + len(s.old)
		s.mu.Unlock()
	}
	return n
}

func (s *shard) get(k key) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.young[k]; ok {
		return int(n), true
	}
	n, ok := s.old[k]
	if ok {
		delete(s.old, k)
		s.add(k, n)
	}
	return int(n), ok
}

func (s *shard) put(k key, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(k, int32(n))
}

func (s *shard) add(k key, n int32) {
	if len(s.young) >= s.limit {
		s.old, s.young = s.young, map[key]int32{}
	}
	s.young[k] = n
}
