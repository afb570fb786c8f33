package material_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/material"

	"github.com/google/uuid"
)

func create(t *testing.T, text string) (material.Material, error) {
	t.Helper()
	return exchangetest.Body[material.Patch](t, text).Create()
}

func patched(t *testing.T, m material.Material, text string) (material.Material, error) {
	t.Helper()
	return exchangetest.Body[material.Patch](t, text).Patch(m)
}

func TestMaterial_NeedsCategoryTitleAndOrganization(t *testing.T) {
	t.Parallel()
	_, err := create(t, `{}`)
	exchangetest.WantFieldErrors(t, err, "category", "title", "organization_id")
	_, err = create(t, `{"category": " ", "title": "\n", "organization_id": 7}`)
	exchangetest.WantFieldErrors(t, err, "category", "title")
	m, err := create(t, `{"category": "PDX", "title": " Tumour 12 ", "organization_id": "7"}`)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "the smallest material", m,
		material.Material{Category: "PDX", Title: "Tumour 12", OrganizationID: 7, Metadata: []byte("{}")})
}

func TestMaterial_TakesOnlyTheContractsCategories(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"CELL_LINE", "PLASMID", "MODEL_ORGANISM", "PDX", "DATASET", "PROTOCOL", "OTHER"} {
		if _, err := create(t, `{"category": "`+c+`", "title": "x", "organization_id": 7}`); err != nil {
			t.Errorf("%s: got %v", c, err)
		}
	}
	for _, c := range []string{"cell_line", "MOUSE", "None"} {
		_, err := create(t, `{"category": "`+c+`", "title": "x", "organization_id": 7}`)
		exchangetest.WantFieldErrors(t, err, "category")
	}
}

func TestMaterial_NamesEveryWrongField(t *testing.T) {
	t.Parallel()
	wrong := `{
		"category": "DATASET", "title": "` + strings.Repeat("x", 501) +
		`", "url": "ftp://example.org", "pubmed_id": "PMC12", "import_source": "a\u0000b",
		"organisms": ["Mus\u0007"], "publication_title": "a\nb", "pre_print_doi": "11.1/x", "pre_print_title": "\u0001", "citation": "\u0001",
		"additional_info": "\u0001", "additional_metadata": {"num_samples": "many", "accession_code": "GSE"}}`
	names := []string{
		"title", "url", "pubmed_id", "import_source", "organisms", "publication_title", "pre_print_doi",
		"pre_print_title", "citation", "additional_info",
		"additional_metadata.num_samples", "additional_metadata.accession_code",
	}
	_, err := create(t, wrong)
	exchangetest.WantFieldErrors(t, err, append(slices.Clone(names), "organization_id")...)
	_, err = patched(t, exchangetest.Cells(), wrong)
	// A cell line has neither of the two keys of a dataset, so they are kept unchanged.
	exchangetest.WantFieldErrors(t, err, append(names[:len(names)-2], "category")...)
	for field, list := range exchangetest.FieldErrors(err) {
		if len(list) != 1 || list[0] == "" {
			t.Errorf("%s: got %q, want one sentence", field, list)
		}
	}
}

func TestMaterial_CategoryCannotChange(t *testing.T) {
	t.Parallel()
	_, err := patched(t, exchangetest.Cells(), `{"category": "DATASET"}`)
	exchangetest.WantFieldErrors(t, err, "category")
	m, err := patched(t, exchangetest.Cells(), `{"category": " CELL_LINE "}`)
	if err != nil || m.Category != "CELL_LINE" {
		t.Errorf("the same category: got %s, %v", m.Category, err)
	}
}

func TestMaterial_TitleCannotBeEmptied(t *testing.T) {
	t.Parallel()
	_, err := patched(t, exchangetest.Cells(), `{"title": "  "}`)
	exchangetest.WantFieldErrors(t, err, "title")
}

