package identifier_test

import (
	"slices"
	"testing"

	"aliquot/internal/exchange/identifier"
)

func TestSame_KnowsAnIdentifierUnderAllItsKinds(t *testing.T) {
	t.Parallel()
	for id, want := range map[identifier.ID][]identifier.ID{
		{Kind: "rrid", Canonical: "RRID:CVCL_0320"}: {{Kind: "rrid",
			Canonical: "RRID:CVCL_0320"}, {Kind: "cellosaurus", Canonical: "CVCL_0320"}},
		{Kind: "rrid", Canonical: "RRID:Addgene_17448"}: {{Kind: "rrid",
			Canonical: "RRID:Addgene_17448"}, {Kind: "addgene", Canonical: "17448"}},
		{Kind: "rrid", Canonical: "RRID:IMSR_JAX:000664"}: {{Kind: "rrid",
			Canonical: "RRID:IMSR_JAX:000664"}, {Kind: "imsr", Canonical: "IMSR_JAX:000664"}},
		{Kind: "rrid", Canonical: "RRID:MGI:3840442"}: {{Kind: "rrid",
			Canonical: "RRID:MGI:3840442"}, {Kind: "mgi", Canonical: "MGI:3840442"}},
		{Kind: "rrid", Canonical: "RRID:MMRRC_000002-UNC"}: {{Kind: "rrid",
			Canonical: "RRID:MMRRC_000002-UNC"}, {Kind: "mmrrc", Canonical: "MMRRC_000002-UNC"}},
		{Kind: "rrid", Canonical: "RRID:SAMN19842595"}: {{Kind: "rrid",
			Canonical: "RRID:SAMN19842595"}, {Kind: "biosample", Canonical: "SAMN19842595"}},
		{Kind: "rrid", Canonical: "RRID:AB_262044"}: {{Kind: "rrid",
			Canonical: "RRID:AB_262044"}},
		{Kind: "accession", Canonical: "GSE2122"}: {{Kind: "geo",
			Canonical: "GSE2122"}},
		{Kind: "accession", Canonical: "10.5061/dryad.1"}: {{Kind: "doi",
			Canonical: "10.5061/dryad.1"}},
		{Kind: "accession", Canonical: "PXD000001"}: {{Kind: "accession",
			Canonical: "PXD000001"}},
		{Kind: "doi", Canonical: "10.1038/nprot.2006.17"}: {{Kind: "doi",
			Canonical: "10.1038/nprot.2006.17"}},
		{Kind: "orcid", Canonical: "0000-0002-1825-0097"}: {{Kind: "orcid",
			Canonical: "0000-0002-1825-0097"}},
		{Kind: "protocols-doi", Canonical: "dx.doi.org/10.17504/protocols.io.bbmuik6w"}: {{Kind: "doi",
			Canonical: "10.17504/protocols.io.bbmuik6w"}},
	} {
		if got := identifier.Same(id); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", id, got, want)
		}
	}
}
