package assembler

import (
	"strconv"
	"strings"

	"github.com/covel-engine/covel/assembler/ordered"
	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/turn"
)

// Own-data formats (spec 01 §8.2).
const (
	FormatSummary = "summary"
	FormatIDsOnly = "ids-only"
	FormatFull    = "full"
)

const (
	defaultMaxEntries = 50
	hiddenPrefix      = "_hidden."
	summaryRunes      = 200
)

// SelfDataRead is one bounded read of own rows that a build needs.
type SelfDataRead struct {
	Namespace string
	Limit     int
}

// SelfDataReads lists what to load for a runtime, before anything is read. A
// hidden namespace or a bad tag is an error; the answer has one entry for each
// inject with own data, in order.
func SelfDataReads(r Runtime) ([]SelfDataRead, error) {
	var reads []SelfDataRead
	for _, inject := range r.Injects {
		if inject.SelfData == nil {
			continue
		}
		if _, ok := tagName(inject.As); !ok {
			return nil, badTag(r.ID, inject.As)
		}
		if err := checkNamespace(r.ID, inject.SelfData.Namespace); err != nil {
			return nil, err
		}
		reads = append(reads, SelfDataRead{inject.SelfData.Namespace, maxEntries(inject.SelfData.SelfData)})
	}
	return reads, nil
}

func checkNamespace(runtime, namespace string) error {
	if !strings.HasPrefix(namespace, hiddenPrefix) {
		return nil
	}
	e := turn.Errorf("assemble context", "hidden-namespace",
		"runtime %s injects namespace %q; hidden world data never reaches a prompt, remove it from io.selfData", runtime, namespace)
	e.Runtime, e.Field = runtime, "namespace"
	return e
}

func maxEntries(d plugin.SelfData) int {
	if d.MaxEntries <= 0 {
		return defaultMaxEntries
	}
	return d.MaxEntries
}

func (b *build) selfData(tag string, d SelfData) (string, error) {
	if err := checkNamespace(b.Runtime.ID, d.Namespace); err != nil {
		return "", err
	}
	if d.Rows == nil {
		e := turn.Errorf("assemble context", "store-required",
			"runtime %s injects namespace %q, but no store was given to read it; load it before assembling", b.Runtime.ID, d.Namespace)
		e.Runtime, e.Field = b.Runtime.ID, "namespace"
		return "", e
	}
	rows := d.Rows.Rows()
	if len(rows) == 0 {
		return "<" + tag + ">" + b.text("T13", nil) + "</" + tag + ">", nil
	}
	var out strings.Builder
	out.WriteString("<" + tag + ">\n")
	for _, row := range rows {
		line := "- " + Fold(row.Key)
		if d.Format != FormatIDsOnly {
			line += " | " + b.rowJSON(row.Key, d, row.Value)
		}
		out.WriteString(Escape(line) + "\n")
	}
	if d.Rows.Total > len(rows) {
		out.WriteString(b.text("T14", map[string]string{
			"total": strconv.Itoa(d.Rows.Total), "shown": strconv.Itoa(len(rows)),
		}) + "\n")
	}
	out.WriteString("</" + tag + ">")
	return out.String(), nil
}

func (b *build) rowJSON(key string, d SelfData, raw []byte) string {
	value := b.read("selfData "+d.Namespace+"/"+key, raw)
	if id, ok := value.Get("id"); ok && id.Kind == ordered.String && id.Text == key {
		value = value.Without("id")
	}
	text := project(value).JSON()
	if d.Format == FormatFull {
		return text
	}
	return Cut(text, summaryRunes, "...")
}
