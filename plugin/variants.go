package plugin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

// variantNames are the Chinese variants, in the order in which they are
// chosen without an exact match (spec 05 §10).
var variantNames = []string{"zh", "zh-Hans", "zh-CN"}

// variantFree are the members whose value a variant may change.
var variantFree = []string{"description", "displayName", "label", "title", "hint", "content"}

// loadVariants reads the translated bodies and static segments.
func (p *pkg) loadVariants() {
	p.ignoreOthers("", "PLUGIN")
	root := p.variantsOf("", "PLUGIN", p.root)
	segments := p.root.Root.Get("contributes").Get("prompt")
	mismatch := false // reported as variant-structure
	for i := range p.manifest.Contributes.Prompt {
		s := &p.manifest.Contributes.Prompt[i]
		for _, name := range variantNames {
			v := root[name]
			if v == nil {
				continue
			}
			list := items(v.Root.Get("contributes").Get("prompt"))
			if len(list) != len(items(segments)) || i >= len(list) {
				mismatch = mismatch || list != nil
				continue
			}
			if text := list[i].Get("content").Str(); text != "" {
				setVariant(s.Content, name, text)
			}
		}
		if s.Content["zh"] == "" && s.ID != "" && !mismatch {
			field := shape.Index("contributes.prompt", i) + ".content"
			p.variantMissing(p.root.Path, segments.Items[i].Get("id").LineOr(1), field, fmt.Sprintf("%s: static segment %q has no Chinese content", field, s.ID))
		}
	}
	for i, rf := range p.runtimes {
		variants := root
		if rf.folder != "" {
			p.ignoreOthers(rf.folder, "RUNTIME")
			variants = p.variantsOf(rf.folder, "RUNTIME", rf.file)
		}
		r := p.manifest.Runtimes[i]
		for _, name := range variantNames {
			v := variants[name]
			if v == nil || strings.TrimSpace(v.Body) == "" {
				continue
			}
			setVariant(r.Body, name, trimBody(v.Body))
			if r.Type == "agent" {
				p.compareBodies(r, v, rf)
			}
		}
		if r.Type == "agent" && r.Body["zh"] == "" && rf.node.Kind == source.Map {
			p.variantMissing(rf.file.Path, 1, "", fmt.Sprintf("agent %s has no Chinese body", r.ID))
		}
	}
}

// setVariant stores a text under its exact name and, for the first one found,
// under the instruction language.
func setVariant(texts map[string]string, name, text string) {
	texts[name] = text
	if texts["zh"] == "" {
		texts["zh"] = text
	}
}

func (p *pkg) variantMissing(path string, line int, field, problem string) {
	fix := "Add a variant like " + strings.TrimSuffix(path, ".md") + ".zh.md with the translated text."
	if p.manifest.Kind == "core" {
		p.report.Add("variant-missing", path, line, field, problem, fix)
		return
	}
	p.report.Warn("variant-missing", path, line, field, problem, fix)
}

func (p *pkg) ignoreOthers(folder, base string) {
	for _, name := range p.dir.Files(orDot(folder)) {
		locale, ok := strings.CutPrefix(name, base+".")
		locale, isMarkdown := strings.CutSuffix(locale, ".md")
		if !ok || !isMarkdown || locale == "" || locale == "md" || name == base+".md" || slices.Contains(variantNames, locale) {
			continue
		}
		p.report.Warn("variant-ignored", join(folder, name), 0, "", fmt.Sprintf("variant %q is never read; instructions exist in English and Chinese", locale), "Use .zh.md for Chinese, or remove the file.")
	}
}

func orDot(folder string) string {
	if folder == "" {
		return "."
	}
	return folder
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

func (p *pkg) variantsOf(folder, base string, canonical *source.File) map[string]*source.File {
	out := map[string]*source.File{}
	for _, name := range variantNames {
		path := join(folder, base+"."+name+".md")
		if !p.dir.Exists(path) {
			continue
		}
		file, ok := p.dir.Frontmatter(path, p.report)
		if !ok {
			continue
		}
		out[name] = file
		p.variants[path] = file
		p.compareStructure(file, "", file.Root, canonical.Root)
	}
	return out
}

// compareStructure reports where a variant's frontmatter differs from the
// canonical one in anything but free texts.
func (p *pkg) compareStructure(file *source.File, field string, v, canonical *source.Node) {
	report := func(n *source.Node, field, what string) {
		p.report.Warn("variant-structure", file.Path, n.Line, field, fmt.Sprintf("%s %s %s; the canonical file wins", field, source.Show(n), what), "Remove it from the variant; only texts may differ.")
	}
	if canonical == nil || v.Kind != canonical.Kind {
		report(v, field, "differs from the canonical file")
		return
	}
	switch v.Kind {
	case source.Map:
		for _, f := range v.Fields {
			child := canonical.Get(f.Key)
			if slices.Contains(variantFree, f.Key) && f.Value.Kind == source.String && (child == nil || child.Kind == source.String) {
				continue
			}
			p.compareStructure(file, shape.Join(field, f.Key), f.Value, child)
		}
	case source.List:
		if len(v.Items) != len(canonical.Items) {
			report(v, field, fmt.Sprintf("has %d entries, the canonical file %d", len(v.Items), len(canonical.Items)))
			return
		}
		for i := range v.Items {
			p.compareStructure(file, shape.Index(field, i), v.Items[i], canonical.Items[i])
		}
	case source.Null, source.Bool, source.Number, source.String:
		if v.Text != canonical.Text {
			report(v, field, "differs from "+source.Show(canonical))
		}
	}
}

var (
	tagName   = regexp.MustCompile(`</?([A-Za-z][A-Za-z0-9_-]*)>`)
	inputName = regexp.MustCompile(`runtime-inputs\.([A-Za-z][A-Za-z0-9_-]*)`)
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
)

// named gives what a body names: tools in backticks, block tags, inputs.
func (p *pkg) named(body string) map[string]bool {
	out := map[string]bool{}
	for _, m := range codeSpan.FindAllStringSubmatch(body, -1) {
		name, _, _ := strings.Cut(m[1], "(")
		if slices.Contains(BuiltinTools, name) || slices.ContainsFunc(p.manifest.Contributes.Tools, func(t ToolDecl) bool { return t.Name == name }) {
			out["tool `"+name+"`"] = true
		}
	}
	for _, m := range tagName.FindAllStringSubmatch(body, -1) {
		out["tag <"+m[1]+">"] = true
	}
	for _, m := range inputName.FindAllStringSubmatch(body, -1) {
		out["runtime-inputs."+m[1]] = true
	}
	return out
}

func (p *pkg) compareBodies(r *Runtime, v *source.File, rf runtimeFile) {
	canonical, variant := p.named(r.Body["en"]), p.named(v.Body)
	var missing, extra []string
	for _, name := range sortedKeys(canonical) {
		if !variant[name] {
			missing = append(missing, name)
		}
	}
	for _, name := range sortedKeys(variant) {
		if !canonical[name] {
			extra = append(extra, name)
		}
	}
	var parts []string
	if missing != nil {
		parts = append(parts, "does not name "+strings.Join(missing, ", "))
	}
	if extra != nil {
		parts = append(parts, "names "+strings.Join(extra, ", ")+" that the English body does not")
	}
	if parts != nil {
		p.report.Add("variant-mismatch", v.Path, v.BodyLine, "", fmt.Sprintf("the body of %s %s (compare %s)", v.Path, strings.Join(parts, " and "), rf.file.Path), "Name the same tools, tags and inputs in both bodies.")
	}
}
