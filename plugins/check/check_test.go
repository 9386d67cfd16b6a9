package check_test

import (
	"bytes"
	"testing"

	"github.com/covel-engine/covel/plugins/check"
)

func TestBundledPackagesOnDisk(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"../narrator", "../dice-check", "../affinity"} {
		var out bytes.Buffer
		if _, _, err := check.Plugin(&out, dir); err != nil || out.String() != "0 errors, 0 warnings\n" {
			t.Errorf("%s: %v\n%s", dir, err, out.String())
		}
	}
	var out bytes.Buffer
	if _, _, err := check.World(&out, "../../worlds/lanternfall"); err != nil || out.String() != "0 errors, 0 warnings\n" {
		t.Errorf("%v\n%s", err, out.String())
	}
}
