package tool

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// BM25 with the usual constants.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// Rank orders texts by how well they answer a query (BM25) and gives the
// indices of the best, at most limit, without those that share no word with
// it. Equal scores keep the order given.
func Rank(texts []string, query string, limit int) []int {
	terms := words(query)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	if len(terms) == 0 || len(texts) == 0 {
		return nil
	}
	counts := make([]map[string]int, len(texts))
	lengths := make([]float64, len(texts))
	containing := make(map[string]int, len(terms))
	total := 0.0
	for i, text := range texts {
		all := words(text)
		lengths[i] = float64(len(all))
		total += lengths[i]
		count := map[string]int{}
		for _, w := range all {
			if _, asked := slices.BinarySearch(terms, w); asked {
				count[w]++
			}
		}
		for w := range count {
			containing[w]++
		}
		counts[i] = count
	}
	average := max(1, total/float64(len(texts)))
	scores := make([]float64, len(texts))
	var hits []int
	for i, count := range counts {
		for _, term := range terms { // in order: sums must not depend on the map's
			tf := float64(count[term])
			if tf == 0 {
				continue
			}
			n := float64(containing[term])
			idf := math.Log(1 + (float64(len(texts))-n+0.5)/(n+0.5))
			scores[i] += idf * tf * (bm25K + 1) / (tf + bm25K*(1-bm25B+bm25B*lengths[i]/average))
		}
		if scores[i] > 0 {
			hits = append(hits, i)
		}
	}
	slices.SortStableFunc(hits, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return hits[:min(limit, len(hits))]
}

// words splits a text into lower-case words; a Han, kana or Hangul rune is a
// word of its own.
func words(text string) []string {
	var list []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			list = append(list, text[start:end])
		}
		start = -1
	}
	text = strings.ToLower(text)
	for i, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush(i)
			list = append(list, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
	}
	flush(len(text))
	return list
}
