package golden_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
)

var update = flag.Bool("update", false, "rewrite the golden requests")

// request is one golden request: which call it is, and its exact body.
type request struct {
	key  string
	body string
}

// keyOf names a call as a line of the file does.
func keyOf(c *trace.Recorded) string {
	return fmt.Sprintf("turn %d %s step %d", c.LogicalTurn, c.RuntimeID, c.Step)
}

// compare reports the first request that differs and the first part in it, as
// every later one differs with it.
func compare(t *testing.T, want []request, calls []call) {
	t.Helper()
	for i := range min(len(want), len(calls)) {
		key, body := keyOf(&calls[i].Recorded), string(calls[i].Body())
		if key != want[i].key {
			t.Fatalf("request %d is %q; the golden one is %q", i+1, key, want[i].key)
		}
		if body == want[i].body {
			continue
		}
		old, now := calls[i].Recorded, calls[i].Recorded
		old.Records, old.Unbound, old.TurnID = nil, json.RawMessage(want[i].body), "golden"
		report := trace.Measure([]trace.Recorded{old, now}, tokens.Covel{})
		t.Fatalf("%s differs from the golden request; run with -update if that is meant\n%s", key, report.Show(now.RuntimeID))
	}
	if len(want) != len(calls) {
		t.Fatalf("the game sent %d requests; the golden one %d", len(calls), len(want))
	}
}

// Names of the files: the list of requests, and their pieces.
func tapeFiles(name string) (list, pieces string) {
	return filepath.Join("testdata", name+".requests"), filepath.Join("testdata", name+".pieces.gz")
}

// writeTape stores each distinct piece once, in the order of first use.
func writeTape(t *testing.T, name string, calls []call) {
	t.Helper()
	var list, stored bytes.Buffer
	known := map[string]bool{}
	for i := range calls {
		list.WriteString(keyOf(&calls[i].Recorded))
		for _, piece := range cut(t, calls[i].Body()) {
			hash := hashOf(piece)
			if !known[hash] {
				known[hash] = true
				stored.Write(piece)
				stored.WriteByte('\n')
			}
			list.WriteString(" " + hash)
		}
		list.WriteByte('\n')
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	must(t, err)
	_, err = w.Write(stored.Bytes())
	must(t, err)
	must(t, w.Close())
	listFile, piecesFile := tapeFiles(name)
	must(t, os.WriteFile(listFile, list.Bytes(), 0o644))     //nolint:gosec // test data for everyone
	must(t, os.WriteFile(piecesFile, packed.Bytes(), 0o644)) //nolint:gosec // test data for everyone
}

func readTape(t *testing.T, name string) []request {
	t.Helper()
	listFile, piecesFile := tapeFiles(name)
	list, err := os.ReadFile(listFile)
	if errors.Is(err, fs.ErrNotExist) && *update {
		return nil
	}
	must(t, err)
	packed, err := os.ReadFile(piecesFile)
	must(t, err)
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	must(t, err)
	stored, err := io.ReadAll(unpack)
	must(t, err)
	pieces := map[string]string{}
	for piece := range strings.Lines(string(stored)) {
		piece = strings.TrimSuffix(piece, "\n")
		pieces[hashOf([]byte(piece))] = piece
	}
	var requests []request
	scan := bufio.NewScanner(bytes.NewReader(list))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		words := strings.Split(scan.Text(), " ")
		r := request{key: strings.Join(words[:min(5, len(words))], " ")}
		for _, hash := range words[min(5, len(words)):] {
			piece, ok := pieces[hash]
			if !ok {
				t.Fatalf("%s: piece %s of %s is missing; run with -update", listFile, hash, r.key)
			}
			r.body += piece
		}
		requests = append(requests, r)
	}
	must(t, scan.Err())
	return requests
}

// cut splits a body before each element of its lists, so that requests share
// their tools and messages. Bodies are one line: JSON escapes every break.
func cut(t *testing.T, body []byte) [][]byte {
	t.Helper()
	if bytes.IndexByte(body, '\n') >= 0 {
		t.Fatal("a request body has a line break; pieces are lines")
	}
	var pieces [][]byte
	dec := json.NewDecoder(bytes.NewReader(body))
	depth, from := 0, 0
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
			if end := int(dec.InputOffset()); depth == 2 && token == json.Delim('}') {
				pieces, from = append(pieces, body[from:end]), end
			}
		}
	}
	return append(pieces, body[from:])
}

// hashOf is short: the pieces are checked against their own text.
func hashOf(piece []byte) string {
	sum := sha256.Sum256(piece)
	return hex.EncodeToString(sum[:6])
}
