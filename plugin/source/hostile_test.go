package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestParseYAMLHostile(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	long := "a: &a \"" + strings.Repeat("x", 1<<20) + "\"\nb: [" + strings.Repeat("*a,", 99) + "*a]\n"
	deep := map[string]string{}
	for i := range 2000 {
		deep["block"] += strings.Repeat(" ", i) + "a:\n"
	}
	cases := map[string]struct{ text, problem string }{
		"alias bomb":       {bomb, "aliases"},
		"text bomb":        {long, "aliases"},
		"self alias":       {"a: &a [*a]\n", "anchor"},
		"flow nesting":     {strings.Repeat("[", 1<<17), "nested"},
		"map nesting":      {strings.Repeat("{a: ", 1<<16), "nested"},
		"entry nesting":    {strings.Repeat("- ", 1<<17), "nested"},
		"key nesting":      {strings.Repeat("? ", 1<<17), "nested"},
		"block nesting":    {deep["block"], "nested"},
		"duplicate keys":   {"a: 1\nb: 2\na: 3\n", "a"},
		"two documents":    {"a: 1\n---\nb: 2\n", "second"},
		"tag":              {"a: !!python/object x\n", "not supported"},
		"not UTF-8":        {"a: 1\nb: \xff\xfe\n", "UTF-8"},
		"infinity":         {"a: .inf\n", "not supported"},
		"tab indentation":  {"a:\n\tb: 1\n", ""},
		"unclosed quote":   {"a: \"b\n", ""},
		"NUL":              {"a: \x00b\n\x00: x: y", ""},
		"unclosed bracket": {"tags: [a\n", ""},
		"many values":      {"[" + strings.Repeat("0,", 150_000) + "0]", "values"},
		"many marks":       {strings.Repeat("[", 1<<20), "brackets"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started := time.Now()
			_, err := ParseYAML([]byte(c.text))
			if err == nil {
				t.Fatal("accepted")
			}
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("error %v does not say %q", err, c.problem)
			}
			if took := time.Since(started); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// The bound on marks keeps the parser library's memory in hand.
func TestParseYAMLMemory(t *testing.T) {
	text := []byte("x: [" + strings.Repeat("{a: [1, 2]},", 33_000) + "1]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ParseYAML(text); err == nil {
		t.Error("a document with too many values was accepted")
	}
	runtime.ReadMemStats(&after)
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 400 {
		t.Errorf("%d bytes of YAML allocate %d MiB", len(text), mib)
	}
}

func TestParseYAML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     `{}`,
		"a: yes\nb: True\nc: true\nd: ~":       `{"a":"yes","b":"True","c":true,"d":null}`,
		"a: 0x10\nb: 1_000\nc: 1.5e3\nd: -0.5": `{"a":16,"b":1000,"c":1500,"d":-0.5}`,
		"a: &x {k: v}\nb: *x":                  `{"a":{"k":"v"},"b":{"k":"v"}}`,
		"constructor: 1\ntoString: 2":          `{"constructor":1,"toString":2}`,
		"a: |\n  x\n  y\nb: >-\n  x\n  y":      `{"a":"x\ny\n","b":"x y"}`,
		"- 2024-05-01\n- '1'":                  `["2024-05-01","1"]`,
		"z: <a & b>\na: 1":                     `{"z":"<a & b>","a":1}`,
	} {
		n, err := ParseYAML([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := string(n.JSON()); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestParseJSONHostile(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nesting":   strings.Repeat("[", 1<<20),
		"objects":   strings.Repeat(`{"a":`, 1<<18),
		"duplicate": `{"a":1,"a":2}`,
		"two":       `{} {}`,
		"cut":       `{"a":[1,`,
		"not UTF-8": "\"\xff\"",
		"values":    "[" + strings.Repeat("0,", 300_000) + "0]",
		"empty":     "",
	} {
		if _, err := ParseJSON([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		} else if !errors.As(err, new(*SyntaxError)) {
			t.Errorf("%s: %T", name, err)
		}
	}
	n, err := ParseJSON([]byte("{\n \"b\": [\n  1,\n  \"<\"],\n \"a\": null}"))
	if err != nil || string(n.JSON()) != `{"b":[1,"<"],"a":null}` || n.Get("b").Items[1].Line != 4 || n.Get("a").Line != 5 {
		t.Errorf("%v %s", err, n.JSON())
	}
}

func TestDirBounds(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "p")
	if err := os.MkdirAll(filepath.Join(dir, "schemas"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(base, "secret.json"), "{}")
	write(filepath.Join(dir, "schemas", "in.json"), "{}")
	write(filepath.Join(dir, "large.md"), strings.Repeat("x", 10<<20))
	for link, to := range map[string]string{"out.json": "../secret.json", "absolute.json": filepath.Join(base, "secret.json"), "inside.json": "schemas/in.json", "loop.json": "loop.json"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for path, want := range map[string]string{
		"../secret.json": "path-escape", "/etc/passwd": "path-escape", "schemas/../../secret.json": "path-escape", "a\\b.json": "path-escape",
		"": "path-escape", "out.json": "path-escape", "absolute.json": "path-escape", "large.md": "file-too-large", "none.json": "file-missing",
		"schemas": "file-missing", "loop.json": "file-missing", "inside.json": "", "schemas/in.json": "",
	} {
		r := &Report{}
		_, ok := d.Text(path, Ref{Path: "PLUGIN.md", Line: 3, Field: "x"}, r)
		got := ""
		if len(r.Findings) == 1 {
			got = r.Findings[0].Code
		}
		if got != want || ok != (want == "") {
			t.Errorf("%q: %s, want %s (%v)", path, got, want, r.Findings)
		}
	}
}

func TestBrokenDir(t *testing.T) {
	t.Parallel()
	d := OpenDirOrBroken(filepath.Join(t.TempDir(), "none"))
	r := &Report{}
	if _, ok := d.Frontmatter("PLUGIN.md", r); ok || len(r.Findings) != 1 || r.Findings[0].Code != "file-missing" {
		t.Errorf("%v", r.Findings)
	}
	d.Digest(&strings.Builder{})
	if d.Name != "none" || d.Exists("PLUGIN.md") || d.Files(".") != nil {
		t.Error("a broken directory must be empty")
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, s := range []string{"a: [1, {b: c}]\n", "? a\n: b", "a: &x 1\nb: *x", "---\n- |\n a\n", "%YAML 1.2\n---\na", "{a, b: , c}", "a: 'x\n\n y'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := ParseYAML(text)
		if err != nil {
			return
		}
		if _, err := ParseJSON(n.JSON()); err != nil {
			t.Fatalf("%q gives JSON that can not be read: %v", text, err)
		}
	})
}
