package trace

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Price is what a model's input costs, in USD per million tokens.
type Price struct {
	Input  float64
	Cached float64
}

// PageConfig says what a page of the report shows beside the report.
type PageConfig struct {
	// Price gives a model's prices, false where none are known. Defaults to none.
	Price func(provider, model string) (Price, bool)
	// Title is the heading. Defaults to "Prompt prefix".
	Title string
}

//go:embed page.html
var pageText string

// pageTemplate parses the page once.
var pageTemplate = sync.OnceValues(func() (*template.Template, error) {
	return template.New("page").Parse(pageText)
})

// Page writes the report as one HTML page that needs nothing else: a chart for
// each runtime with the size of its requests and what a cache can reuse, where
// the prefix breaks, and what that costs.
func (r Report) Page(w io.Writer, config PageConfig) error {
	if config.Title == "" {
		config.Title = "Prompt prefix"
	}
	if config.Price == nil {
		config.Price = func(string, string) (Price, bool) { return Price{}, false }
	}
	text, err := pageTemplate()
	if err != nil {
		return err
	}
	return text.Execute(w, r.page(config))
}

// pageView is what the template shows.
type pageView struct {
	Title    string
	Sessions []pageSession
}

type pageSession struct {
	ID       string
	Sums     pageSums
	Runtimes []pageRuntime
}

// pageSums are totals of later first requests.
type pageSums struct {
	Tokens, Shared, Repeated, New string
	SharedPercent                 int
	RepeatedPercent               int
	// Cost is what they cost with a cache that serves the shared part; Missed
	// what the repeated part costs above that. Empty without prices.
	Cost, Missed string

	tokens, shared, repeated int
	cost, missed             float64
	priced                   bool
}

type pageRuntime struct {
	ID, Model string
	Turns     int
	Calls     int
	Sums      pageSums
	Chart     *pageChart // nil for one turn only
	Breaks    []pageBreak
}

// pageBreak is a place where the prefix ends before what repeats.
type pageBreak struct {
	Label    string
	Turns    string
	Repeated string
	Cost     string // empty without prices
	Was, Now string

	turns    []int
	repeated int
	worst    int
}

// Sizes of a chart in its own units.
const (
	chartWidth, chartHeight             = 760, 190
	chartLeft, chartBottom, chartHeader = 46, 22, 8
)

type pageChart struct {
	Width, Height int
	Bars          []pageBar
	Lines         []pageLine
}

// pageBar is one turn: three stretches from the bottom up.
type pageBar struct {
	X, Width, Middle     float64
	SharedY, SharedH     float64
	RepeatedY, RepeatedH float64
	NewY, NewH           float64
	ColumnX, ColumnW     float64 // the turn's whole column, for the pointer
	ColumnY, ColumnH     float64
	Label, Tip           string
	LabelY               float64
}

type pageLine struct {
	Y      float64
	X1, X2 int
	Label  string
}

func (r Report) page(config PageConfig) pageView {
	view := pageView{Title: config.Title}
	for _, id := range r.sessions() {
		s := pageSession{ID: id}
		for _, row := range r.Runtimes {
			if row.SessionID != id {
				continue
			}
			price, priced := config.Price(row.Provider, row.Model)
			rt := pageRuntime{ID: row.RuntimeID, Model: row.Model, Turns: row.Turns, Calls: row.Calls}
			for _, p := range row.Pairs {
				rt.Sums.add(p, price, priced)
			}
			s.Sums.join(rt.Sums)
			rt.Sums.write()
			rt.Chart = chartOf(row.Pairs)
			rt.Breaks = breaksOf(row.Pairs, price, priced)
			s.Runtimes = append(s.Runtimes, rt)
		}
		s.Sums.write()
		view.Sessions = append(view.Sessions, s)
	}
	return view
}

func (s *pageSums) add(p Pair, price Price, priced bool) {
	s.tokens += p.Tokens
	s.shared += p.SharedTokens
	s.repeated += p.Repeated
	if priced {
		s.priced = true
		s.cost += (float64(p.SharedTokens)*price.Cached + float64(p.Tokens-p.SharedTokens)*price.Input) / 1e6
		s.missed += float64(p.Repeated) * (price.Input - price.Cached) / 1e6
	}
}

func (s *pageSums) join(o pageSums) {
	s.tokens, s.shared, s.repeated = s.tokens+o.tokens, s.shared+o.shared, s.repeated+o.repeated
	s.cost, s.missed, s.priced = s.cost+o.cost, s.missed+o.missed, s.priced || o.priced
}

// write turns the numbers into texts.
func (s *pageSums) write() {
	s.Tokens, s.Shared, s.Repeated = grouped(s.tokens), grouped(s.shared), grouped(s.repeated)
	s.New = grouped(max(0, s.tokens-s.shared-s.repeated))
	s.SharedPercent, s.RepeatedPercent = percent(s.shared, s.tokens), percent(s.repeated, s.tokens)
	if s.priced {
		s.Cost, s.Missed = dollars(s.cost), dollars(s.missed)
	}
}

