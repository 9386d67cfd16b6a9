package sqlite

import (
	"testing"

	"go.uber.org/goleak"
)

// A closed store leaves no goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
