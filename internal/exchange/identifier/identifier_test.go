package identifier_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange/identifier"
)

func TestKinds_HaveSamples(t *testing.T) {
	t.Parallel()
	for _, kind := range identifier.Kinds() {
		s := table[kind]
		if len(s.good) == 0 || len(s.bad) == 0 {
			t.Errorf("%s has no good or no bad samples", kind)
		}
		if kind.Label() == "" {
			t.Errorf("%s has no label", kind)
		}
		if canonical, warning, err := identifier.Parse(kind, kind.Example()); canonical != kind.Example() ||
			warning != "" || err != nil {
			t.Errorf("the example of %s, %q, parses to %q, %q, %v", kind, kind.Example(), canonical, warning, err)
		}
	}
}

func TestParse_GivesTheCanonicalForm(t *testing.T) {
	t.Parallel()
	for kind, s := range table {
		for in, want := range s.good {
			if got, warning, err := identifier.Parse(kind, in); got != want || warning != "" || err != nil {
				t.Errorf("%s: Parse(%q) = %q, %q, %v; want %q", kind, in, got, warning, err, want)
			}
		}
	}
}

func TestParse_UnknownPrefixIsAWarning(t *testing.T) {
	t.Parallel()
	for kind, s := range table {
		for in, want := range s.odd {
			if got, warning, err := identifier.Parse(kind, in); got != want || warning == "" || err != nil {
				t.Errorf("%s: Parse(%q) = %q, %q, %v; want %q and a warning", kind, in, got, warning, err, want)
			}
		}
	}
}

func TestParse_RefusesWrongSyntaxAndCheckDigits(t *testing.T) {
	t.Parallel()
	for kind, s := range table {
		for _, in := range append(s.bad, "", " ", "\x00", strings.Repeat("9", 300), "\xff\xfe", "東京") {
			got, _, err := identifier.Parse(kind, in)
			if err == nil {
				t.Errorf("%s: Parse(%q) = %q; want an error", kind, in, got)
			} else if !strings.Contains(err.Error(), "such as") && !strings.Contains(err.Error(), "written like") {
				t.Errorf("%s: Parse(%q) says %q, without an example", kind, in, err)
			}
		}
	}
}

func TestImportKinds_LeadToOneRecord(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parse    func(string) (string, error)
		in, want string // or what the error contains
	}{
		{identifier.GEOImport, "gse2122", "GSE2122"},
		{identifier.GEOImport, "GSM123", "GSM123"},
		{identifier.GEOImport, "GPL570", "is a GEO platform"},
		{identifier.GEOImport, "GDS507", "is a GEO curated dataset"},
		{identifier.GEOImport, "srp045225",
			"SRP045225 belongs to the SRA, not to GEO; import it with import_source SRA"},
		{identifier.GEOImport, "PRJNA257197",
			"PRJNA257197 belongs to the SRA, not to GEO; import it with import_source SRA"},
		{identifier.GEOImport, "2122", "a GEO series is GSE and a number, such as GSE2122"},
		{identifier.SRAImport, "erp001942", "ERP001942"},
		{identifier.SRAImport, "SRX123456", "SRX123456"},
		{identifier.SRAImport, "SRR1039508", "SRR1039508"},
		{identifier.SRAImport, "SRS694077", "SRS694077"},
		{identifier.SRAImport, "prjeb1787", "PRJEB1787"},
		{identifier.SRAImport, "SRA333195", "is an SRA submission"},
		{identifier.SRAImport, "ERZ1234567", "is an SRA analysis"},
		{identifier.SRAImport, "GSM123", "GSM123 belongs to GEO, not to the SRA; import it with import_source GEO"},
		{identifier.SRAImport, "45225", "an SRA study is SRP, ERP or DRP and six or more digits"},
		{identifier.ProtocolsImport, "protocols.io.bbmuik6w/v2", "dx.doi.org/10.17504/protocols.io.bbmuik6w/v2"},
		{identifier.ProtocolsImport, "https://www.protocols.io/view/0-9-Saline-solution-ddr92596?step=1",
			"protocols.io/view/0-9-saline-solution-ddr92596"},
		{identifier.ProtocolsImport, "protocols.io/view/x-kxygxe81zv8j/v2/abstract",
			"protocols.io/view/x-kxygxe81zv8j/v2"},
		{identifier.ProtocolsImport, "protocols.io/view/0-9-saline-solution-ddr92596",
			"protocols.io/view/0-9-saline-solution-ddr92596"},
		{identifier.ProtocolsImport, "10.1038/nature10910", "a protocols.io DOI is"},
	} {
		got, err := test.parse(test.in)
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%q gives %q, want %q", test.in, got, test.want)
		}
	}
}

