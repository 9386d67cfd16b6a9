package compaction

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/covel-engine/covel/locale"
	"github.com/covel-engine/covel/session"
)

// StrategyConfig holds the settings of the default provider.
type StrategyConfig struct {
	// FocusSections are what a summary is divided into. Defaults to none: three
	// localized sections are asked for, and none are saved.
	FocusSections []string
	// Forced is the value of COVEL_INSTRUCTION_LOCALE. Defaults to none.
	Forced string
	// Protection is how much of the newest history is left alone. Defaults to
	// DefaultProtection.
	Protection *Protection
	// Templates finds history-summary below the plugin's own prompt root. It
	// has no default.
	Templates locale.LoadPrompt
}

// Strategy is the default provider of history.compact@2: it condenses a
// contiguous prefix of old rows, and merges old summaries only when the budget
// asks for it (spec 02 §6). It is immutable and safe for concurrent use.
type Strategy struct {
	sections   []string
	forced     string
	protection Protection
	templates  locale.LoadPrompt
	texts      *locale.Texts
}

// NewStrategy checks the configuration.
func NewStrategy(config StrategyConfig) (*Strategy, error) {
	if config.Templates == nil {
		return nil, errors.New("compaction.StrategyConfig.Templates is nil; give the loader of the plugin's prompt root")
	}
	protection := DefaultProtection()
	if config.Protection != nil {
		protection = *config.Protection
	}
	if err := protection.Validate(); err != nil {
		return nil, err
	}
	texts, err := locale.LoadCatalogue(catalogue, "texts")
	if err != nil {
		return nil, err
	}
	return &Strategy{
		sections: cleanSections(config.FocusSections), forced: config.Forced, protection: protection,
		templates: config.Templates, texts: texts,
	}, nil
}

// cleanSections trims names, and drops blank and repeated ones.
func cleanSections(names []string) []string {
	var clean []string
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(clean, name) {
			clean = append(clean, name)
		}
	}
	return clean
}

// Compact is the Provider. It makes one model call, or two when old summaries
// must be merged; nil means that there is nothing to do.
func (s *Strategy) Compact(ctx context.Context, in Input, use Services) (*Output, error) {
	candidates := s.protection.Candidates(in.Messages)
	if len(candidates) == 0 || use.Call == nil {
		return nil, nil
	}
	frames, err := s.frames(in.Locale)
	if err != nil {
		return nil, err
	}
	w := work{Strategy: s, frames: frames, in: in, use: use}
	prefix, err := w.prefix(candidates)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(prefix, func(m session.Message) bool { return !blank(m.Content) }) {
		return nil, nil
	}
	fresh, err := w.fresh(ctx, prefix)
	if err != nil {
		return nil, err
	}
	plan, err := w.plan(&fresh)
	if err != nil {
		return nil, err
	}
	out := &Output{}
	if plan.Merge > 0 {
		merged, err := w.merge(ctx, plan)
		if err != nil {
			return nil, err
		}
		out.Summaries = append(out.Summaries, merged)
	}
	out.Summaries = append(out.Summaries, fresh.segment)
	return out, nil
}

// frames loads the template for the instruction language of a locale.
func (s *Strategy) frames(tag string) (*frames, error) {
	if !localePattern.MatchString(tag) {
		return nil, failf(InvalidLocale, StepPlan, "locale %q must be a language code such as en-US", tag)
	}
	lang := locale.Instruction(tag, s.forced)
	template, err := s.templates(templateName, string(lang))
	if err != nil {
		f := failf(TemplateMissing, StepPlan, "%v", err)
		f.Err = err
		return nil, f
	}
	return &frames{texts: s.texts, lang: lang, template: template, language: languageName(tag, lang)}, nil
}

// work is one attempt of the strategy.
type work struct {
	*Strategy
	frames *frames
	in     Input
	use    Services
}

// freshSegment is the new segment, with what is needed to bound it again.
type freshSegment struct {
	segment Segment
	reply   string // the complete reply, trimmed
	budget  int
}

// asked are the sections that a fresh prompt lists.
func (w *work) asked() []string {
	if len(w.sections) > 0 {
		return w.sections
	}
	return w.frames.defaultSections()
}

// prefix gives the most candidates whose request fits the fast model, oldest
// first (spec 02 §6.5).
func (w *work) prefix(candidates []session.Message) ([]session.Message, error) {
	system := w.use.InputEstimator.Count(w.frames.system(w.asked()))
	needed := func(k int) int {
		return system + w.use.InputEstimator.Count(w.frames.fresh(candidates[:k], w.in.SummaryBudget.MaxSegmentTokens))
	}
	if n := needed(0); n > w.in.InputWindow {
		return nil, failf(InputWindowTooSmall, StepPlan, "the prompts alone need %d tokens, the fast model takes %d", n, w.in.InputWindow)
	}
	k := sort.Search(len(candidates), func(k int) bool { return needed(k+1) > w.in.InputWindow })
	if k == 0 {
		n := needed(1)
		f := failf(OldestRowTooLarge, StepPlan, "row %q needs %d tokens, the fast model takes %d", candidates[0].ID, n, w.in.InputWindow)
		f.RowID, f.Needed, f.Available = candidates[0].ID, n, w.in.InputWindow
		return nil, f
	}
	return candidates[:k], nil
}

