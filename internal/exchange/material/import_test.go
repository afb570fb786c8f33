package material_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange/material"
)

func TestImport_SourceFollowsFromTheIdentifier(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, source, want string }{ // want: canonical, or the error if there is no source
		{" gse2122 ", material.SourceGEO, "GSE2122"},
		{"GSM123", material.SourceGEO, "GSM123"},
		{"https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122&targ=self", material.SourceGEO, "GSE2122"},
		{"srp045225", material.SourceSRA, "SRP045225"},
		{"PRJNA257197", material.SourceSRA, "PRJNA257197"},
		{"https://www.ncbi.nlm.nih.gov/sra/?term=SRR000123", material.SourceSRA, "SRR000123"},
		{"https://www.ebi.ac.uk/ena/browser/view/ERP000456", material.SourceSRA, "ERP000456"},
		{"doi:10.17504/protocols.io.BBMUIK6W", material.SourceProtocols, "dx.doi.org/10.17504/protocols.io.bbmuik6w"},
		{"protocols.io.bbmuik6w", material.SourceProtocols, "dx.doi.org/10.17504/protocols.io.bbmuik6w"},
		{"GPL570", "", "GPL570 is a GEO platform"},
		{"SRA713167", "", "SRA713167 is an SRA submission"},
		{"10.1038/nature10910", "", "it is not a GEO or SRA accession"},
		{"2122", "", "it is not a GEO or SRA accession"},
		{"GSE1 GSE2", "", "it is not a GEO or SRA accession"},
		{"", "", "it is not a GEO or SRA accession"},
	} {
		o, err := material.ParseImportIdentifier(c.text)
		switch {
		case c.source == "":
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%q: %+v, %v, want %s", c.text, o, err, c.want)
			}
		case err != nil || o.Source != c.source || o.Identifier != c.want:
			t.Errorf("%q: %+v, %v, want %s %s", c.text, o, err, c.source, c.want)
		}
	}
}
