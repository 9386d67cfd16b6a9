package archtest_test

import "testing"

// maxLines is where a file has two concepts.
const maxLines = 600

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if file.lines > maxLines {
			t.Errorf("%s has %d lines, more than %d; it holds two concepts", file.name, file.lines, maxLines)
		}
	}
}
