package assembler

import "github.com/covel-engine/covel/assembler/ordered"

// LocalisedDimension gives a dimension's value with each node that its schema
// marks with x-i18n as the one text of a locale (spec 05 §12.7), for tools that
// show values as the segments do.
func LocalisedDimension(value, schema ordered.Value, tag string) ordered.Value {
	return localise(value, schema, tag)
}
