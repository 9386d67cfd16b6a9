package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Dir is one package's directory, embedded or on disk. Paths are slash
// separated and relative to it. On disk a link that leads outside is refused.
type Dir struct {
	// Name is the directory's name, which must equal the package's id.
	Name string
	// Origin is where the package stands, for messages.
	Origin string
	// Embedded says that the package comes with the binary.
	Embedded bool
	fsys     fs.FS
	root     *os.Root
}

// EmbeddedDir opens a child directory of an embedded tree.
func EmbeddedDir(fsys fs.FS, name string) (*Dir, error) {
	sub, err := fs.Sub(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("open embedded package %s: %w", name, err)
	}
	return &Dir{Name: name, Origin: "embedded:" + name, Embedded: true, fsys: sub}, nil
}

// OpenDir opens a package's directory on disk.
func OpenDir(dir string) (*Dir, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open package %s: %w", dir, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open package %s: %w", dir, err)
	}
	return &Dir{Name: filepath.Base(abs), Origin: dir, fsys: root.FS(), root: root}, nil
}

// OpenDirOrBroken opens a package's directory; one that can not be opened gives
// a Dir whose every read fails with the reason, so that it becomes a finding of
// that package and stops no other.
func OpenDirOrBroken(dir string) *Dir {
	d, err := OpenDir(dir)
	if err != nil {
		return &Dir{Name: filepath.Base(filepath.Clean(dir)), Origin: dir, fsys: brokenFS{err}}
	}
	return d
}

// brokenFS answers every read with one error.
type brokenFS struct{ err error }

func (b brokenFS) Open(string) (fs.File, error) { return nil, b.err }

// Close releases the directory.
func (d *Dir) Close() error {
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

// Errors of reading a file. A PathError of the file system may wrap others.
var (
	ErrTooLarge   = fmt.Errorf("the file has more than %d bytes", MaxBytes)
	ErrNotRegular = errors.New("it is not a regular file")
	ErrEscapes    = errors.New("the path leads outside of the package")
)

// SafePath says whether a path is package-relative: no leading slash, no ".."
// segment, no backslash, and more than the package itself.
func SafePath(p string) bool {
	if p == "" || strings.ContainsAny(p, "\\\x00") || p[0] == '/' || slices.Contains(strings.Split(p, "/"), "..") {
		return false
	}
	clean := path.Clean(p)
	return clean != "." && fs.ValidPath(clean)
}

// Read gives a file's bytes without a BOM, at most MaxBytes.
func (d *Dir) Read(name string) ([]byte, error) { return d.ReadMax(name, MaxBytes) }

// ReadMax is Read with another bound.
func (d *Dir) ReadMax(name string, limit int64) ([]byte, error) {
	if !SafePath(name) {
		return nil, ErrEscapes
	}
	name = path.Clean(name)
	info, err := fs.Stat(d.fsys, name)
	if err != nil {
		return nil, d.classify(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	if info.Size() > limit {
		return nil, ErrTooLarge
	}
	f, err := d.fsys.Open(name)
	if err != nil {
		return nil, d.classify(name, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(text)) > limit {
		return nil, ErrTooLarge
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), nil
}

// classify turns the refusal of a link that leads outside into ErrEscapes.
func (d *Dir) classify(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || d.root == nil {
		return err
	}
	if strings.Contains(err.Error(), "escapes") {
		return ErrEscapes
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// Exists says whether a regular file stands at a path.
func (d *Dir) Exists(name string) bool {
	if !SafePath(name) {
		return false
	}
	info, err := fs.Stat(d.fsys, path.Clean(name))
	return err == nil && info.Mode().IsRegular()
}

// Files lists the names of the regular files directly in a folder, sorted.
func (d *Dir) Files(folder string) []string { return d.list(folder, false) }

// Folders lists the names of the folders directly in a folder, sorted.
func (d *Dir) Folders(folder string) []string { return d.list(folder, true) }

func (d *Dir) list(folder string, dirs bool) []string {
	entries, err := fs.ReadDir(d.fsys, path.Clean(folder))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		info, err := fs.Stat(d.fsys, path.Join(folder, e.Name()))
		if err != nil || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if dirs && info.IsDir() || !dirs && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// Digest feeds every file of the package to a hash, by path, so that equal
// packages hash equal. Unreadable files count as absent, of a file above
// MaxBytes only the size is taken: no rule reads it.
func (d *Dir) Digest(w io.Writer) {
	_ = fs.WalkDir(d.fsys, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // an unreadable entry is an absent one
		}
		text, err := d.Read(p)
		if errors.Is(err, ErrTooLarge) {
			if info, err := e.Info(); err == nil {
				fmt.Fprintf(w, "%s\x00large %d\x00", p, info.Size())
			}
			return nil
		}
		if err != nil {
			return nil //nolint:nilerr // an unreadable file is an absent one
		}
		fmt.Fprintf(w, "%s\x00%d\x00", p, len(text))
		_, _ = w.Write(text)
		return nil
	})
}

// Contents gives every readable file of the package, by path.
func (d *Dir) Contents() map[string][]byte {
	files := map[string][]byte{}
	_ = fs.WalkDir(d.fsys, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // an unreadable entry is an absent one
		}
		if text, err := d.Read(p); err == nil {
			files[p] = text
		}
		return nil
	})
	return files
}
