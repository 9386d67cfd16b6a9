package locale

import "strings"

// Choose picks one of the keys of a locale map, in their written order
// (spec 01 §18, spec 05 §10): the exact locale (any case, "_" as "-"), the bare
// language, the same language and script with another region, English, the
// first. Scripts never cross: zh-Hant does not take zh. No locale takes the
// first. It is false only for an empty map.
func Choose(tag string, keys []string) (string, bool) {
	if len(keys) == 0 {
		return "", false
	}
	if strings.TrimSpace(tag) == "" {
		return keys[0], true
	}
	want := Canonical(tag)
	for _, k := range keys {
		if Canonical(k) == want {
			return k, true
		}
	}
	if fam, ok := familyOf(tag); ok {
		if k, ok := sibling(fam, keys); ok {
			return k, true
		}
	}
	if k, ok := english(keys); ok {
		return k, true
	}
	return keys[0], true
}

func sibling(want family, keys []string) (string, bool) {
	found := ""
	for _, k := range keys {
		fam, ok := familyOf(k)
		if !ok || fam != want {
			continue
		}
		if Canonical(k) == want.base {
			return k, true
		}
		if found == "" {
			found = k
		}
	}
	return found, found != ""
}

func english(keys []string) (string, bool) {
	found := ""
	for _, k := range keys {
		if Canonical(k) == "en" {
			return k, true
		}
		if fam, ok := familyOf(k); ok && fam.base == "en" && found == "" {
			found = k
		}
	}
	return found, found != ""
}
