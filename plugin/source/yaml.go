package source

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of one document. They are far above any sensible file and keep a
// hostile one from using the machine up.
const (
	MaxBytes  = 4 << 20
	maxDepth  = 100
	maxValues = 100_000
	maxText   = 16 << 20
	// maxMarks bounds the characters that can begin a value. The parser library
	// needs about a kilobyte for each, so they are counted before it is called;
	// 4 MiB of prose hold some 130,000.
	maxMarks = 200_000
)

// SyntaxError is a document that can not be read. Line is 1-based in the text
// that was parsed, 0 when unknown.
type SyntaxError struct {
	Line    int
	Problem string
}

// Error gives the problem with its line.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

// ParseYAML reads one YAML document: no duplicate keys, booleans only true and
// false, no tags. An empty document is an empty map. The error is a *SyntaxError.
func ParseYAML(text []byte) (root *Node, err error) {
	if line := badUTF8(text); line > 0 {
		return nil, &SyntaxError{Line: line, Problem: "the text is not UTF-8"}
	}
	defer func() {
		// A text that the parser library can not survive must stay one finding.
		if p := recover(); p != nil {
			root, err = nil, &SyntaxError{Problem: fmt.Sprintf("the YAML can not be read: %v", p)}
		}
	}()
	if n := marks(text); n > maxMarks {
		return nil, &SyntaxError{Problem: fmt.Sprintf("the document has %d lines, commas, colons and brackets, at most %d are read", n, maxMarks)}
	}
	// Without a last newline the library does not fold a block text at the end.
	tokens := lexer.Tokenize(string(text) + "\n")
	if err := checkNesting(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, yamlError(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, &SyntaxError{Line: line(doc.Body), Problem: "a second YAML document begins here; the file must hold one"}
		}
		body = doc.Body
	}
	if body == nil {
		return &Node{Kind: Map, Line: 1}, nil
	}
	b := &builder{anchors: map[string]ast.Node{}}
	root, err = b.node(body, 0)
	if err != nil {
		return nil, err
	}
	root.Line = 1
	return root, nil
}

func yamlError(err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		at := 0
		if syntax.Token != nil && syntax.Token.Position != nil {
			at = syntax.Token.Position.Line
		}
		return &SyntaxError{Line: at, Problem: syntax.Message}
	}
	return &SyntaxError{Problem: firstLine(err.Error())}
}

func firstLine(s string) string {
	head, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return head
}

func marks(text []byte) int {
	n := 0
	for _, c := range text {
		switch c {
		case '\n', ',', ':', '[', '{', '?', '-', '&', '*', '!':
			n++
		}
	}
	return n
}

// checkNesting refuses a text whose nesting would overflow a recursive parser.
func checkNesting(tokens token.Tokens) error {
	flow, entries, entryLine := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			if t.Position.Line != entryLine {
				entries, entryLine = 0, t.Position.Line
			}
			entries++
		}
		if flow > maxDepth || entries > maxDepth || t.Position != nil && t.Position.IndentLevel > maxDepth {
			return &SyntaxError{Line: t.Position.Line, Problem: fmt.Sprintf("values are nested more than %d levels deep", maxDepth)}
		}
	}
	return nil
}

// builder turns the library's tree into Nodes, expanding aliases within bounds.
type builder struct {
	anchors map[string]ast.Node
	text    int
	values  int
}