// fresh condenses the prefix.
func (w *work) fresh(ctx context.Context, prefix []session.Message) (freshSegment, error) {
	source := 0
	ids := make([]string, len(prefix))
	for i := range prefix {
		source += w.use.Estimator.Count(prefix[i].Content)
		ids[i] = prefix[i].ID
	}
	f := freshSegment{budget: freshBudget(source, w.in.SummaryBudget)}
	reply, err := w.call(ctx, StepFresh, w.frames.system(w.asked()), w.frames.fresh(prefix, f.budget))
	if err != nil {
		return f, err
	}
	f.reply = reply
	f.segment = Segment{MessageIDs: ids, ReplacesSummaryIDs: []string{}, FocusSections: append([]string{}, w.sections...)}
	f.segment.Content, f.segment.Truncated, err = w.bound(StepFresh, reply, f.budget)
	return f, err
}

// freshBudget is a quarter of the source within the segment's limits (spec 02 §6.6).
func freshBudget(source int, budget Budget) int {
	return min(budget.MaxSegmentTokens, max(128, ceilDiv(source, 4)))
}

// plan decides on a merge; if none makes room, the fresh text is shortened to
// half of all summaries first (spec 02 §6.9).
func (w *work) plan(f *freshSegment) (MergePlan, error) {
	sizes := make([]int, len(w.in.ExistingSummaries))
	for i := range sizes {
		sizes[i] = w.use.Estimator.Count(w.in.ExistingSummaries[i].Content)
	}
	least := max(minMergeTokens, w.use.Estimator.Count(strings.TrimSpace(w.frames.marker()))+1)
	size := w.use.Estimator.Count(f.segment.Content)
	if plan, ok := planMerge(sizes, size, w.in.SummaryBudget, least); ok {
		return plan, nil
	}
	half := min(f.budget, w.in.SummaryBudget.MaxTokens/2)
	text, truncated, err := w.bound(StepFresh, f.reply, half)
	if err != nil {
		return MergePlan{}, err
	}
	if n := w.use.Estimator.Count(text); n < size {
		f.segment.Content, f.segment.Truncated = text, f.segment.Truncated || truncated
		if plan, ok := planMerge(sizes, n, w.in.SummaryBudget, least); ok {
			return plan, nil
		}
		size = n
	}
	return MergePlan{}, failf(BudgetTooSmall, StepMerge, "a new summary of %d tokens leaves no room beside %d saved ones within %d tokens",
		size, len(sizes), w.in.SummaryBudget.MaxTokens)
}

// merge rewrites the oldest summaries as one (spec 02 §6.10).
func (w *work) merge(ctx context.Context, plan MergePlan) (Segment, error) {
	old := w.in.ExistingSummaries[:plan.Merge]
	var sections []string
	ids := make([]string, len(old))
	for i := range old {
		ids[i] = old[i].ID
		for _, name := range old[i].FocusSections {
			if !slices.Contains(sections, name) {
				sections = append(sections, name)
			}
		}
	}
	asked := sections
	if len(asked) == 0 {
		asked = w.frames.defaultSections()
	}
	reply, err := w.call(ctx, StepMerge, w.frames.system(asked), w.frames.merge(old, plan.Budget))
	if err != nil {
		return Segment{}, err
	}
	s := Segment{MessageIDs: []string{}, ReplacesSummaryIDs: ids, FocusSections: append([]string{}, sections...)}
	s.Content, s.Truncated, err = w.bound(StepMerge, reply, plan.Budget)
	return s, err
}

// call makes one model call and gives its trimmed text (spec 02 §6.7).
func (w *work) call(ctx context.Context, step Step, system, user string) (string, error) {
	if n := w.use.InputEstimator.Count(system) + w.use.InputEstimator.Count(user); n > w.in.InputWindow {
		return "", failf(RequestTooLarge, step, "the request needs %d tokens, the fast model takes %d", n, w.in.InputWindow)
	}
	reply, err := w.use.Call(ctx, Request{System: system, User: user, MaxOutput: w.use.Reserve})
	if err != nil {
		reason := ModelError
		if errors.Is(err, context.DeadlineExceeded) {
			reason = Timeout
		}
		return "", &Error{Reason: reason, Step: step, Detail: err.Error(), Err: err}
	}
	switch reply.FinishReason {
	case "length", "max_tokens":
		return "", failf(OutputCut, step, "the reply ended with finish reason %q", reply.FinishReason)
	}
	text := strings.TrimSpace(reply.Text)
	if text == "" {
		return "", failf(BlankReply, step, "the model answered only white space")
	}
	return text, nil
}

func (w *work) bound(step Step, reply string, limit int) (string, bool, error) {
	text, truncated, ok := Bound(w.use.Estimator, reply, w.frames.marker(), limit)
	if !ok {
		return "", false, failf(CannotBound, step, "a reply of %d tokens cannot be shortened to %d", w.use.Estimator.Count(reply), limit)
	}
	return text, truncated, nil
}
