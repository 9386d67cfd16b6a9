package agentloop

import "github.com/covel-engine/covel/turn"

// Defaults of spec 03 §11.1.
const (
	DefaultMaxSteps      = 20
	DefaultTimeoutMs     = 60_000
	DefaultLoopDetection = 3
)

const (
	maxHookCorrections     = 2
	maxContractCorrections = 1
)

type limits struct {
	steps     int
	timeoutMs int64
	// window is how many equal calls in a row are a loop; 0 is off.
	window int
}

func limitsOf(spec turn.AgentSpec) limits {
	l := limits{steps: DefaultMaxSteps, timeoutMs: DefaultTimeoutMs, window: DefaultLoopDetection}
	if spec.MaxSteps > 0 {
		l.steps = spec.MaxSteps
	}
	if spec.TimeoutMs > 0 {
		l.timeoutMs = spec.TimeoutMs
	}
	if n := spec.LoopDetection; n != nil {
		l.window = *n
		if l.window == 1 { // one call cannot repeat itself
			l.window = 2
		}
	}
	return l
}
