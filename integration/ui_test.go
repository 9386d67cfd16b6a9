package integration_test

import (
	"context"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
	"github.com/covel-engine/covel/internal/testenv"
	"github.com/covel-engine/covel/turn"
)

// TestTemporalUI looks at a turn in a real browser: the page loads, and the
// turn's stages, runtimes and calls are named so that they read without docs.
func TestTemporalUI(t *testing.T) {
	t.Parallel()
	browser := findBrowser(t)
	data := testenv.DataDir(t)
	dev := testenv.Dev(t, data)
	for _, args := range [][]string{
		{"session", "create", "--world", "lanternfall", "--id", "shown", "--data", data},
		{"turn", "start", "shown", "--turn", "turn-a", "--say", "I row to the drowned lighthouse", "--data", data},
	} {
		if code, _, stderr := testenv.Run(t, testenv.Config{Args: args}); code != 0 {
			t.Fatal(stderr)
		}
	}
	base := "http://" + dev.Ready.UI + "/namespaces/default/workflows"
	opening := turn.ContinuationTurnID("turn-a")
	tab := openBrowser(t, browser)
	for _, page := range []struct {
		name string
		path string
		want []string
	}{
		{"list", "", []string{"session/shown", "session/shown/" + opening + "/narrative", "Completed"}},
		{"turn", workflowPath(turn.WorkflowID("shown")), []string{"setup · turn 1", "pre-turn · turn 1", "narrative · turn 1", "post-turn · turn 1", "CommitTurn"}},
		{"stage", workflowPath(turn.StageWorkflowID("shown", opening, "narrative")), []string{"narrator · step 1 · model story/storyteller"}},
	} {
		_, err := chromedp.Run(tab, chromedp.Navigate(base+page.path))
		must(t, err)
		for _, want := range page.want {
			eventually(t, page.name+" page showing "+want, func() bool { return shows(t, tab, want) })
		}
	}
}

func workflowPath(id string) string { return "/" + url.PathEscape(id) }

func findBrowser(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("chromium is not installed: %v; .ci/setup installs it", err)
	}
	return path
}

// openBrowser starts the browser and gives the context of its tab.
func openBrowser(t *testing.T, path string) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1500, 1600),
		chromedp.UserDataDir(testenv.DataDir(t)), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	return tab
}

// shows says whether a page holds a text by now. The UI puts texts of users
// into frames of their own, which the document's text leaves out.
func shows(t *testing.T, tab context.Context, text string) bool {
	t.Helper()
	page, err := chromedp.Run(tab, func(ctx context.Context, target *chromedp.Target) (string, error) {
		depth, pierce := int64(-1), true
		doc, err := cdp.Call(ctx, target, dom.GetDocument, dom.GetDocumentParams{Depth: &depth, Pierce: &pierce})
		if err != nil {
			return "", err
		}
		var b strings.Builder
		writeText(&b, doc.Root)
		return b.String(), nil
	})
	must(t, err)
	return strings.Contains(page, text)
}

func writeText(b *strings.Builder, n *cdp.Node) {
	if n == nil {
		return
	}
	b.WriteString(n.NodeValue)
	for _, child := range n.Children {
		writeText(b, child)
	}
	for _, root := range n.ShadowRoots {
		writeText(b, root)
	}
	writeText(b, n.ContentDocument)
}