func TestImportKinds_TakeSeriesAndStudies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parse    func(string) (string, error)
		in, want string // want "" means an error
	}{
		{identifier.GEOSeries, "gse2122", "GSE2122"},
		{identifier.GEOSeries, "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122", "GSE2122"},
		{identifier.GEOSeries, "GSM123", ""},
		{identifier.GEOSeries, "GPL570", ""},
		{identifier.GEOSeries, "SRP045225", ""},
		{identifier.SRAStudy, "srp045225", "SRP045225"},
		{identifier.SRAStudy, "ERP001942", "ERP001942"},
		{identifier.SRAStudy, "DRP003977", "DRP003977"},
		{identifier.SRAStudy, "SRX123456", ""},
		{identifier.SRAStudy, "SRR1039508", ""},
		{identifier.SRAStudy, "GSE2122", ""},
	} {
		if got, err := test.parse(test.in); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q gives %q, %v; want %q", test.in, got, err, test.want)
		}
	}
}

func TestKind_UnknownIsAnError(t *testing.T) {
	t.Parallel()
	if _, _, err := identifier.Parse("isbn", "0"); err == nil {
		t.Error("isbn is no kind")
	}
}

func TestIdentifier_HasAnAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind            identifier.Kind
		canonical, want string
	}{
		{"orcid", "0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097"},
		{"protocols-doi", "dx.doi.org/10.17504/protocols.io.bbmuik6w",
			"https://dx.doi.org/10.17504/protocols.io.bbmuik6w"},
		{"accession", "GSE2122", "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122"},
		{"accession", "syn5522637", ""},
		{"country", "DE", ""},
	} {
		if got := test.kind.Address(test.canonical); got != test.want {
			t.Errorf("%s %s is at %q; want %q", test.kind, test.canonical, got, test.want)
		}
	}
}

func TestCountry_IsFoundByCodesAndName(t *testing.T) {
	t.Parallel()
	all := identifier.Countries()
	if len(all) != 249 {
		t.Errorf("%d countries; ISO 3166-1 has 249", len(all))
	}
	for _, c := range all {
		for _, s := range []string{c.Alpha2, c.Alpha3, c.Name, strings.ToLower(c.Name)} {
			if got, err := identifier.Country(s); got != c.Alpha2 || err != nil {
				t.Errorf("Country(%q) = %q, %v; want %s", s, got, err, c.Alpha2)
			}
		}
	}
}

func TestParse_TakesRealMaterials(t *testing.T) {
	t.Parallel()
	rows := realMaterials(t)
	for _, row := range rows {
		kinds := map[string]identifier.Kind{"rrid": "rrid", "doi": "protocols-doi", "pubmed_id": "pmid"}
		if row["category"] == "DATASET" {
			kinds["catalogue_number"] = "accession"
		}
		if row["vendor"] == "JAX" {
			kinds["catalogue_number"] = "imsr"
		}
		for column, kind := range kinds {
			for cell := range strings.SplitSeq(row[column], ";") {
				if cell = strings.TrimSpace(cell); cell == "" {
					continue
				}
				canonical, warning, err := identifier.Parse(kind, cell)
				if err != nil || warning != "" {
					t.Errorf("%s: %s %q: %q %v", row["name"], column, cell, warning, err)
				}
				if column == "rrid" && canonical != cell {
					t.Errorf("%s: %q is canonical already, not %q", row["name"], cell, canonical)
				}
			}
		}
	}
}

// realMaterials reads data/materials/real-materials.csv of the folder "shared" next to the checkout; without that
// folder, the test ends here.
func realMaterials(t *testing.T) (rows []map[string]string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		file, err := os.Open(filepath.Join(dir, "..", "shared", "data", "materials", "real-materials.csv"))
		if err != nil {
			continue
		}
		defer file.Close()
		records, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records[1:] {
			row := map[string]string{}
			for i, cell := range record {
				row[records[0][i]] = cell
			}
			rows = append(rows, row)
		}
		return rows
	}
	return nil
}

func TestKinds_AreSorted(t *testing.T) {
	t.Parallel()
	if kinds := identifier.Kinds(); !slices.IsSorted(kinds) || len(kinds) < 20 {
		t.Errorf("kinds: %v", kinds)
	}
}
