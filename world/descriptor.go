package world

import (
	"errors"
	"fmt"
	"mime"
	"path"
	"slices"
	"strings"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/plugin/shape"
	"github.com/covel-engine/covel/plugin/source"
)

type pluginSetting = plugin.Setting

// Targets of a source (spec 05 §12.3).
const (
	toMetadata   = "world:metadata"
	toContract   = "contract"
	toLorebook   = "lorebook"
	toCharacters = "characters"
	toMedia      = "media"
	toDimensions = "dimensions" // world:metadata.dimensions
)

// Contracts that the engine itself reads from a world.
const (
	contractCards      = "character.blueprints@1"
	contractDimensions = "world.dimensions@1"
)

// Bounds of a pack's media, in bytes: one file, all files.
const (
	maxMedia    = 20 << 20
	maxAllMedia = 100 << 20
)

// readSources reads the descriptor, or the files of the usual places.
func (p *pack) readSources() {
	descriptor := p.root.Root.Get("worldData")
	if descriptor == nil {
		for _, s := range []Source{
			{ID: "characters", Kind: "json", Path: "characters/characters.json", To: toCharacters},
			{ID: "main-cast", Kind: "json", Path: "characters/main-cast.json", To: toContract, Contract: contractCards},
			{ID: "dimensions", Kind: "yaml", Path: "data/dimensions.yaml", To: toDimensions},
			{ID: "lorebook", Kind: "yaml", Path: "data/lorebook.yaml", To: toLorebook},
			{ID: "memory-blocks", Kind: "json", Path: "data/memory-blocks.json", To: toContract, Contract: "memory.blocks@1"},
		} {
			if p.dir.Exists(s.Path) {
				s.Implied = true
				p.readSource(s, source.Ref{})
			}
		}
		return
	}
	file, ok := p.dir.Document(descriptor.Str(), "", source.Ref{Path: p.root.Path, Line: descriptor.Line, Field: "worldData"}, p.report)
	if !ok {
		return
	}
	shape.Check(DescriptorShape(), "", file.Root, file.Path, p.report)
	list := file.Root.Get("sources")
	order := p.sourceOrder(list, file.Path)
	for _, id := range order {
		n := list.Get(id)
		field := "sources." + id
		s := Source{
			ID: id, Kind: n.Get("kind").Str(), Path: n.Get("path").Str(), Key: n.Get("key").Str(), IndexTo: n.Get("indexTo").Str(),
			Effects: n.Get("effects").Str(), Locale: n.Get("locale").Str(), SkipExists: n.Get("merge").Str() == "skipExisting",
			After: n.Get("after").Strings(), Hidden: n.Get("visibility").Str() == "hidden", ArrayKeys: ArrayKeys{Any: n.Get("localeArrayKeys").Strings(), ByList: map[string]string{}},
		}
		for _, f := range fields(n.Get("localeArrayKeys")) {
			s.ArrayKeys.ByList[f.Key] = f.Value.Str()
		}
		target := p.target(&s, n.Get("to"), file.Path, field)
		p.checkSourceFields(&s, n, file.Path, field)
		if target && n.Get("enabled").True(true) && s.Path != "" {
			p.readSource(s, source.Ref{Path: file.Path, Line: n.Get("path").LineOr(n.Line), Field: field + ".path"})
		}
	}
}

func (p *pack) target(s *Source, n *source.Node, file, field string) bool {
	to := n.Str()
	switch {
	case to == "":
		return false
	case to == toLorebook || to == toCharacters || to == toMedia:
		s.To = to
	case shape.MetadataTarget.Match(to):
		s.To, s.Metadata = toMetadata, strings.Split(strings.TrimPrefix(to, "world:metadata."), ".")
		if to == "world:metadata.dimensions" {
			s.To = toDimensions
		}
	case strings.HasPrefix(to, "contract:"):
		name, plus := strings.CutSuffix(strings.TrimPrefix(to, "contract:"), "+lorebook")
		s.To, s.Contract, s.Lorebook = toContract, name, plus
		if !shape.Contract.Match(name) {
			p.report.Add("invalid-value", file, n.Line, field+".to", fmt.Sprintf("%s.to %q names no contract", field, to), "Write contract:<name>@<version>.")
			return false
		}
		if name == contractDimensions {
			s.To = toDimensions
		}
	default:
		p.report.Add("invalid-value", file, n.Line, field+".to", fmt.Sprintf("%s.to %q is no target", field, to), "Use world:metadata.<path>, contract:<id>, contract:<id>+lorebook, lorebook, characters or media.")
		return false
	}
	return true
}