func TestPatch_AbsentKeepsAndNullClears(t *testing.T) {
	t.Parallel()
	full := `{
		"category": "CELL_LINE", "title": "HeLa", "url": "https://example.org/hela", "pubmed_id": "PMID: 13052828", "needs_mta": true, "needs_irb": true,
		"needs_abstract": true, "imported": true, "import_source": "GEO", "organisms": ["Homo sapiens", " Homo sapiens ", ""],
		"publication_title": "p", "pre_print_doi": "https://doi.org/10.1101/ABC", "pre_print_title": "q", "citation": "c", "additional_info": "i",
		"embargo_date": "2027-01-01", "contact_user_id": "` + exchangetest.MemberID.String() +
		`", "mta_attachment_id": {"id": 5}, "organization_id": 7,
		"shipping_requirements_id": "3", "additional_metadata": {"sex": " female ", "own key": {"kept": [1]}}}`
	m, err := create(t, full)
	if err != nil {
		t.Fatal(err)
	}
	want := material.Material{
		OrganizationID: 7, Category: "CELL_LINE", Title: "HeLa", URL: "https://example.org/hela", PubMedID: "13052828",
		Metadata: []byte(`{"own key":{"kept":[1]},"sex":"female"}`), NeedsMTA: true, NeedsIRB: true,
		NeedsAbstract:   true,
		MTAAttachmentID: new(int64(5)), ShippingID: new(int64(3)), Imported: true, ImportSource: "GEO",
		Organisms:        []string{"Homo sapiens"},
		PublicationTitle: new("p"), PrePrintDOI: new("10.1101/abc"), PrePrintTitle: new("q"), Citation: new("c"),
		AdditionalInfo: new("i"),
		EmbargoDate:    new(exchange.Date("2027-01-01")), ContactID: exchangetest.MemberID,
	}
	exchangetest.Same(t, "the full material", m, want)
	kept, err := patched(t, m, `{"id": 99, "created_at": "x"}`)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "after an empty patch", kept, want)
	again, err := patched(t, m, full)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "after the same once more", again, want)
	cleared, err := patched(t, m,
		`{"organisms": null, "publication_title": null, "pre_print_doi": null, "pre_print_title": null, "citation": null,
		"additional_info": null, "embargo_date": null, "mta_attachment_id": null, "shipping_requirements_id": null}`)
	if err != nil {
		t.Fatal(err)
	}
	want.Organisms, want.PublicationTitle, want.PrePrintDOI, want.PrePrintTitle, want.Citation,
		want.AdditionalInfo = nil, nil, nil, nil, nil, nil
	want.EmbargoDate, want.MTAAttachmentID, want.ShippingID = nil, nil, nil
	exchangetest.Same(t, "after null", cleared, want)
}

func TestMaterial_EmptyTextClearsAnIdentifier(t *testing.T) {
	t.Parallel()
	m := exchangetest.Cells()
	m.PubMedID, m.PrePrintDOI = "13052828", new("10.1101/abc")
	for _, empty := range []string{"", "  "} {
		got, err := patched(t, m, `{"pubmed_id": "`+empty+`", "pre_print_doi": "`+empty+`", "url": "`+empty+`"}`)
		if err != nil || got.PubMedID != "" || got.PrePrintDOI == nil || *got.PrePrintDOI != "" || got.URL != "" {
			t.Errorf("%q: got %q, %v, %q, %v, want them empty", empty, got.PubMedID, got.PrePrintDOI, got.URL, err)
		}
	}
}

func TestMaterial_WithAnMTANeedsOne(t *testing.T) {
	t.Parallel()
	with := exchangetest.Cells()
	with.MTAAttachmentID, with.NeedsMTA = new(int64(5)), true
	without := with
	without.NeedsMTA = false
	for _, test := range []struct {
		name  string
		old   material.Material
		patch string
		want  bool
	}{
		{"a new MTA", exchangetest.Cells(), `{"mta_attachment_id": 5}`, true},
		{"a new MTA, though needs_mta is sent as false", exchangetest.Cells(),
			`{"mta_attachment_id": 5, "needs_mta": false}`, true},
		{"another MTA", without, `{"mta_attachment_id": 6, "needs_mta": false}`, true},
		{"the same MTA sent back", without, `{"mta_attachment_id": 5, "needs_mta": false}`, false},
		{"another MTA, as a GET shows it", without, `{"mta_attachment": 6}`, true},
		{"what a GET showed, put back", with, `{"mta_attachment": 6, "needs_mta": false}`, false},
		{"not needed any more", with, `{"needs_mta": false}`, false},
		{"an MTA that goes", with, `{"mta_attachment_id": null}`, true},
		{"none", exchangetest.Cells(), `{"mta_attachment_id": null}`, false},
	} {
		if m, err := patched(t, test.old, test.patch); err != nil || m.NeedsMTA != test.want {
			t.Errorf("%s: got needs_mta %t, %v, want %t", test.name, m.NeedsMTA, err, test.want)
		}
	}
}