func (b *builder) node(n ast.Node, depth int) (*Node, error) {
	b.values++
	at := line(n)
	if b.values > maxValues || b.text > maxText {
		return nil, &SyntaxError{Line: at, Problem: fmt.Sprintf("the document grows beyond %d values when its aliases are expanded", maxValues)}
	}
	if depth > maxDepth {
		return nil, &SyntaxError{Line: at, Problem: fmt.Sprintf("values are nested more than %d levels deep", maxDepth)}
	}
	switch v := n.(type) {
	case *ast.NullNode:
		return &Node{Kind: Null, Line: at}, nil
	case *ast.BoolNode:
		return b.boolean(v, at), nil
	case *ast.IntegerNode:
		return &Node{Kind: Number, Line: at, Text: fmt.Sprint(v.Value)}, nil
	case *ast.FloatNode:
		return number(v, at)
	case *ast.StringNode:
		return b.str(v.Value, at), nil
	case *ast.LiteralNode:
		return b.str(v.Value.Value, at), nil
	case *ast.SequenceNode:
		return b.list(v, depth, at)
	case *ast.MappingNode:
		return b.mapping(v.Values, depth, at)
	case *ast.MappingValueNode:
		return b.mapping([]*ast.MappingValueNode{v}, depth, at)
	case *ast.AnchorNode:
		b.anchors[v.Name.String()] = nil // an alias to itself is unknown
		got, err := b.node(v.Value, depth+1)
		b.anchors[v.Name.String()] = v.Value
		return got, err
	case *ast.AliasNode:
		target := b.anchors[v.Value.String()]
		if target == nil {
			return nil, &SyntaxError{Line: at, Problem: fmt.Sprintf("alias *%s names no anchor before it", v.Value)}
		}
		got, err := b.node(target, depth+1)
		if got != nil {
			got.Line = at
		}
		return got, err
	default:
		return nil, &SyntaxError{Line: at, Problem: fmt.Sprintf("%s is not supported here", strings.ToLower(n.Type().YAMLName()))}
	}
}

// boolean keeps only the spellings true and false; True or TRUE are text.
func (b *builder) boolean(v *ast.BoolNode, at int) *Node {
	if v.Token.Value != "true" && v.Token.Value != "false" {
		return b.str(v.Token.Value, at)
	}
	return &Node{Kind: Bool, Line: at, Text: v.Token.Value}
}

func number(v *ast.FloatNode, at int) (*Node, error) {
	if math.IsInf(v.Value, 0) || math.IsNaN(v.Value) {
		return nil, &SyntaxError{Line: at, Problem: fmt.Sprintf("number %s is not finite", v.Token.Value)}
	}
	return &Node{Kind: Number, Line: at, Text: strconv.FormatFloat(v.Value, 'f', -1, 64)}, nil
}

func (b *builder) str(s string, at int) *Node {
	b.text += len(s)
	return &Node{Kind: String, Line: at, Text: s}
}

func (b *builder) list(v *ast.SequenceNode, depth, at int) (*Node, error) {
	out := &Node{Kind: List, Line: at}
	for _, item := range v.Values {
		got, err := b.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, got)
	}
	return out, nil
}

func (b *builder) mapping(values []*ast.MappingValueNode, depth, at int) (*Node, error) {
	out := &Node{Kind: Map, Line: at}
	seen := make(map[string]bool, len(values))
	for _, mv := range values {
		key, keyLine, err := mapKey(mv)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, &SyntaxError{Line: keyLine, Problem: fmt.Sprintf("key %q is written twice in one map", key)}
		}
		seen[key] = true
		got, err := b.node(mv.Value, depth+1)
		if err != nil {
			return nil, err
		}
		got.Line = keyLine
		out.Fields = append(out.Fields, Field{Key: key, Line: keyLine, Value: got})
	}
	return out, nil
}

func mapKey(mv *ast.MappingValueNode) (string, int, error) {
	at := line(mv.Key)
	switch k := mv.Key.(type) {
	case *ast.StringNode:
		return k.Value, at, nil
	case *ast.MappingKeyNode, *ast.MergeKeyNode:
		return "", at, &SyntaxError{Line: at, Problem: fmt.Sprintf("key %q is not a plain key", mv.Key.String())}
	default:
		return mv.Key.GetToken().Value, at, nil
	}
}

func line(n ast.Node) int {
	t := n.GetToken()
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		t = m.Values[0].Key.GetToken()
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		t = m.Key.GetToken()
	}
	if t == nil || t.Position == nil {
		return 0
	}
	return t.Position.Line
}

// badUTF8 gives the line of the first byte that is not UTF-8, 0 for none.
func badUTF8(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	at := 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		if r == '\n' {
			at++
		}
		i += size
	}
	return at
}
