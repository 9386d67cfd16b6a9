package source

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// File is one parsed document of a package.
type File struct {
	Path string
	Root *Node
	// Body is the Markdown after the frontmatter, BodyLine its first line.
	Body     string
	BodyLine int
	// Raw is the whole text with LF line ends.
	Raw string
}

// Text reads a text file with LF line ends. A problem is reported, ok is false
// then; at names where the reference stands (field "" for a file of the layout).
func (d *Dir) Text(name string, at Ref, report *Report) (text string, ok bool) {
	raw, err := d.Read(name)
	if err != nil {
		d.reportRead(name, err, at, report)
		return "", false
	}
	text = string(raw)
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text, true
}

// Ref says where a reference to a file stands: file, line and field path.
type Ref struct {
	Path  string
	Line  int
	Field string
}

func (d *Dir) reportRead(name string, err error, at Ref, report *Report) {
	what := fmt.Sprintf("%s: %q", at.Field, name)
	path, line := at.Path, at.Line
	if at.Field == "" {
		what, path, line = name, name, 0
	}
	switch {
	case errors.Is(err, ErrEscapes):
		report.Add("path-escape", path, line, at.Field, what+" leads outside of the package", "Use a path relative to the package, without a leading slash, \"..\" or a link that leads out.")
	case errors.Is(err, ErrTooLarge):
		report.Add("file-too-large", name, 0, at.Field, fmt.Sprintf("%s has more than %d bytes", name, MaxBytes), "Split the file or shorten it to at most 4 MiB.")
	case errors.Is(err, fs.ErrNotExist):
		report.Add("file-missing", path, line, at.Field, what+" does not exist in the package", "Create the file or correct the path.")
	default:
		report.Add("file-missing", path, line, at.Field, what+" can not be read: "+err.Error(), "Put a readable regular file there.")
	}
}

// Frontmatter reads a Markdown file with YAML frontmatter (spec 05 §1.3). It
// reports at most one finding, and ok is false then.
func (d *Dir) Frontmatter(name string, report *Report) (file *File, ok bool) {
	text, ok := d.Text(name, Ref{}, report)
	if !ok {
		return nil, false
	}
	first, rest, more := strings.Cut(text, "\n")
	if first != "---" {
		if strings.HasPrefix(first, "---") && strings.TrimRight(first, " \t") != "---" {
			report.Add("frontmatter-engine", name, 1, "", fmt.Sprintf("line 1 is %q; only YAML frontmatter exists", clip(first)), "Write exactly --- on line 1.")
			return nil, false
		}
		report.Add("frontmatter-missing", name, 1, "", fmt.Sprintf("line 1 is %q, not ---", clip(first)), "Begin the file with a line --- and the YAML frontmatter, closed by another line ---.")
		return nil, false
	}
	matter, body, closed := cutFence(rest)
	if !more || !closed {
		report.Add("frontmatter-missing", name, 1, "", "the frontmatter that line 1 opens is never closed", "Close the frontmatter with a line ---.")
		return nil, false
	}
	root, err := ParseYAML([]byte(matter))
	if err != nil {
		reportSyntax(report, "frontmatter-yaml", name, 1, err)
		return nil, false
	}
	if root.Kind != Map {
		report.Add("frontmatter-yaml", name, 2, "", fmt.Sprintf("the frontmatter is %s, not a map of fields", root.Kind), "Write key: value lines between the two --- lines.")
		return nil, false
	}
	shift(root, 1)
	root.Line = 1
	lines := 0
	if matter != "" {
		lines = 1 + strings.Count(matter, "\n")
	}
	return &File{Path: name, Root: root, Body: body, Raw: text, BodyLine: 3 + lines}, true
}

// cutFence splits at the first line that is exactly ---. The matter keeps no
// final newline.
func cutFence(text string) (matter, body string, ok bool) {
	if after, found := strings.CutPrefix(text, "---\n"); found {
		return "", after, true
	}
	if text == "---" {
		return "", "", true
	}
	if before, after, found := strings.Cut(text, "\n---\n"); found {
		return before, after, true
	}
	if before, found := strings.CutSuffix(text, "\n---"); found {
		return before, "", true
	}
	return "", "", false
}

// Document reads a YAML or JSON file by its name's ending. A file that can not
// be parsed gives one finding of code (frontmatter-yaml for YAML when empty).
func (d *Dir) Document(name, code string, at Ref, report *Report) (file *File, ok bool) {
	text, ok := d.Text(name, at, report)
	if !ok {
		return nil, false
	}
	var root *Node
	var err error
	if strings.HasSuffix(name, ".json") {
		root, err = ParseJSON([]byte(text))
	} else {
		root, err = ParseYAML([]byte(text))
	}
	if err != nil {
		if code == "" {
			code = "frontmatter-yaml"
			if strings.HasSuffix(name, ".json") {
				code = "invalid-value"
			}
		}
		reportSyntax(report, code, name, 0, err)
		return nil, false
	}
	return &File{Path: name, Root: root, Raw: text}, true
}

func reportSyntax(report *Report, code, name string, offset int, err error) {
	line := 0
	problem := err.Error()
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		problem = syntax.Problem
		if syntax.Line > 0 {
			line = syntax.Line + offset
		} else {
			line = 1
		}
	}
	report.Add(code, name, line, "", fmt.Sprintf("%s can not be read: %s", name, problem), "Correct the syntax at this line.")
}

func shift(n *Node, by int) {
	if n.Line > 0 {
		n.Line += by
	}
	for _, item := range n.Items {
		shift(item, by)
	}
	for i := range n.Fields {
		n.Fields[i].Line += by
		shift(n.Fields[i].Value, by)
	}
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
