package source

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a finding keeps its package from loading.
type Severity string

// Severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one problem of an author's file (spec 05 §17). Path is relative to
// the package, Line is 1-based in the whole file, 0 when the problem has none.
type Finding struct {
	Code     string   `json:"code"`
	Field    string   `json:"field,omitempty"`
	Fix      string   `json:"fix"`
	Line     int      `json:"line,omitempty"`
	Package  string   `json:"package"`
	Path     string   `json:"path"`
	Problem  string   `json:"problem"`
	Severity Severity `json:"severity"`
}

// String gives the two lines that covel check prints.
func (f Finding) String() string {
	path := f.Path
	if f.Line > 0 {
		path = fmt.Sprintf("%s:%d", path, f.Line)
	}
	return fmt.Sprintf("%s: %s %s: %s\nFix: %s", path, f.Severity, f.Code, oneLine(f.Problem), oneLine(f.Fix))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Report collects the findings of one package.
type Report struct {
	Package  string
	Findings []Finding
}

// Add records an error.
func (r *Report) Add(code, path string, line int, field, problem, fix string) {
	r.add(Error, code, path, line, field, problem, fix)
}

// Warn records a warning.
func (r *Report) Warn(code, path string, line int, field, problem, fix string) {
	r.add(Warning, code, path, line, field, problem, fix)
}

func (r *Report) add(sev Severity, code, path string, line int, field, problem, fix string) {
	r.Findings = append(r.Findings, Finding{
		Code: code, Field: field, Fix: fix, Line: line, Package: r.Package, Path: path, Problem: problem, Severity: sev,
	})
}

// Failed says whether any finding is an error.
func (r *Report) Failed() bool { return slices.ContainsFunc(r.Findings, Finding.isError) }

// Has says whether a code was reported for a file.
func (r *Report) Has(path, code string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Path == path && f.Code == code })
}

// Err joins the errors of the report, nil without one.
func (r *Report) Err() error {
	var errs []error
	for _, f := range r.Findings {
		if f.isError() {
			errs = append(errs, errors.New(f.String()))
		}
	}
	return errors.Join(errs...)
}

func (f Finding) isError() bool { return f.Severity == Error }

// Sort orders findings by path, line (none first), code, then text.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Problem, b.Problem))
	})
}

// Show renders a value for a problem text: quoted, at most 60 characters.
func Show(n *Node) string {
	if n == nil {
		return "nothing"
	}
	var text string
	switch n.Kind {
	case String:
		text = fmt.Sprintf("%q", n.Text)
	case List, Map, Null, Bool, Number:
		text = string(n.JSON())
	}
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return text
}
