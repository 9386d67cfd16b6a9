package assembler

import (
	"fmt"

	"github.com/covel-engine/covel/turn"
)

// CodeContextOverflow is the stop of a request that fits no way (spec 01
// §15.10).
const CodeContextOverflow = "context-overflow"

// Overflow is the text of a context-overflow stop with its numbers.
type Overflow struct {
	Runtime string
	Target  string
	Report  Report
}

// Error is the text that becomes the runtime's failure.
func (o *Overflow) Error() string {
	r := o.Report
	return fmt.Sprintf("%sContext budget exceeded before LLM call for runtime %q: estimated %d input tokens, limit %d "+
		"(fixed %d, system %d, tools %d, responseFormat %d, messages %d, toolResultSaved %d, summarySaved %d)",
		o.Target, o.Runtime, r.Estimate, r.Limit, r.Fixed, r.System, r.Tools, r.ResponseFormat, r.Messages, r.ToolResultSaved, r.SummarySaved)
}

// Rescuable says whether the request has a complete group, without which no
// rescue attempt is made.
func (o *Overflow) Rescuable() bool { return o.Report.Groups > 0 }

func (b Budget) overflow(r Report) error {
	return &turn.Error{
		Kind: turn.KindOf(CodeContextOverflow), Code: CodeContextOverflow, Runtime: b.Runtime,
		Err: &Overflow{Runtime: b.Runtime, Target: b.target(), Report: r},
	}
}
