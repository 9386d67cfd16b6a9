// Package shape describes what an author's file may hold. One description does
// two jobs: Check reports every deviation of a parsed node with its line, and
// Schema prints the same rules as JSON Schema for editors, so that the two can
// not disagree (spec 05 §1.3, §17).
//
//	tool := shape.Object{
//		{Name: "name", Is: shape.Text{Pattern: shape.ToolName}, Required: true},
//		{Name: "idempotent", Is: shape.Bool{}},
//	}
//	shape.Check(tool, "contributes.tools[0]", node, "PLUGIN.md", report)
//
// Objects are strict: any other key is unknown-key.
package shape
