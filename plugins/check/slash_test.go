package check_test

import "path/filepath"

func slash(path string) string { return filepath.ToSlash(path) }
