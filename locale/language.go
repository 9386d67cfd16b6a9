package locale

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Lang is an instruction language: the language of all fixed text of a prompt.
type Lang string

// Instruction languages.
const (
	English Lang = "en"
	Chinese Lang = "zh"
)

// SettingForced is the environment variable whose value callers pass as the
// forced language.
const SettingForced = "COVEL_INSTRUCTION_LOCALE"

// ParseForced reads the value of SettingForced. Empty forces nothing; anything
// but en and zh is an *Error of code bad-setting.
func ParseForced(value string) (Lang, error) {
	switch Lang(value) {
	case "", English, Chinese:
		return Lang(value), nil
	default:
		return "", badSetting(SettingForced, value, string(English), string(Chinese))
	}
}

// Instruction gives the instruction language of a locale (spec 01 §1.4): Chinese
// for zh, zh-CN, zh-Hans and every zh-Hans-…, else English. A forced language
// that ParseForced accepts wins.
func Instruction(tag, forced string) Lang {
	if l := Lang(forced); l == English || l == Chinese {
		return l
	}
	switch c := strings.ToLower(Canonical(tag)); {
	case c == "zh", c == "zh-cn", c == "zh-hans", strings.HasPrefix(c, "zh-hans-"):
		return Chinese
	default:
		return English
	}
}

// ListSeparator joins the items of a list of names.
func (l Lang) ListSeparator() string {
	if l == Chinese {
		return "、"
	}
	return ", "
}

// ItemSeparator joins the items of a list of phrases.
func (l Lang) ItemSeparator() string {
	if l == Chinese {
		return "；"
	}
	return "; "
}

// Colon stands between a label and its text.
func (l Lang) Colon() string {
	if l == Chinese {
		return "："
	}
	return ": "
}

// Canonical writes a locale in its usual form: "_" as "-", the language in
// lower, the script in title and the region in upper case, extension subtags
// dropped. It does not check that the subtags exist.
func Canonical(tag string) string {
	parts := strings.Split(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"), "-")
	for i, p := range parts {
		if p = strings.TrimSpace(p); i > 0 && len(p) == 1 {
			parts = parts[:i]
			break
		}
		p = strings.ToLower(p)
		switch {
		case i > 0 && len(p) == 4 && p[0] >= 'a' && p[0] <= 'z':
			p = strings.ToUpper(p[:1]) + p[1:]
		case i > 0 && len(p) == 2:
			p = strings.ToUpper(p)
		}
		parts[i] = p
	}
	return strings.Join(parts, "-")
}

// OutputName names the language that a locale's story is written in, in that
// language, first letter upper case (spec 01 §1.4). Chinese is named with its
// script, a region only where its variant has a name of its own. A locale that
// cannot be parsed is used as written, folded, cut to 64 characters.
func OutputName(tag string) string {
	parsed, ok := parse(tag)
	if !ok {
		return asWritten(tag)
	}
	if base, _ := parsed.Base(); base.String() == "zh" {
		if script, _ := parsed.Script(); script.String() == "Hant" {
			return "繁體中文"
		}
		return "简体中文"
	}
	name := display.Self.Name(parsed)
	if name == "" {
		return asWritten(tag)
	}
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}

func asWritten(tag string) string {
	runes := []rune(strings.Join(strings.Fields(tag), " "))
	return string(runes[:min(len(runes), 64)])
}

// parse refuses what is no locale of a natural language.
func parse(tag string) (language.Tag, bool) {
	c := Canonical(tag)
	parsed, err := language.Parse(c)
	if c == "" || err != nil {
		return language.Und, false
	}
	if base, conf := parsed.Base(); conf == language.No || base.String() == "und" {
		return language.Und, false
	}
	return parsed, true
}

// family is what two locales must share for one's text to serve the other.
type family struct{ base, script string }

func familyOf(tag string) (family, bool) {
	parsed, ok := parse(tag)
	if !ok {
		return family{}, false
	}
	base, _ := parsed.Base()
	script, _ := parsed.Script()
	return family{base.String(), script.String()}, true
}
