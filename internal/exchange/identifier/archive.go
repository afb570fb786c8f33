package identifier

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Accessions of the public archives of sequences, samples and studies (INSDC, GEO, dbGaP, EGA).

// record matches the address of a page about one accession.
const record = `(?:(?:https?://)?(?:[a-z-]+\.)*(?:ncbi\.nlm\.nih\.gov|ebi\.ac\.uk|ega-archive\.org)/\S*[/=])?`

// filed returns the pattern of an accession by itself, or in the address of a page about it, which may continue after
// it.
func filed(accession string) string {
	return accession + `/?|(?:https?://)?(?:[a-z-]+\.)*(?:ncbi\.nlm\.nih\.gov|ebi\.ac\.uk|identifiers\.org` +
		`|omicsdi\.org)/(?:\S*?[/=:])?` + accession + `(?:[/?&#]\S*)?`
}

var taxonomy = newForm(`(?:`+record+
	`|(?:https?://)?purl\.obolibrary\.org/obo/NCBITaxon_|(?:NCBI[: ]?\s*)?(?:txid|taxid`+
	`|taxon)[:_]?\s*)([1-9]\d{0,8})/?`,
	"NCBITaxon:$1", nil,
	"an NCBI Taxonomy ID is a number, such as NCBITaxon:9606 for Homo sapiens")

// Taxonomy parses an organism in the NCBI Taxonomy. Canonical: NCBITaxon:9606.
func Taxonomy(s string) (string, error) { return taxonomy.parse(s) }

var bioSample = newForm(filed(`(SAM(?:N|D|EA|EG)\d{1,12})`), "$1$2", strings.ToUpper,
	"a BioSample is SAMN, SAMEA or SAMD and a number, such as SAMN19842595")

// BioSample parses the accession of one biological source. Canonical: SAMN19842595.
func BioSample(s string) (string, error) { return bioSample.parse(s) }

var bioProject = newForm(filed(`(PRJ[DEN][A-Z]\d{1,10})`), "$1$2", strings.ToUpper,
	"a BioProject is PRJNA, PRJEB or PRJDB and a number, such as PRJNA257197")

// BioProject parses the accession of one project across the archives. Canonical: PRJNA257197.
func BioProject(s string) (string, error) { return bioProject.parse(s) }

var geo = newForm(`(?:GEO:\s*)?(?:`+filed(`((?:GSE|GSM|GPL|GDS)[1-9]\d{0,8})`)+`)`, "$1$2", strings.ToUpper,
	"a GEO accession is GSE, GSM, GPL or GDS and a number, such as GSE2122")

// GEO parses the accession of a series (GSE), sample (GSM), platform (GPL) or curated dataset (GDS) of the Gene
// Expression Omnibus. Canonical: GSE2122.
func GEO(s string) (string, error) { return geo.parse(s) }

var geoTypes = map[string]string{"GSM": "sample", "GPL": "platform", "GDS": "curated dataset"}

// GEOSeries parses a GEO accession of a series, the unit that is imported.
func GEOSeries(s string) (string, error) {
	id, err := GEO(s)
	if err != nil {
		return "", errors.New("a GEO series is GSE and a number, such as GSE2122")
	}
	if what := geoTypes[id[:3]]; what != "" {
		return "", fmt.Errorf("%s is a GEO %s; please give its series, such as GSE2122", id, what)
	}
	return id, nil
}

// GEOImport parses an accession that an import from GEO can start from: a series, or a sample, which leads to its
// series.
func GEOImport(s string) (string, error) {
	id, err := GEO(s)
	switch {
	case err == nil && strings.HasPrefix(id, "GSM"):
		return id, nil
	case err != nil:
		if other, errSRA := SRAImport(s); errSRA == nil {
			return "", fmt.Errorf("%s belongs to the SRA, not to GEO; import it with import_source SRA", other)
		}
	}
	return GEOSeries(s)
}

var sra = newForm(`(?:SRA:\s*)?(?:`+filed(`([SED]R[PXRSAZ]\d{6,12})`)+`)`, "$1$2", strings.ToUpper,
	"an SRA accession is SRP, SRX, SRR or SRS (at ENA ERP..., at DDBJ DRP...) and six or more digits, such as "+
		"SRP045225")

// SRA parses the accession of a study (SRP, ERP, DRP), experiment (X), run (R), sample (S), submission (A) or analysis
// (Z) of the Sequence Read Archives. Canonical: SRP045225.
func SRA(s string) (string, error) { return sra.parse(s) }