func TestMaterial_MetadataIsAnObjectOfAtMost64KiB(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{`[]`, `"x"`, `7`, `{"own": "` + strings.Repeat("x", 64<<10) + `"}`} {
		_, err := patched(t, exchangetest.Cells(), `{"additional_metadata": `+wrong+`}`)
		exchangetest.WantFieldErrors(t, err, "additional_metadata")
	}
	room := strings.Repeat("x", 64<<10-len(`{"own":""}`))
	m, err := patched(t, exchangetest.Cells(), `{"additional_metadata": { "own" : "`+room+`" }}`)
	if err != nil || len(m.Metadata) != 64<<10 {
		t.Errorf("got %d bytes, %v, want 64 KiB to fit", len(m.Metadata), err)
	}
}

func TestMaterial_OrganismsAreAtMostAHundredDifferentNames(t *testing.T) {
	t.Parallel()
	names := func(n int) string {
		var list []string
		for range n {
			list = append(list, `"`+uuid.NewString()+`"`)
		}
		return `{"organisms": [` + strings.Join(list, ",") + `]}`
	}
	if m, err := patched(t, exchangetest.Cells(), names(100)); err != nil || len(m.Organisms) != 100 {
		t.Errorf("got %d names, %v, want 100", len(m.Organisms), err)
	}
	_, err := patched(t, exchangetest.Cells(), names(101))
	exchangetest.WantFieldErrors(t, err, "organisms")
	if m, err := patched(t, exchangetest.Cells(), `{"organisms": []}`); err != nil || m.Organisms == nil ||
		len(m.Organisms) != 0 {
		t.Errorf("got %#v, %v, want an empty list", m.Organisms, err)
	}
}

func TestImport_IsKnownByItsCanonicalIdentifier(t *testing.T) {
	t.Parallel()
	for _, row := range exchangetest.Rows(`
		| GEO | accession_code | GSE2122 | GSE2122 |
		| GEO | accession_code | gse2122 | GSE2122 |
		| GEO | accession_code | GEO: GSE2122 | GSE2122 |
		| GEO | accession_code | https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122 | GSE2122 |
		| GEO | url | https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=gse2122 | GSE2122 |
		| GEO | accession_code | GSM2122 | |
		| GEO | accession_code | SRP045225 | |
		| SRA | accession_code | SRP045225 | SRP045225 |
		| SRA | accession_code | srp045225 | SRP045225 |
		| SRA | accession_code | ERP001942 | ERP001942 |
		| SRA | accession_code | https://www.ncbi.nlm.nih.gov/sra/?term=SRP045225 | SRP045225 |
		| SRA | url | https://trace.ncbi.nlm.nih.gov/Traces/sra/?study=SRP045225 | SRP045225 |
		| SRA | url | https://www.ebi.ac.uk/ena/browser/view/SRP045225 | SRP045225 |
		| SRA | accession_code | SRR1039508 | |
		| SRA | accession_code | GSE2122 | |
		| PROTOCOLS_REPOSITORY | protocol_doi | dx.doi.org/10.17504/protocols.io.bbmuik6w | dx.doi.org/10.17504/protocols.io.bbmuik6w |
		| PROTOCOLS_REPOSITORY | protocol_doi | https://doi.org/10.17504/PROTOCOLS.IO.BBMUIK6W | dx.doi.org/10.17504/protocols.io.bbmuik6w |
		| PROTOCOLS_REPOSITORY | protocol_doi | doi:10.17504/protocols.io.bbmuik6w. | dx.doi.org/10.17504/protocols.io.bbmuik6w |
		| PROTOCOLS_REPOSITORY | doi | 10.17504/protocols.io.bbmuik6w | dx.doi.org/10.17504/protocols.io.bbmuik6w |
		| PROTOCOLS_REPOSITORY | url | https://www.protocols.io/view/nuclei-isolation-bbmuik6w | dx.doi.org/10.17504/protocols.io.bbmuik6w |
		| PROTOCOLS_REPOSITORY | url | https://dx.doi.org/10.17504/protocols.io.bbmuik6w | dx.doi.org/10.17504/protocols.io.bbmuik6w |
		| PROTOCOLS_REPOSITORY | doi | 10.1038/nprot.2006.17 | |
		| Elsewhere | accession_code | GSE2122 | |`) {
		category, field := "DATASET", `"additional_metadata": {"`+row[1]+`": "`+row[2]+`"}`
		if row[0] == material.SourceProtocols {
			category = "PROTOCOL"
		}
		if row[1] == "url" {
			field = `"url": "` + row[2] + `"`
		}
		text := `{"category": "` + category +
			`", "title": "x", "organization_id": 7, "imported": true, "import_source": "` + row[0] + `", ` + field + `}`
		m, err := create(t, text)
		got := ""
		if m.ImportIdentifier != nil {
			got = *m.ImportIdentifier
		}
		if err != nil || got != row[3] {
			t.Errorf("%v: got %q, %v, want %q", row[:3], got, err, row[3])
		}
		if m, _ = patched(t, m, `{"imported": false}`); m.ImportIdentifier != nil {
			t.Errorf("%v, not imported: got %q, want none", row[:3], *m.ImportIdentifier)
		}
	}
}

