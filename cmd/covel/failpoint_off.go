//go:build !failpoint

package main

import (
	"github.com/covel-engine/covel/store"
	"go.temporal.io/sdk/interceptor"
)

// armFailpoint does nothing in this build; see package internal/failpoint.
func armFailpoint(st store.Store) (store.Store, []interceptor.WorkerInterceptor, error) {
	return st, nil, nil
}
