package turn

// Progress answers query progress on a Turn and on a Stage; a client merges
// the two. Runtimes at work have status running.
type Progress struct {
	LogicalTurn int            `json:"logicalTurn,omitempty"`
	Stage       string         `json:"stage,omitempty"`
	Children    []string       `json:"children,omitempty"`
	Runtimes    []RuntimeFacts `json:"runtimes,omitempty"`
}