func (p *pack) checkSourceFields(s *Source, n *source.Node, file, field string) {
	forbid := func(name, why string) {
		if x := n.Get(name); x != nil {
			p.report.Add("forbidden-field", file, x.Line, field+"."+name, fmt.Sprintf("%s.%s %s %s", field, name, source.Show(x), why), "Remove it, or change the target.")
		}
	}
	if s.Hidden && (s.To != toContract || s.Lorebook) {
		forbid("visibility", "hidden needs a target contract:<id>")
	}
	if s.To != toMedia {
		forbid("indexTo", "needs the target media")
	}
	if s.To != toMetadata {
		forbid("locale", "needs a target world:metadata.<path>")
	}
	if ref := n.Get("schema"); ref != nil {
		s.schema = p.checkSchemaRef(ref, file, field+".schema")
	}
}

// checkAgainst compares a source with the schema file that it names.
func (p *pack) checkAgainst(s Source, file *source.File) {
	if s.schema == nil {
		return
	}
	if err := s.schema.Validate(file.Root.JSON()); err != nil {
		p.report.Add("invalid-value", file.Path, 1, "", fmt.Sprintf("%s breaks the schema of source %q: %v", file.Path, s.ID, err), "Correct the file or the schema.")
	}
}

func (p *pack) checkSchemaRef(n *source.Node, file, field string) *plugin.Schema {
	name := n.Str()
	switch {
	case name == "covel://world/dimensions" || name == "":
	case strings.HasPrefix(name, "contract:"):
		if !shape.Contract.Match(strings.TrimPrefix(name, "contract:")) {
			p.report.Add("invalid-value", file, n.Line, field, fmt.Sprintf("%s %q names no contract", field, name), "Write contract:<name>@<version>.")
		}
	default:
		doc, ok := p.dir.Document(name, "schema-invalid", source.Ref{Path: file, Line: n.Line, Field: field}, p.report)
		if !ok {
			return nil
		}
		s, err := plugin.CompileSchema(doc.Root.JSON())
		if err != nil {
			p.report.Add("schema-invalid", name, 1, field, fmt.Sprintf("%s, named by %s, is no usable JSON Schema: %v", name, field, err), "Correct the schema.")
			return nil
		}
		return s
	}
	return nil
}

// sourceOrder sorts the sources so that each comes behind its after entries,
// else as written.
func (p *pack) sourceOrder(list *source.Node, file string) []string {
	var order []string
	state := map[string]int{} // 1 visiting, 2 done
	var visit func(id string, path []string) bool
	visit = func(id string, path []string) bool {
		switch state[id] {
		case 2:
			return true
		case 1:
			cycle := slices.Concat(path[slices.Index(path, id):], []string{id})
			p.report.Add("source-cycle", file, list.Get(id).LineOr(1), "sources."+id+".after", fmt.Sprintf("sources.%s.after: %s wait for each other", id, strings.Join(cycle, " → ")), "Remove one of the after entries.")
			return false
		}
		state[id] = 1
		for i, n := range items(list.Get(id).Get("after")) {
			if !list.Has(n.Str()) {
				field := shape.Index("sources."+id+".after", i)
				p.report.Add("unknown-reference", file, n.Line, field, fmt.Sprintf("%s %s is no source", field, source.Show(n)), "Name a source of this descriptor.")
				continue
			}
			if !visit(n.Str(), append(path, id)) {
				state[id] = 2
				return true
			}
		}
		state[id] = 2
		order = append(order, id)
		return true
	}
	for _, f := range fields(list) {
		visit(f.Key, nil)
	}
	return order
}

