package plugin

import (
	"archive/zip"
	"bytes"
	"fmt"
)

// Archive gives the files of the set's packages as one zip. Equal sets give
// equal bytes.
func (g *Generation) Archive() ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, id := range g.ids {
		for _, path := range sortedKeys(g.files[id]) {
			f, err := w.Create(id + "/" + path)
			if err != nil {
				return nil, fmt.Errorf("archive plugins: %s/%s: %w", id, path, err)
			}
			if _, err := f.Write(g.files[id][path]); err != nil {
				return nil, fmt.Errorf("archive plugins: %s/%s: %w", id, path, err)
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("archive plugins: %w", err)
	}
	return b.Bytes(), nil
}

// Restore loads the set of an archive with this set's handlers: the Go code is
// the running program's, the packages are those of then. A set whose packages
// this program cannot load whole has another id than the archived one.
func (g *Generation) Restore(archive []byte) (*Generation, error) {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("restore plugins: %w", err)
	}
	restored, _, err := Load(Config{Bundled: files, Handlers: g.handlers})
	return restored, err
}
