package devserver_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds goroutines that outlive the servers. The Temporal server and
// its UI never close the gRPC client connections between their services; what
// stays of each is a parked goroutine or a dialler that sleeps.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("google.golang.org/grpc/internal/grpcsync.(*CallbackSerializer).run"),
		goleak.IgnoreAnyFunction("google.golang.org/grpc.(*addrConn).connect"),
		goleak.IgnoreAnyFunction("google.golang.org/grpc.(*addrConn).resetTransportAndUnlock"),
	)
}
