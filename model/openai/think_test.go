package openai

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func splitThoughts(chunks ...string) (text, thoughts string) {
	var s thinkSplitter
	var pieces []thinkPiece
	for _, c := range chunks {
		pieces = append(pieces, s.add(c)...)
	}
	for _, p := range append(pieces, s.end()...) {
		if p.thinking {
			thoughts += p.text
		} else {
			text += p.text
		}
	}
	return text, thoughts
}

func TestThinkSplitter(t *testing.T) {
	t.Parallel()
	for content, parts := range map[string][2]string{
		"plain":                              {"plain", ""},
		"<think> plan </think>\n Hello":      {"Hello", "plan "},
		"<think>a</think>x<think>b</think>y": {"xy", "a\nb"},
		"<think>never closed":                {"", "never closed"},
		"a <thinker> b":                      {"a <thinker> b", ""},
		"ends in <thi":                       {"ends in <thi", ""},
		"</think> stray":                     {"</think> stray", ""},
		"<think></think>only text":           {"only text", ""},
	} {
		if text, thoughts := splitThoughts(content); text != parts[0] || thoughts != parts[1] {
			t.Errorf("%q: text %q, thoughts %q", content, text, thoughts)
		}
	}
}

// Chunks do not matter, and nothing but tags and white space behind them is lost.
func TestThinkSplitterChunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"<think>", "</think>", "a", " ", "<", "th", "ink>", "/", "世"})).Draw(t, "content"), "")
		text, thoughts := splitThoughts(content)
		var chunks []string
		for rest := content; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		if cutText, cutThoughts := splitThoughts(chunks...); cutText != text || cutThoughts != thoughts {
			t.Fatalf("%q in %q: text %q, thoughts %q; whole: %q, %q", content, chunks, cutText, cutThoughts, text, thoughts)
		}
	})
}

// BenchmarkThinkSplitter splits a long reply in small chunks.
func BenchmarkThinkSplitter(b *testing.B) {
	chunk := "the lamp swings "
	b.ReportAllocs()
	for b.Loop() {
		var s thinkSplitter
		for range 1000 {
			s.add(chunk)
		}
		s.end()
	}
}
