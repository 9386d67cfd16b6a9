// Package source reads the files that authors write: Markdown with YAML
// frontmatter, YAML and JSON, each into a tree of Nodes that knows its lines
// and keeps written order, so that every problem can be reported where it
// stands (spec 05 §1.3, §17).
//
// Reading is bounded: a file has at most 4 MiB, a document at most 100 levels
// and 100,000 values after aliases are expanded, and a path can not leave its
// package, through links neither.
//
//	pkg, err := source.OpenDir("plugins/dice-check")
//	if err != nil {
//		return err
//	}
//	defer pkg.Close()
//	report := &source.Report{Package: pkg.Name}
//	file, ok := pkg.Frontmatter("PLUGIN.md", report)
//	if !ok {
//		return report.Err()
//	}
//	fmt.Println(file.Root.Get("id").Text, "has a body of", len(file.Body), "bytes")
package source