// readSource reads and checks one source's file.
func (p *pack) readSource(s Source, ref source.Ref) {
	switch s.Kind {
	case "media":
		if !p.readMedia(s, ref) {
			return
		}
	case "markdown", "text":
		text, ok := p.dir.Text(s.Path, ref, p.report)
		if !ok {
			return
		}
		s.doc = document{path: s.Path, root: &source.Node{Kind: source.String, Line: 1, Text: text}, overlays: map[string]*source.Node{}}
		for _, v := range p.overlayFiles(s.Path) {
			if text, ok := p.dir.Text(v.path, source.Ref{}, p.report); ok {
				s.doc.overlays[v.locale] = &source.Node{Kind: source.String, Line: 1, Text: text}
			}
		}
	default:
		file, ok := p.dir.Document(s.Path, "", ref, p.report)
		if !ok {
			return
		}
		s.doc = document{path: s.Path, root: file.Root, overlays: p.overlays(s.Path)}
		p.checkSourceContent(s, file)
		p.checkAgainst(s, file)
	}
	p.world.Sources = append(p.world.Sources, s)
}

func (p *pack) readMedia(s Source, ref source.Ref) bool {
	bytes, err := p.dir.ReadMax(s.Path, maxMedia)
	if p.mediaBytes += len(bytes); errors.Is(err, source.ErrTooLarge) || p.mediaBytes > maxAllMedia {
		p.report.Add("file-too-large", s.Path, 0, ref.Field, fmt.Sprintf("%s makes the media too large: a file has at most %d bytes, all of a world %d", s.Path, maxMedia, maxAllMedia), "Use a smaller file.")
		return false
	}
	if err != nil {
		p.dir.Text(s.Path, ref, p.report) // says why
		return false
	}
	p.world.media[s.ID] = Media{SourceID: s.ID, Path: s.Path, Mime: mime.TypeByExtension(path.Ext(s.Path)), Bytes: bytes}
	return true
}

func (p *pack) checkSourceContent(s Source, file *source.File) {
	before := len(p.report.Findings)
	switch s.To {
	case toCharacters:
		shape.Check(CharactersShape(), "", file.Root, file.Path, p.report)
		p.checkCharacters(file)
	case toLorebook:
		shape.Check(LorebookShape(), "", file.Root, file.Path, p.report)
		p.checkLorebook(file)
	case toDimensions:
		shape.Check(DimensionsShape(), "", file.Root, file.Path, p.report)
		p.checkDimensions(file.Root, file.Path, "")
	case toContract:
		if s.Contract == contractCards {
			shape.Check(CardsShape(), "", file.Root, file.Path, p.report)
			for i, n := range file.Root.Items {
				p.cards = append(p.cards, located{node: n, path: file.Path, at: shape.Index("", i)})
			}
		}
		if len(p.report.Findings) == before { // else the rows' errors are known
			p.checkContractRows(s, file)
		}
	}
}

// checkContractRows compares each row with the schema of the first installed
// namespace that accepts the contract.
func (p *pack) checkContractRows(s Source, file *source.File) {
	if p.cfg.Plugins == nil {
		return
	}
	var ids []string
	for _, m := range p.cfg.Plugins.Plugins() {
		ids = append(ids, m.ID)
	}
	receivers := p.cfg.Plugins.Active(ids).Receivers(s.Contract)
	if len(receivers) == 0 {
		return
	}
	rows, err := rowsOf(s, file.Root, receivers[0])
	if err != nil {
		p.report.Add("invalid-value", file.Path, 1, "", fmt.Sprintf("%s for contract %s: %v", file.Path, s.Contract, err), "Write a map of rows, or a list of rows with a key.")
		return
	}
	schema, err := p.cfg.Plugins.Schema(receivers[0].Namespace.Schema)
	if err != nil {
		return
	}
	for _, r := range rows {
		if err := schema.Validate(r.value.JSON()); err != nil {
			p.report.Add("invalid-value", file.Path, r.value.Line, r.key, fmt.Sprintf("row %q of contract %s: %v", r.key, s.Contract, err), "Correct the row; the schema is that of namespace "+receivers[0].Name+" of plugin "+receivers[0].PluginID+".")
		}
	}
}
