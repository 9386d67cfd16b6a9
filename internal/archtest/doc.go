// Package archtest holds the house's rules as tests: which package may import
// which, what pure packages must stay free of, how long a file may be, that
// every direct dependency has its line in docs/dependencies.md, and that the
// compose file and the binary speak of the same settings. Nothing imports it.
package archtest
