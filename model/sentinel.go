package model

import (
	"strings"
)

// Sentinel marks the end of a cacheable piece of system text (spec 01 §16).
// None reaches a provider.
const Sentinel = "\uE000COVEL_CACHE_BREAK\uE000"

// StripSentinels removes every sentinel.
func StripSentinels(text string) string {
	if !strings.Contains(text, Sentinel) {
		return text
	}
	return strings.ReplaceAll(text, Sentinel, "")
}

// SplitSentinels cuts a text at its sentinels: the end of each piece is
// trimmed, empty pieces are dropped. closed pieces stand in front of a
// sentinel; tail is the text behind the last one and keeps its leading blank
// line. Without a sentinel the whole text is the tail.
func SplitSentinels(text string) (closed []string, tail string) {
	parts := strings.Split(text, Sentinel)
	for _, p := range parts[:len(parts)-1] {
		if p = strings.TrimRight(p, " \t\r\n"); p != "" {
			closed = append(closed, p)
		}
	}
	return closed, strings.TrimRight(parts[len(parts)-1], " \t\r\n")
}
