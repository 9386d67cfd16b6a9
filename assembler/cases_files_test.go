package assembler_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/covel-engine/covel/locale"
)

func fileCases() map[string]caseTest {
	return map[string]caseTest{
		"CA-133": func(t *testing.T) {
			root := fstest.MapFS{}
			order := []string{"lore.zh-CN.md", "lore.zh.md", "lore.en.md", "lore.md"}
			for _, name := range order {
				root[name] = &fstest.MapFile{Data: []byte(name)}
			}
			for _, name := range order {
				got, err := locale.NewLoader(root).Load("lore", "zh-CN")
				if err != nil || got != name {
					t.Errorf("%q, %v, want %s", got, err, name)
				}
				delete(root, name)
			}
			_, err := locale.NewLoader(root).Load("lore", "zh-CN")
			if err == nil {
				t.Fatal("no error")
			}
			contains(t, err.Error(), order...)
		},
		"CA-139": func(t *testing.T) { // that a creation takes its host's loader is package world's
			plugin := locale.NewLoader(fstest.MapFS{"history-summary.md": {Data: []byte("own")}})
			var load locale.LoadPrompt = func(name, tag string) (string, error) { return "host " + name + " " + tag, nil }
			got, err := load("world", "en")
			if err != nil || got != "host world en" {
				t.Errorf("%q, %v", got, err)
			}
			got, err = plugin.Load("history-summary", "en")
			if err != nil || got != "own" {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := plugin.Load("world", "en"); err == nil {
				t.Error("a plugin's loader left its root")
			}
		},
		"CA-134": func(t *testing.T) {
			loaded := texts(t)
			for n := 1; n <= 35; n++ {
				id := fmt.Sprintf("T%02d", n)
				found := false
				for _, have := range loaded.IDs() {
					if have != id && !strings.HasPrefix(have, id+".") {
						continue
					}
					found = true
					en, zh := loaded.Get(locale.English, have, nil), loaded.Get(locale.Chinese, have, nil)
					if en == "" || zh == "" || hasHan(en) || !hasHan(zh) {
						t.Errorf("%s: %q, %q", have, en, zh)
					}
				}
				same(t, id, found, true)
			}
			for id, want := range map[string]string{
				"T02.1": "[language]", "T04": "[label]", "T14": "[shown total]", "T15": "[n]", "T17": "[tools]", "T18": "[tools]", "T19": "[tools]", "T21": "[tool]",
				"T22": "[schema]", "T23": "[error]", "T25": "[runtimeId]", "T29": "[description]", "T31.plain": "[n]", "T32": "[names]", "T34": "[]",
			} {
				same(t, id, fmt.Sprint(loaded.Placeholders(id)), want)
			}
			for _, id := range []string{"T35.compaction_failing", "T35.compaction_blocked"} {
				same(t, id, loaded.Has(id), true)
			}
		},
	}
}
