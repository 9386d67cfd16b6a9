package integration_test

import (
	"os"
	"testing"

	"github.com/covel-engine/covel/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
