package fulltext_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"
)

func titled(title string) fulltext.Doc {
	return fulltext.New([]fulltext.Field{{Weight: fulltext.Title, Text: title}}, nil, nil, nil)
}

func body(text string) fulltext.Doc {
	return fulltext.New([]fulltext.Field{{Weight: fulltext.Title, Text: "Something"},
		{Weight: fulltext.Body, Text: text}}, nil, nil, nil)
}

// TestQuery_FindsNamesInEverySpelling checks the rules of names: case, accents, hyphens, spaces, Greek letters,
// endings.
func TestQuery_FindsNamesInEverySpelling(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"HT-29", "HT29", "HT 29", "ht‑29", "HT–29", "HT - 29", "ＨＴ２９", "HT.29", "HT_29", "HT/29"},
		{"SK-BR-3", "SKBR3", "SK BR 3", "SK-BR 3", "SKBR-3"},
		{"MDA-MB-231", "MDA MB 231", "MDAMB231", "MDA-MB 231"},
		{"TNFα", "TNF-α", "TNF-alpha", "TNF alpha", "TNFalpha", "TNF ALPHA", "tnf Α"},
		{"β-catenin", "beta-catenin", "Β-Catenin", "betacatenin", "β catenin", "beta catenin"},
		{"Müller", "Muller", "MÜLLER", "Mu\u0308ller"},
		{"Sjøgren", "Sjogren"},
		{"Łódź", "Lodz"},
		{"up-regulated", "upregulated", "up-regulating"},
		{"cells", "cell", "CELLS"},
		{"leukaemia", "leukemia"},
		{"tumours", "tumor"},
		{"hybridisation", "hybridization", "hybridise"},
		{"oestrogen", "estrogens"},
		{"fibres", "fiber"},
		{"CO₂", "CO2"},
		{"A549", "A-549", "A 549"},
		{"µM", "μM", "mu-M"},
		{"Parkinson's", "Parkinson’s", "Parkinsons"},
		{"Lipofectamine™ 3000", "Lipofectamine 3000"},
		{"so\u00adft", "soft"},
	} {
		for _, title := range same {
			for _, query := range same {
				d, q := titled("The "+title+" of mice"), fulltext.Parse(query)
				if !q.Expr().Match(d) {
					t.Errorf("%q does not find %q: %+v in %q", query, title, q.Expr(), d.Tokens)
				}
				if e, ok := q.TitleExpr(); !ok || !e.Match(d) {
					t.Errorf("%q does not find %q by title: %+v in %q", query, title, e, d.Tokens)
				}
				if q.Highlight("The "+title+" of mice", 100) == nil {
					t.Errorf("%q does not mark %q", query, title)
				}
			}
		}
	}
}

// TestQuery_FindsPartsThatBeginWithACapital: in titles and names.
func TestQuery_FindsPartsThatBeginWithACapital(t *testing.T) {
	t.Parallel()
	for query, title := range map[string]string{
		"CRISPR": "lentiCRISPR v2", "cas9": "pSpCas9(BB)-2A-GFP", "tomato": "pCAG-tdTomato", "toma": "pCAG-tdTomato",
		"AAV": "pAAV-hSyn-Cre", "rna": "scRNA-seq",
	} {
		if q := fulltext.Parse(query); !q.Expr().Match(titled(title)) {
			t.Errorf("%q does not find %q", query, title)
		}
		if fulltext.Parse(query).Expr().Match(body(title)) {
			t.Errorf("%q finds %q in a body", query, title)
		}
	}
}

// TestQuery_LongNumberIsNotAPrefix: of names that begin alike, a query finds only the one that it names.
func TestQuery_LongNumberIsNotAPrefix(t *testing.T) {
	t.Parallel()
	if q := fulltext.Parse("RRID:Addgene_48138"); q.Expr().Match(titled("RRID:Addgene_42230")) {
		t.Error("an identifier finds another one")
	}
}

func TestQuery_Matches(t *testing.T) {
	t.Parallel()
	const text = "HeLa cells, line of Müller (HT-29; TNF-alpha) 人工多能性幹細胞 \u202bשלום עולם\u202c grown in McCoy's " +
		"medium on glass"
	for query, want := range map[string]bool{
		"":                       true,
		" ":                      true,
		"🔬":                      true,
		"* ( ) ^ \" :":           true,
		"hela":                   true,
		"cells hela":             true,
		"hela mouse":             false,
		`"hela cells"`:           true,
		`"cells hela"`:           false,
		`"hela cells`:            true,
		`“hela cells”`:           true,
		`"line müller"`:          false,
		`"line of muller"`:       true,
		"-hela":                  false,
		"-mouse":                 true,
		"cells -mouse":           true,
		"cells -HT29":            false,
		`cells -"hela cells"`:    false,
		`cells -"cells hela"`:    true,
		"cells - hela":           true,
		"the hela of":            true,
		"hela AND cells":         true,
		"hela OR cells":          true,
		"hela NOT mouse":         false,
		"hela NEAR cells":        false,
		"title:hela":             false,
		"(hela) AND* (cells)":    true,
		"hela'; DROP TABLE x;--": false,
		"hela';--":               true,
		"幹細胞":                    true,
		"細胞幹":                    false,
		"多能性 hela":               true,
		"שלום":                   true,
		"עולם שלום":              true,
		"hela\x00cells":          true,
		"\xff\xfe hela":          true,
		"glas":                   false, // beginnings match only in titles and names
		"grow":                   false,
		"medium grown glasses":   true,
	} {
		if got := fulltext.Parse(query).Expr().Match(body(text)); got != want {
			t.Errorf("%q: found is %t: %+v in %q", query, got, fulltext.Parse(query).Expr(), body(text).Tokens)
		}
	}
}

