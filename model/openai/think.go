package openai

import "strings"

// thinkPiece is a piece of content: reasoning between think tags, or text.
type thinkPiece struct {
	text     string
	thinking bool
}

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinkSplitter cuts content at its think tags, also where a chunk ends in the
// middle of one (spec 04 §12.1). White space right after a tag is dropped;
// later pieces of reasoning are set off by a newline.
type thinkSplitter struct {
	held     string // what may be the beginning of a tag
	thinking bool
	afterTag bool // white space is being dropped
	thoughts int  // reasoning pieces so far
}

// add takes a chunk and gives what is certain of it.
func (s *thinkSplitter) add(chunk string) []thinkPiece {
	var pieces []thinkPiece
	rest := s.held + chunk
	s.held = ""
	for rest != "" {
		tag := thinkOpen
		if s.thinking {
			tag = thinkClose
		}
		at := strings.Index(rest, tag)
		if at < 0 {
			keep := tagBeginning(rest, tag)
			s.held = rest[len(rest)-keep:]
			return s.take(pieces, rest[:len(rest)-keep])
		}
		pieces = s.take(pieces, rest[:at])
		rest = rest[at+len(tag):]
		s.thinking, s.afterTag = !s.thinking, true
		if s.thinking {
			s.thoughts++
			if s.thoughts > 1 {
				pieces = append(pieces, thinkPiece{"\n", true})
			}
		}
	}
	return pieces
}

// end gives what was held back; an unclosed thought goes to the end.
func (s *thinkSplitter) end() []thinkPiece {
	rest := s.held
	s.held = ""
	return s.take(nil, rest)
}

func (s *thinkSplitter) take(pieces []thinkPiece, text string) []thinkPiece {
	if s.afterTag {
		text = strings.TrimLeft(text, " \t\r\n")
		if text != "" {
			s.afterTag = false
		}
	}
	if text == "" {
		return pieces
	}
	return append(pieces, thinkPiece{text, s.thinking})
}

// tagBeginning is the length of the longest end of text that begins the tag.
func tagBeginning(text, tag string) int {
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
