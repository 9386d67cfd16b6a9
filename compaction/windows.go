package compaction

// Deployment defaults (spec 02 §3.3), in tokens.
const (
	defaultWindow  = 262_144
	defaultReserve = 16_384
)

// Slot is what a model slot says of its size, in tokens; 0 is unknown or unset.
type Slot struct {
	Name   string
	Window int
	// Output is the requested output limit.
	Output int
	// MaxOutput is the most the model can write.
	MaxOutput int
}

// Capacity is a slot resolved for one attempt.
type Capacity struct {
	Window  int
	Reserve int
}

// Input is how many tokens a request may have.
func (c Capacity) Input() int { return c.Window - c.Reserve }

// Capacity resolves a slot against the deployment's defaults (spec 02 §3.1).
func (s Settings) Capacity(slot Slot) Capacity {
	window, reserve := slot.Window, defaultReserve
	if n := s.ContextWindow; n > 0 {
		reserve = min(defaultReserve, n/2)
		if window == 0 {
			window = n
		}
		window = min(window, n)
	}
	if window == 0 {
		window = defaultWindow
	}
	c := Capacity{Window: window, Reserve: min(reserve, window/2)}
	if slot.Output > 0 {
		c.Reserve = slot.Output
	}
	if slot.MaxOutput > 0 {
		c.Reserve = min(c.Reserve, slot.MaxOutput)
	}
	return c
}

// Windows are the sizes of one attempt, in tokens. They are resolved once, so
// that a reload cannot give threshold and call different numbers.
type Windows struct {
	// Effective sets the threshold and all summary budgets.
	Effective int
	// Input is what a summary request may have.
	Input int
	// Reserve is the output limit of a summary call.
	Reserve int
}

// Resolve gives the windows of slots story and fast. A capacity below 1 is
// invalid_window.
func Resolve(story, fast Slot, settings Settings) (Windows, error) {
	s, f := settings.Capacity(story), settings.Capacity(fast)
	for _, x := range []struct {
		slot Slot
		c    Capacity
	}{{story, s}, {fast, f}} {
		if x.c.Input() < 1 {
			return Windows{}, failf(InvalidWindow, StepPlan, "slot %q has a window of %d tokens and a reserve of %d; nothing is left for a request",
				x.slot.Name, x.c.Window, x.c.Reserve)
		}
	}
	return Windows{Effective: min(s.Input(), f.Input()), Input: f.Input(), Reserve: f.Reserve}, nil
}

// Budget limits the summaries of a session, in tokens of bare content.
type Budget struct {
	MaxTokens        int `json:"maxTokens"`
	MaxSegmentTokens int `json:"maxSegmentTokens"`
	MaxSegments      int `json:"maxSegments"`
}

// BudgetFor gives the budget of an effective window (spec 02 §5.3).
func BudgetFor(window int) Budget {
	b := Budget{MaxSegments: 8}
	b.MaxTokens = max(1, min(window, max(128, min(8192, window*12/100))))
	b.MaxSegmentTokens = min(b.MaxTokens, max(128, min(2048, window*4/100)))
	return b
}