func TestQuery_LastWordMayBeAPrefix(t *testing.T) {
	t.Parallel()
	d := titled("Immunoprecipitation of HT-29 and xeno-transplanted tissue")
	for query, want := range map[string]bool{
		"im": true, "immunop": true, "immunoprecipit": true, "tissue immu": true, "immu tissue": false,
		"i": false, "ht-2": true, "ht2": true, "ht 2": true, "xeno-trans": true, "-immu": true, `"immu"`: false,
		"immu -tissue": false,
	} {
		if got := fulltext.Parse(query).Expr().Match(d); got != want {
			t.Errorf("%q: found is %t", query, got)
		}
	}
}

func TestQuery_FindsIdentifiersInEveryForm(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		id      identifier.ID
		queries []string
	}{
		{identifier.ID{Kind: "rrid", Canonical: "RRID:CVCL_0320"}, []string{
			"CVCL_0320", "cvcl_0320", "RRID:CVCL_0320", "RRID: CVCL_0320", "CVCL:0320", "(RRID:CVCL_0320)",
			"https://www.cellosaurus.org/CVCL_0320", "https://web.expasy.org/cellosaurus/CVCL_0320",
			"https://scicrunch.org/resolver/RRID:CVCL_0320",
		}},
		{identifier.ID{Kind: "pmid", Canonical: "13052828"}, []string{
			"13052828", "PMID:13052828", "PMID: 13052828", "pmid 13052828", "https://pubmed.ncbi.nlm.nih.gov/13052828/",
		}},
		{identifier.ID{Kind: "addgene", Canonical: "12260"}, []string{
			"12260", "addgene 12260", "Addgene plasmid 12260", "Addgene plasmid #12260",
			"https://www.addgene.org/12260/", "RRID:Addgene_12260",
		}},
		{identifier.ID{Kind: "doi", Canonical: "10.1158/0008-5472.can-17-0582"}, []string{
			"10.1158/0008-5472.CAN-17-0582", "doi:10.1158/0008-5472.CAN-17-0582",
			"https://doi.org/10.1158/0008-5472.CAN-17-0582", "doi: 10.1158/0008-5472.CAN-17-0582.",
		}},
		{identifier.ID{Kind: "accession", Canonical: "GSE2122"}, []string{
			"GSE2122", "gse2122", "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122",
		}},
		{identifier.ID{Kind: "rrid", Canonical: "RRID:IMSR_JAX:000664"}, []string{
			"RRID:IMSR_JAX:000664", "IMSR_JAX:000664", "JAX:000664", "JAX 000664", "000664",
			"https://www.jax.org/strain/000664",
		}},
		{identifier.ID{Canonical: "FZ-0012/b"}, []string{"FZ-0012/b", "fz0012b", "FZ 0012 B"}},
	} {
		d := fulltext.New([]fulltext.Field{{Weight: fulltext.Title, Text: "Something"}}, []identifier.ID{row.id}, nil,
			nil)
		other := titled("Something about " + row.id.Canonical + " and more")
		for _, query := range row.queries {
			q := fulltext.Parse(query)
			if !q.Expr().Match(d) {
				t.Errorf("%q does not find %v: %+v", query, row.id, q.Expr())
			}
			if e, _ := q.TitleExpr(); !e.Match(d) {
				t.Errorf("%q does not find %v first", query, row.id)
			}
			if row.id.Kind != "" && row.id.Kind != "pmid" && row.id.Kind != "addgene" &&
				!strings.Contains(query, "JAX") && !fulltext.Parse(query).Expr().Match(other) && query != "000664" {
				t.Errorf("%q does not find the text %v", query, row.id)
			}
			if a, b := q.Score(d.Weights), q.Score(other.Weights); a <= b {
				t.Errorf("%q: the thing itself scores %d, another that names it %d", query, a, b)
			}
		}
		if fulltext.Parse("PMID:777").Expr().Match(d) {
			t.Errorf("another identifier finds %v", row.id)
		}
	}
}
