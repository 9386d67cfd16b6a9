package model

// dialect is how a protocol spells reasoning settings (spec 04 §10.3).
type dialect int

const (
	scriptedDialect dialect = iota
	chatDialect
	responsesDialect
	anthropicDialect
	geminiDialect
)
