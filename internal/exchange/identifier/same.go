package identifier

import "strings"

// ID is an identifier in the canonical form of its kind.
type ID struct {
	Kind      Kind
	Canonical string
}

// Address is where its record is found on the web, "" when not known.
func (id ID) Address() string { return id.Kind.Address(id.Canonical) }

// authoritative are the kinds of identifiers that an RRID is made of, each with RRID: before it.
var authoritative = []Kind{"cellosaurus", "addgene", "imsr", "mgi", "mmrrc", "biosample"}

// Same lists what an identifier in canonical form is called under all kinds, its own first: the
// RRID of a cell line is its Cellosaurus accession too, an accession belongs to its archive, and a
// protocols.io DOI is a DOI.
func Same(id ID) []ID {
	switch id.Kind {
	case "accession":
		if kind := archiveOf(id.Canonical); kind != "" {
			id.Kind = kind
		}
	case "protocols-doi":
		return []ID{{"doi", strings.TrimPrefix(id.Canonical, "dx.doi.org/")}}
	case "rrid":
		for _, kind := range authoritative {
			if local, _, err := Parse(kind, strings.TrimPrefix(id.Canonical, "RRID:")); err == nil {
				return []ID{id, {kind, local}}
			}
		}
	}
	return []ID{id}
}