func chartOf(pairs []Pair) *pageChart {
	if len(pairs) == 0 {
		return nil
	}
	top := 0
	for _, p := range pairs {
		top = max(top, p.Tokens)
	}
	step := niceStep(top)
	ceiling := float64(step) * math.Ceil(float64(max(1, top))/float64(step))
	plot := float64(chartHeight - chartBottom - chartHeader)
	scale := func(tokens int) float64 { return float64(tokens) / ceiling * plot }
	floor := float64(chartHeight - chartBottom)

	c := &pageChart{Width: chartWidth, Height: chartHeight}
	for v := 0; v <= int(ceiling); v += step {
		c.Lines = append(c.Lines, pageLine{Y: floor - scale(v), X1: chartLeft, X2: chartWidth, Label: short(v)})
	}
	column := float64(chartWidth-chartLeft) / float64(len(pairs))
	every := int(math.Ceil(28 / column)) // labels need 28 units
	for i, p := range pairs {
		width := min(column*0.72, 34)
		b := pageBar{
			X: chartLeft + column*(float64(i)+0.5) - width/2, Width: width, Middle: chartLeft + column*(float64(i)+0.5),
			SharedH: scale(p.SharedTokens), RepeatedH: scale(p.Repeated), NewH: scale(max(0, p.Tokens-p.SharedTokens-p.Repeated)),
			LabelY: float64(chartHeight) - 6, ColumnX: chartLeft + column*float64(i), ColumnW: column, ColumnY: chartHeader, ColumnH: plot,
			Tip: fmt.Sprintf("Turn %d: %s tokens\n%s shared (%d %%)\n%s repeated behind the break\nfirst difference: %s +%d",
				p.Turn, grouped(p.Tokens), grouped(p.SharedTokens), percent(p.SharedTokens, p.Tokens), grouped(p.Repeated), p.FirstDifference, p.Offset),
		}
		b.SharedY = floor - b.SharedH
		b.RepeatedY = b.SharedY - b.RepeatedH
		b.NewY = b.RepeatedY - b.NewH
		if i%every == 0 {
			b.Label = strconv.Itoa(p.Turn)
		}
		c.Bars = append(c.Bars, b)
	}
	return c
}

// breaksOf lists the places behind which something worth naming repeats, at
// least a fiftieth of the request, the dearest first. Fixed texts at the end of
// every request repeat always and are cheaper than that.
func breaksOf(pairs []Pair, price Price, priced bool) []pageBreak {
	var list []pageBreak
	for _, p := range pairs {
		if 50*p.Repeated < p.Tokens || p.Repeated == 0 {
			continue
		}
		label := p.FirstDifference
		i := slices.IndexFunc(list, func(b pageBreak) bool { return b.Label == label })
		if i < 0 {
			list, i = append(list, pageBreak{Label: label}), len(list)
		}
		b := &list[i]
		b.turns, b.repeated = append(b.turns, p.Turn), b.repeated+p.Repeated
		if p.Repeated > b.worst {
			b.worst, b.Was, b.Now = p.Repeated, p.Was, p.Now
		}
	}
	slices.SortStableFunc(list, func(a, b pageBreak) int { return b.repeated - a.repeated })
	const shown = 6
	list = list[:min(len(list), shown)]
	for i := range list {
		list[i].Repeated, list[i].Turns = grouped(list[i].repeated)+" tokens", turnList(list[i].turns)
		if priced {
			list[i].Cost = dollars(float64(list[i].repeated) * (price.Input - price.Cached) / 1e6)
		}
	}
	return list
}

// turnList names turns, neighbours as a range.
func turnList(turns []int) string {
	var parts []string
	for i := 0; i < len(turns); {
		end := i
		for end+1 < len(turns) && turns[end+1] == turns[end]+1 {
			end++
		}
		part := strconv.Itoa(turns[i])
		if end > i {
			part += "–" + strconv.Itoa(turns[end])
		}
		parts, i = append(parts, part), end+1
	}
	return strings.Join(parts, ", ")
}

// niceStep is a round distance that gives a scale three lines or more.
func niceStep(top int) int {
	step := 1
	for _, factor := range []int{1, 2, 5} {
		for s := factor; s <= max(1, top); s *= 10 {
			if top/s >= 3 && s > step {
				step = s
			}
		}
	}
	return step
}

// grouped writes a number with a comma between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// short writes a number for an axis.
func short(n int) string {
	if n >= 1000 {
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) + "k"
	}
	return strconv.Itoa(n)
}

func dollars(usd float64) string {
	if usd != 0 && usd < 0.01 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}
