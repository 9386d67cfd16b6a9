package transport_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/covel-engine/covel/model/transport"
)

func event(typ, data string) transport.Event {
	return transport.Event{Type: typ, Data: []byte(data)}
}

func TestReadEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream string
		events []transport.Event
	}{
		"LF":                      {"data: a\n\ndata: b\n\n", []transport.Event{event("", "a"), event("", "b")}},
		"CRLF":                    {"data: a\r\n\r\ndata: b\r\n\r\n", []transport.Event{event("", "a"), event("", "b")}},
		"CR":                      {"data: a\r\rdata: b\r\r", []transport.Event{event("", "a"), event("", "b")}},
		"no space":                {"data:a\n\n", []transport.Event{event("", "a")}},
		"one space only":          {"data:  a\n\n", []transport.Event{event("", " a")}},
		"several data lines":      {"data: a\ndata:\ndata: b\n\n", []transport.Event{event("", "a\n\nb")}},
		"a named event":           {"event: ping\ndata: {}\n\n", []transport.Event{event("ping", "{}")}},
		"comments":                {": x\n\n:y\ndata: a\n: z\n\n", []transport.Event{event("", "a")}},
		"an event without data":   {"event: x\n\ndata: a\n\n", []transport.Event{event("", "a")}},
		"other fields":            {"id: 7\nretry: 10\ndata: a\n\n", []transport.Event{event("", "a")}},
		"an unfinished event":     {"data: a\n\ndata: b\n", []transport.Event{event("", "a")}},
		"an unfinished line":      {"data: a\n\ndata: b", []transport.Event{event("", "a")}},
		"a byte order mark":       {"\xEF\xBB\xBFdata: a\n\n", []transport.Event{event("", "a")}},
		"done ends":               {"data: a\n\ndata: [DONE]\n\ndata: b\n\n", []transport.Event{event("", "a")}},
		"a line without a colon":  {"data\n\ndata: a\n\n", []transport.Event{event("", "a")}},
		"nothing":                 {"", nil},
		"an empty line at first":  {"\n\n\ndata: a\n\n", []transport.Event{event("", "a")}},
		"a mark inside the data":  {"data: a: b\n\n", []transport.Event{event("", "a: b")}},
		"CR and LF ends together": {"data: a\rdata: b\n\r\n", []transport.Event{event("", "a\nb")}},
	} {
		for way, reader := range map[string]io.Reader{
			"whole": strings.NewReader(c.stream), "byte by byte": iotest.OneByteReader(strings.NewReader(c.stream)), "halves": iotest.HalfReader(strings.NewReader(c.stream)),
		} {
			events, err := transport.ReadEvents(reader)
			if err != nil {
				t.Errorf("%s, %s: %v", name, way, err)
			}
			if diff := cmp.Diff(c.events, events); diff != "" {
				t.Errorf("%s, %s differs (-want +got):\n%s", name, way, diff)
			}
		}
	}
}

// However a stream is cut into chunks and whatever ends its lines, the events
// are the same.
func TestChunksDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"data: a", "data:b", "event: e", "", ": c", "id: 1", "data"})).Draw(t, "lines")
		plain := strings.Join(lines, "\n") + "\n"
		wanted, err := transport.ReadEvents(strings.NewReader(plain))
		if err != nil {
			t.Fatal(err)
		}
		end := rapid.SampledFrom([]string{"\n", "\r", "\r\n"}).Draw(t, "end")
		cut := []byte(strings.ReplaceAll(plain, "\n", end))
		var readers []io.Reader
		for len(cut) > 0 {
			n := rapid.IntRange(1, len(cut)).Draw(t, "chunk")
			readers = append(readers, bytes.NewReader(cut[:n]))
			cut = cut[n:]
		}
		events, err := transport.ReadEvents(io.MultiReader(readers...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, events); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestAnEventOverTheLimit(t *testing.T) {
	t.Parallel()
	endless := io.MultiReader(strings.NewReader("data: "), strings.NewReader(strings.Repeat("x", transport.MaxEvent+1)))
	if _, err := transport.ReadEvents(endless); !errors.Is(err, transport.ErrTooLarge) {
		t.Error(err)
	}
	many := strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 17)
	if _, err := transport.ReadEvents(strings.NewReader(many)); !errors.Is(err, transport.ErrTooLarge) {
		t.Error(err)
	}
}

// FuzzReadEvents looks for streams on which the parser panics or never ends.
// An event never holds a line end other than LF, and never is [DONE].
func FuzzReadEvents(f *testing.F) {
	for _, seed := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n",
		"event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n",
		"data: a\rdata: b\r\r", "\xEF\xBB\xBFdata: x\n\n", ": comment\n\n\n", "data", "data: [DONE]", "event:\ndata:\n\n", "\r\n\r\n\r",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		events, err := transport.ReadEvents(bytes.NewReader(stream))
		if err != nil && !errors.Is(err, transport.ErrTooLarge) {
			t.Fatal(err)
		}
		again, _ := transport.ReadEvents(iotest.OneByteReader(bytes.NewReader(stream)))
		if diff := cmp.Diff(events, again); diff != "" {
			t.Fatal("chunks matter:", diff)
		}
		for _, e := range events {
			if bytes.ContainsAny(e.Data, "\r") || string(bytes.TrimSpace(e.Data)) == transport.Done {
				t.Fatalf("event %q", e.Data)
			}
		}
	})
}
