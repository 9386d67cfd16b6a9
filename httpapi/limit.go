package httpapi

import (
	"sync"

	"golang.org/x/time/rate"
)

// limiters holds one limiter a token. Their number is that of the tokens in
// use; a stranger gets none.
type limiters struct {
	rate  rate.Limit
	burst int

	mu  sync.Mutex
	all map[string]*rate.Limiter
}

func newLimiters(perSecond float64, burst int) *limiters {
	return &limiters{rate: rate.Limit(perSecond), burst: burst, all: map[string]*rate.Limiter{}}
}

func (l *limiters) allow(id string) bool {
	l.mu.Lock()
	limiter, ok := l.all[id]
	if !ok {
		limiter = rate.NewLimiter(l.rate, l.burst)
		l.all[id] = limiter
	}
	l.mu.Unlock()
	return limiter.Allow()
}