var sraTypes = map[byte]string{'X': "experiment", 'R': "run", 'S': "sample", 'A': "submission", 'Z': "analysis"}

// SRAStudy parses an SRA accession of a study, the unit that is imported.
func SRAStudy(s string) (string, error) {
	id, err := SRA(s)
	if err != nil {
		return "", errors.New("an SRA study is SRP, ERP or DRP and six or more digits, such as SRP045225")
	}
	if what := sraTypes[id[2]]; what != "" {
		return "", fmt.Errorf("%s is an SRA %s; please give its study, such as SRP045225", id, what)
	}
	return id, nil
}

// SRAImport parses an accession that an import from the SRA can start from: a study, or an experiment, run, sample or
// BioProject, which leads to its study.
func SRAImport(s string) (string, error) {
	id, err := SRA(s)
	if err != nil {
		if id, err = BioProject(s); err == nil {
			return id, nil
		}
		if other, errGEO := GEO(s); errGEO == nil {
			return "", fmt.Errorf("%s belongs to GEO, not to the SRA; import it with import_source GEO", other)
		}
		return SRAStudy(s)
	}
	if strings.ContainsRune("XRS", rune(id[2])) {
		return id, nil
	}
	return SRAStudy(id)
}

var dbGaP = newForm(record+`(phs\d{6}(?:\.v\d{1,4})?(?:\.p\d{1,4})?(?:\.c\d{1,3})?)`, "$1", strings.ToLower,
	"a dbGaP study is phs and six digits, then version and participant set, such as phs000007.v33.p14")

// DbGaP parses the accession of a study of the database of Genotypes and Phenotypes. Canonical: phs000007.v33.p14.
func DbGaP(s string) (string, error) { return dbGaP.parse(s) }

var ega = newForm(record+`(EGA[A-Z]\d{11})/?`, "$1", strings.ToUpper,
	"an EGA accession is EGAS, EGAD or another EGA letter and 11 digits, such as EGAD00001000433")

// EGA parses the accession of a study (EGAS), dataset (EGAD) or other record of the European Genome-phenome Archive.
func EGA(s string) (string, error) { return ega.parse(s) }

// archives are tried in order for an accession of any archive. A text that begins like an accession of one of them but
// does not parse is an error.
var archives = []struct {
	kind  Kind
	parse func(string) (string, error)
	start *regexp.Regexp
}{
	{"geo", GEO, regexp.MustCompile(`^(?i:GSE|GSM|GPL|GDS)\d*$`)},
	{"sra", SRA, regexp.MustCompile(`^(?i:[SED]R[PXRSAZ])\d*$`)},
	{"bioproject", BioProject, regexp.MustCompile(`^(?i:PRJ[DEN][A-Z])\d*$`)},
	{"biosample", BioSample, regexp.MustCompile(`^(?i:SAM(N|D|EA|EG))\d*$`)},
	{"dbgap", DbGaP, regexp.MustCompile(`^(?i:phs)\d`)},
	{"ega", EGA, regexp.MustCompile(`^(?i:EGA[A-Z])\d*$`)},
	{"doi", DOI, regexp.MustCompile(`^(?i:doi:|10\.\d)`)},
}

var (
	// ArrayExpress, BioStudies, PRIDE, MetaboLights, CNGB, GSA-Human
	otherKnown = regexp.MustCompile(`^(?:E-[A-Z]{4}-\d{1,8}|S-[A-Z]{4}\d{1,10}|PXD\d{6}|MTBLS\d{1,6}|CNP\d{7}` +
		`|HRA\d{6})$`)
	otherForm = regexp.MustCompile(`^[A-Za-z0-9][\x20-\x7e]{0,99}$`)
)

// Accession parses the accession of a dataset at any archive, or its DOI. An accession of an unknown archive is kept as
// written, with a warning.
func Accession(s string) (canonical, warning string, err error) {
	s = clean(s)
	for _, a := range archives {
		if canonical, err = a.parse(s); err == nil || a.start.MatchString(s) {
			return canonical, "", err
		}
	}
	switch {
	case otherKnown.MatchString(strings.ToUpper(s)):
		return strings.ToUpper(s), "", nil
	case otherForm.MatchString(s):
		return s, fmt.Sprintf("%s is not an accession of a known archive; please check it", s), nil
	}
	return "", "", errors.New("an accession is a number given by an archive, such as GSE2122, SRP045225, PRJNA257197 " +
		"or a DOI")
}

func archiveOf(canonical string) Kind {
	for _, a := range archives {
		if _, err := a.parse(canonical); err == nil {
			return a.kind
		}
	}
	return ""
}
