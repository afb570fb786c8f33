package identifier

import "strings"

// ID is an identifier in the canonical form of its kind.
type ID struct {
	Kind      Kind
	Canonical string
}

// Address returns the web address of its record, "" if not known.
func (id ID) Address() string { return id.Kind.Address(id.Canonical) }

// authoritative lists the kinds of identifiers that become an RRID with RRID: before them, each with how these begin.
var authoritative = []struct {
	kind   Kind
	prefix string
}{{"cellosaurus", "RRID:CVCL_"}, {"addgene", "RRID:Addgene_"}, {"imsr", "RRID:IMSR_"}, {"mgi", "RRID:MGI:"},
	{"mmrrc", "RRID:MMRRC_"}, {"biosample", "RRID:SAM"}}

// Same returns an identifier in canonical form under all its kinds, its own first: the RRID of a cell line is its
// Cellosaurus accession too, an accession belongs to its archive, and a protocols.io DOI is a DOI.
func Same(id ID) []ID {
	switch id.Kind {
	case "accession":
		if kind := archiveOf(id.Canonical); kind != "" {
			id.Kind = kind
		}
	case "protocols-doi":
		return []ID{{"doi", strings.TrimPrefix(id.Canonical, "dx.doi.org/")}}
	case "rrid":
		for _, a := range authoritative {
			if !strings.HasPrefix(id.Canonical, a.prefix) {
				continue
			}
			if local, _, err := Parse(a.kind, strings.TrimPrefix(id.Canonical, "RRID:")); err == nil {
				return []ID{id, {a.kind, local}}
			}
		}
	}
	return []ID{id}
}
