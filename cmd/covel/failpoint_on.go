//go:build failpoint

package main

import (
	"os"

	"github.com/covel-engine/covel/internal/failpoint"
	"github.com/covel-engine/covel/store"
	"go.temporal.io/sdk/interceptor"
)

// armFailpoint stops or kills this process where COVEL_FAILPOINT says.
func armFailpoint(st store.Store) (store.Store, []interceptor.WorkerInterceptor, error) {
	text := os.Getenv("COVEL_FAILPOINT")
	if text == "" {
		return st, nil, nil
	}
	point, err := failpoint.Parse(text)
	if err != nil {
		return st, nil, err
	}
	return point.Store(st), []interceptor.WorkerInterceptor{point.Interceptor()}, nil
}
