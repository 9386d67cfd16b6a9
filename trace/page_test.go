package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/covel-engine/covel/model"
	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
)

// pageOf is the page of one runtime whose system prompt moves at turn 3.
func pageOf(t *testing.T, config trace.PageConfig) string {
	t.Helper()
	var calls []trace.Recorded
	history := ""
	for n := 1; n <= 4; n++ {
		system := "You tell a story."
		if n == 3 {
			system = "You tell <b>another</b> story."
		}
		history += fmt.Sprintf(`,{"role":"user","content":"%s %d"}`, strings.Repeat("a long walk ", 20), n)
		calls = append(calls, trace.Recorded{
			SessionID: "demo", TurnID: fmt.Sprint("t", n), RuntimeID: "narrator", LogicalTurn: n,
			Records: []model.RequestRecord{{
				Provider: "p", Model: "m", Body: json.RawMessage(`{"messages":[{"role":"system","content":"` + system + `"}` + history + `]}`),
			}},
		})
	}
	var page bytes.Buffer
	must(t, trace.Measure(calls, tokens.Covel{}).Page(&page, config))
	return page.String()
}

func TestPage(t *testing.T) {
	t.Parallel()
	page := pageOf(t, trace.PageConfig{Price: func(provider, name string) (trace.Price, bool) {
		return trace.Price{Input: 5e6, Cached: 1e6}, provider == "p" && name == "m" // dollars a token
	}})
	if n := strings.Count(page, `class="column"`); n != 3 {
		t.Errorf("the chart has %d bars; want one for each of the turns 2 to 4", n)
	}
	for _, want := range []string{
		"Turn 3: ", "first difference: message 1 (system)", // the bar's text
		"<td>3–4</td>",                        // the break and the way back
		"You tell &lt;b&gt;another&lt;/b&gt;", // escaped
		"of it is what the breaks cost",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "<script") || strings.Contains(page, "http") {
		t.Error("the page is not self-contained")
	}
}

func TestPageWithoutPrices(t *testing.T) {
	t.Parallel()
	if page := pageOf(t, trace.PageConfig{Title: "Mine"}); strings.Contains(page, "$") || !strings.Contains(page, "<h1>Mine</h1>") {
		t.Error("a page without prices names money, or not its title")
	}
}

func TestPageOfNothing(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	must(t, trace.Report{}.Page(&page, trace.PageConfig{}))
	if !strings.Contains(page.String(), "No request is recorded yet") {
		t.Error("an empty page does not say that it is empty")
	}
}
