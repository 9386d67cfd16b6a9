package golden_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
)

var update = flag.Bool("update", false, "rewrite the golden requests")

// request is one golden request: which call it is, and its exact body, or only
// its digest.
type request struct {
	key    string
	body   string
	digest string
}

// keyOf names a call as a line of the file does.
func keyOf(c *trace.Recorded) string {
	return fmt.Sprintf("turn %d %s step %d", c.LogicalTurn, c.RuntimeID, c.Step)
}

// compare reports the first stored request that differs and the first part in
// it, as every later one differs with it.
func compare(t *testing.T, want []request, sent []trace.Recorded) {
	t.Helper()
	differs := ""
	for i := range min(len(want), len(sent)) {
		key, body := keyOf(&sent[i]), sent[i].Unbound
		if key != want[i].key {
			t.Fatalf("request %d is %q; the golden one is %q", i+1, key, want[i].key)
		}
		if string(body) == want[i].body || digestOf(body) == want[i].digest {
			continue
		}
		differs = cmp.Or(differs, key)
		if want[i].body == "" {
			continue
		}
		old, now := sent[i], sent[i]
		old.Unbound, old.TurnID = json.RawMessage(want[i].body), "golden"
		report := trace.Measure([]trace.Recorded{old, now}, tokens.Covel{})
		t.Fatalf("%s differs from the golden request, %s as the first; run with -update if that is meant\n%s", key, differs, report.Show(now.RuntimeID))
	}
	if differs != "" {
		t.Fatalf("%s differs from its golden digest, and no request that is stored whole does; run with -update if that is meant", differs)
	}
	if len(want) != len(sent) {
		t.Fatalf("the game sent %d requests; the golden one %d", len(sent), len(want))
	}
}

// Names of the files: the list of requests, and their pieces.
func tapeFiles(name string) (list, pieces string) {
	return filepath.Join("testdata", name+".requests"), filepath.Join("testdata", name+".pieces.gz")
}

// writeTape stores each distinct piece once, in the order of first use; of
// requests that are not stored whole, the digest.
func writeTape(t *testing.T, name string, sent []trace.Recorded, stored func(*trace.Recorded) bool) {
	t.Helper()
	var list, distinct bytes.Buffer
	known := map[string]bool{}
	for i := range sent {
		list.WriteString(keyOf(&sent[i]))
		if !stored(&sent[i]) {
			list.WriteString(" = " + digestOf(sent[i].Unbound) + "\n")
			continue
		}
		for _, piece := range cut(t, sent[i].Unbound) {
			hash := hashOf(piece)
			if !known[hash] {
				known[hash] = true
				distinct.Write(piece)
				distinct.WriteByte('\n')
			}
			list.WriteString(" " + hash)
		}
		list.WriteByte('\n')
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	must(t, err)
	_, err = w.Write(distinct.Bytes())
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
		if len(words) == 7 && words[5] == "=" {
			r.digest, words = words[6], nil
		}
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

// digestOf stands for a whole body.
func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}

// hashOf is short: the pieces are checked against their own text.
func hashOf(piece []byte) string {
	sum := sha256.Sum256(piece)
	return hex.EncodeToString(sum[:6])
}
