package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/covel-engine/covel/model/providers"
	"github.com/covel-engine/covel/turn"
	"github.com/covel-engine/covel/worker"
	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
)

// finding is one line of `covel doctor`.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or fail
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

func newDoctor(c *console, set *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say whether everything is fit, and what to do where not",
		Long: `Doctor looks at the data directory, the database and its migrations, Temporal
and its search attributes, the model slots, plugins and worlds. It changes
nothing. It fails when one of them is unfit.`,
		Example: `  covel doctor`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := examine(cmd.Context(), set)
			failed := 0
			for _, f := range findings {
				if f.Status == "fail" {
					failed++
				}
			}
			if c.json {
				if err := c.printJSON(map[string]any{"findings": findings}); err != nil {
					return err
				}
			} else {
				for _, f := range findings {
					fmt.Fprintf(c.out, "%-5s %-18s %s\n", f.Status, f.Check, f.Detail)
					if f.Fix != "" {
						fmt.Fprintf(c.out, "%24s%s\n", "", f.Fix)
					}
				}
			}
			if failed > 0 {
				return turn.Errorf("doctor", "unfit", "%d of %d checks failed; see the fixes above", failed, len(findings))
			}
			return nil
		},
	}
}

// examine runs every check; one that cannot run because an earlier one failed
// is left out.
func examine(ctx context.Context, set *settings) []finding {
	var findings []finding
	add := func(check string, err error, detail, fix string) bool {
		f := finding{Check: check, Status: "ok", Detail: detail}
		if err != nil {
			f.Status, f.Detail, f.Fix = "fail", oneLine(err.Error()), fix
		}
		findings = append(findings, f)
		return err == nil
	}
	e := &engine{log: newLogger()}
	defer e.close()
	add("plugins, worlds", e.loadContent(set), "loaded", "")
	for _, notice := range e.notices {
		findings = append(findings, finding{Check: "plugins, worlds", Status: "warn", Detail: notice, Fix: "run `covel check`"})
	}
	if add("data directory", e.openData(set, engineOptions{}), e.dataDetail(set), "use another --data, or make it writable") {
		database(ctx, set, e, add)
		checkTemporal(ctx, set, e, add, &findings)
	}
	_, notices, err := providers.New(providers.Config{LLMPath: set.llm})
	detail := "ready"
	if len(notices) > 0 {
		detail = strings.Join(notices, "; ")
	}
	add("model slots", err, detail, "mend llm.toml, or remove it to play with the scripted storyteller")
	return findings
}

func (e *engine) dataDetail(set *settings) string {
	switch {
	case e.attached:
		return set.dataDir + " (a running engine owns it)"
	case e.lock == nil:
		return "not needed"
	default:
		return set.dataDir
	}
}

func database(ctx context.Context, set *settings, e *engine, add func(string, error, string, string) bool) {
	fix := "check COVEL_DATABASE_URL and that the server runs"
	if !set.postgres() {
		fix = "restore the file from a backup, or use another --data"
	}
	if !add("database", e.openStore(ctx, set, engineOptions{skipMigrate: true}), "opens", fix) {
		return
	}
	have, want, err := e.store.SchemaVersion(ctx)
	if err == nil && have != want && (set.postgres() || have > want) {
		err = fmt.Errorf("schema %d, this program needs %d", have, want)
	}
	add("migrations", err, fmt.Sprintf("schema %d", want), "run `covel migrate` with the newest covel")
}

func checkTemporal(ctx context.Context, set *settings, e *engine, add func(string, error, string, string) bool, findings *[]finding) {
	kind := "embedded"
	if !set.embedded() {
		kind = set.temporal
	}
	if !add("temporal", e.openTemporal(ctx, set, engineOptions{temporal: true}), kind, "start it with `covel dev`, or check TEMPORAL_ADDRESS") {
		return
	}
	missing, err := worker.MissingSearchAttributes(ctx, e.temporal, namespace())
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("namespace %q lacks %s", namespace(), strings.Join(missing, ", "))
	}
	add("search attributes", err, "all there", "run `covel migrate`")
	if e.server != nil {
		return // this process's own server; commands bring their worker along
	}
	pollers, err := e.pollers(ctx)
	f := finding{Check: "workers", Status: "ok", Detail: fmt.Sprintf("%d poll queue %s", pollers, turn.QueueMain)}
	if err != nil || pollers == 0 {
		f.Status, f.Detail, f.Fix = "warn", "none polls queue "+turn.QueueMain, "start one with `covel worker`"
	}
	*findings = append(*findings, f)
}

// pollers counts the workers of the main queue.
func (e *engine) pollers(ctx context.Context) (int, error) {
	d, err := e.temporal.DescribeTaskQueue(ctx, turn.QueueMain, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return 0, err
	}
	return len(d.GetPollers()), nil
}
