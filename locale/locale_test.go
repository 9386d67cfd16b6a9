package locale_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/locale"
)

func TestInstruction(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]locale.Lang{
		"zh": "zh", "zh-CN": "zh", "ZH_cn": "zh", "zh-Hans": "zh", "zh-hans-SG": "zh", "zh-CN-u-nu-hanidec": "zh", "zh-Hans-CN-x-a": "zh",
		"zh-SG": "en", "zh-TW": "en", "zh-Hant": "en", "zh-Hant-TW": "en", "en-US": "en", "": "en", "fr": "en", "zhx": "en", "zh-HansX": "en",
	} {
		if got := locale.Instruction(tag, ""); got != want {
			t.Errorf("Instruction(%q) = %s, want %s", tag, got, want)
		}
	}
	if locale.Instruction("zh", "en") != "en" || locale.Instruction("en", "zh") != "zh" {
		t.Error("a forced language does not win")
	}
	for _, value := range []string{"", "en", "zh"} {
		if got, err := locale.ParseForced(value); err != nil || string(got) != value {
			t.Errorf("ParseForced(%q) = %q, %v", value, got, err)
		}
	}
	_, err := locale.ParseForced("fr")
	var bad *locale.Error
	if !errors.As(err, &bad) || bad.Code != locale.CodeBadSetting || !strings.Contains(err.Error(), `COVEL_INSTRUCTION_LOCALE is "fr"`) || !strings.Contains(err.Error(), "en or zh") {
		t.Errorf("error %v does not name setting, value and choices", err)
	}
}

func TestOutputName(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"en-US": "American English", "en": "English", "en-GB": "British English", "en_GB": "British English", "ru-RU": "Русский",
		"zh": "简体中文", "zh-CN": "简体中文", "zh-Hans-HK": "简体中文", "zh-SG": "简体中文", "zh-TW": "繁體中文", "zh-HK": "繁體中文", "zh-Hant": "繁體中文",
		"de-DE": "Deutsch", "pt-BR": "Português", "fr-CA": "Français canadien", "ja": "日本語",
		"": "", "not a\n locale": "not a locale", strings.Repeat("é", 70): strings.Repeat("é", 64), "x-elvish": "x-elvish", "xx": "xx",
	} {
		if got := locale.OutputName(tag); got != want {
			t.Errorf("OutputName(%q) = %q, want %q", tag, got, want)
		}
	}
}

func TestCanonicalIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		tag := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z]{2,3}([-_][a-zA-Z0-9]{1,8}){0,4}`)).Draw(rt, "tag")
		once := locale.Canonical(tag)
		if twice := locale.Canonical(once); twice != once {
			rt.Fatalf("%q becomes %q, then %q", tag, once, twice)
		}
		if name := locale.OutputName(tag); utf8.ValidString(tag) && !utf8.ValidString(name) {
			rt.Fatalf("OutputName(%q) = %q", tag, name)
		}
	})
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tag  string
		keys []string
		want string
	}{
		{"zh_cn", []string{"en", "zh-CN", "zh"}, "zh-CN"},
		{"zh-CN", []string{"en", "zh-SG", "zh"}, "zh"},
		{"zh-CN", []string{"en", "zh-SG"}, "zh-SG"},
		{"zh-Hant", []string{"zh", "en"}, "en"},
		{"zh-TW", []string{"zh", "zh-HK"}, "zh-HK"},
		{"fr-CA", []string{"de", "en-US", "fr-FR"}, "fr-FR"},
		{"fr", []string{"de", "en-GB"}, "en-GB"},
		{"fr", []string{"de", "ru"}, "de"},
		{"", []string{"de", "en"}, "de"},
		{"not a tag", []string{"de", "en"}, "en"},
	} {
		if got, ok := locale.Choose(c.tag, c.keys); !ok || got != c.want {
			t.Errorf("Choose(%q, %v) = %q, want %q", c.tag, c.keys, got, c.want)
		}
	}
	if _, ok := locale.Choose("en", nil); ok {
		t.Error("an empty map has a choice")
	}
}

func TestTemplateCandidates(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string][]string{
		"zh-CN":      {"x.zh-CN.md", "x.zh.md", "x.en.md", "x.md"},
		"zh_hans":    {"x.zh-Hans.md", "x.zh.md", "x.en.md", "x.md"},
		"zh-Hant-TW": {"x.zh-Hant-TW.md", "x.en.md", "x.md"},
		"zh-TW":      {"x.zh-TW.md", "x.en.md", "x.md"},
		"en-GB":      {"x.en-GB.md", "x.en.md", "x.md"},
		"en":         {"x.en.md", "x.md"},
		"../../etc":  {"x.en.md", "x.md"},
		"":           {"x.en.md", "x.md"},
	} {
		if got := locale.Candidates("x", tag); !slices.Equal(got, want) {
			t.Errorf("Candidates(%q) = %v, want %v", tag, got, want)
		}
	}
}

func TestLoaderStaysInsideItsRoot(t *testing.T) {
	t.Parallel()
	loader := locale.NewLoader(fstest.MapFS{"a/b.en.md": {Data: []byte("\ufeffhi")}})
	if got, err := loader.Load("a/b", "en-US"); err != nil || got != "hi" {
		t.Errorf("Load = %q, %v", got, err)
	}
	for _, name := range []string{"../a/b", "/a/b", "a/../../b"} {
		_, err := loader.Load(name, "en")
		var bad *locale.Error
		if !errors.As(err, &bad) || bad.Code != locale.CodeTemplateMissing {
			t.Errorf("Load(%q): %v", name, err)
		}
	}
}

func TestLinksDoNotLeadOutOfTheRoot(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(outside+"/secret.md", []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside+"/secret.md", dir+"/lore.md"); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	if got, err := locale.NewLoader(root.FS()).Load("lore", "en"); err == nil {
		t.Errorf("Load = %q, want an error", got)
	}
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	texts, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	if got := texts.Get(locale.English, "T04", map[string]string{"label": "{label} {n}"}); got != "[World Rule: {label} {n}]" {
		t.Errorf("inserted text was scanned again: %q", got)
	}
	if got := texts.Get("fr", "T13", nil); got != "(none)" {
		t.Errorf("an unknown language reads %q", got)
	}
	if texts.Get(locale.English, "T99", nil) != "" || texts.Has("T99") {
		t.Error("an unknown id has a text")
	}
	for _, id := range texts.IDs() {
		multi := strings.HasPrefix(id, "T22")
		for _, lang := range locale.Languages() {
			text := texts.Get(lang, id, nil)
			if lines := strings.Count(strings.Trim(text, "\n"), "\n"); lines > 0 != multi {
				t.Errorf("%s %s has %d line breaks", lang, id, lines)
			}
		}
	}
}

func TestCatalogueIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ en, zh, want string }{
		"missing in Chinese": {"A: x\nB: y", "A: 文", "B"},
		"missing in English": {"A: x", "A: 文\nB: 文", "B"},
		"Han in English":     {"A: 文", "A: 文", "English"},
		"no Han in Chinese":  {"A: x", "A: x", "Chinese"},
		"placeholders":       {"A: x {a}", "A: 文 {b}", "placeholders"},
		"blank":              {"A: ' '", "A: 文", "blank"},
		"no map":             {"- x", "A: 文", "map"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := locale.LoadCatalogue(fstest.MapFS{"p/en.yaml": {Data: []byte(c.en)}, "p/zh.yaml": {Data: []byte(c.zh)}}, "p")
			var bad *locale.Error
			if !errors.As(err, &bad) || bad.Code != locale.CodeBadCatalogue || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
	_, err := locale.LoadCatalogue(fstest.MapFS{}, "p")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestChineseTextsHoldNoEnglishSentence allows names and codes only.
func TestChineseTextsHoldNoEnglishSentence(t *testing.T) {
	t.Parallel()
	texts, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range texts.IDs() {
		run := 0
		for _, word := range strings.Fields(texts.Get(locale.Chinese, id, nil)) {
			plain := strings.Trim(word, "`.,;")
			if plain != "" && strings.Trim(plain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
				if run++; run > 2 {
					t.Errorf("%s holds an English sentence", id)
				}
				continue
			}
			run = 0
		}
	}
}

func ExampleOutputName() {
	for _, tag := range []string{"en_GB", "zh-TW", "ru"} {

		fmt.Println(locale.OutputName(tag))
	}
	// Output:
	// British English
	// 繁體中文
	// Русский
}