func TestMaterial_IdentifierOfAnotherTypeDoesNotHideTheNext(t *testing.T) {
	t.Parallel()
	m := material.Material{Category: "DATASET", Title: "x", OrganizationID: 7, Imported: true, ImportSource: "GEO",
		Metadata: []byte(`{"protocol_doi": 7, "doi": [1]}`)}
	m, err := patched(t, m, `{"url": "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122"}`)
	if err != nil || m.ImportIdentifier == nil || *m.ImportIdentifier != "GSE2122" {
		t.Errorf("got %v, %v, want GSE2122 of the url", m.ImportIdentifier, err)
	}
}

func TestEmbargo_EndsAtMidnightUTCOfItsDate(t *testing.T) {
	t.Parallel()
	m := exchangetest.Cells()
	m.EmbargoDate = new(exchange.Date("2026-03-12"))
	midnight := time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC)
	east, west := time.FixedZone("NZDT", 13*3600), time.FixedZone("PST", -8*3600)
	for _, zone := range []*time.Location{time.UTC, east, west} {
		if now := midnight.Add(-time.Microsecond).In(zone); !m.Embargoed(now) {
			t.Errorf("%s: got not embargoed", now)
		}
		if now := midnight.In(zone); m.Embargoed(now) {
			t.Errorf("%s: got embargoed", now)
		}
	}
	m.EmbargoDate = nil
	if m.Embargoed(midnight) {
		t.Error("without a date: got embargoed")
	}
}

func TestArrives_WhenAChangeMayPutAMaterialOnOffer(t *testing.T) {
	t.Parallel()
	june, july := new(exchange.Date("2026-06-01")), new(exchange.Date("2026-07-01"))
	for name, c := range map[string]struct {
		old, now material.Material
		want     bool
	}{
		"another title":            {material.Material{Title: "a"}, material.Material{Title: "b"}, false},
		"back from the archive":    {material.Material{Archived: true}, material.Material{}, true},
		"stays archived":           {material.Material{Archived: true}, material.Material{Archived: true}, false},
		"into the archive":         {material.Material{}, material.Material{Archived: true}, false},
		"no embargo any more":      {material.Material{EmbargoDate: july}, material.Material{}, true},
		"the embargo ends earlier": {material.Material{EmbargoDate: july}, material.Material{EmbargoDate: june}, true},
		"the embargo ends later":   {material.Material{EmbargoDate: june}, material.Material{EmbargoDate: july}, false},
		"an embargo begins":        {material.Material{}, material.Material{EmbargoDate: june}, false},
		"the embargo is as it was": {material.Material{EmbargoDate: june}, material.Material{EmbargoDate: june}, false},
	} {
		if got := c.now.Arrives(c.old); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
