// Package identifier parses the identifiers of people, institutions, publications, materials and datasets: syntax,
// check digits and the one canonical form that is stored, so that two spellings of one thing compare equal (contract.md
// section 4, "Text").
//
// It never checks whether the thing exists. Every parser accepts what people paste (surrounding space, resolver
// address, lower case, typographic dashes) and its own canonical form, which it returns unchanged. Texts over 255
// characters are not identifiers. Errors are one sentence that states what form is expected.
package identifier

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Kind names a family of identifiers as data files do, such as the vocabulary of a field of a material category:
// "orcid", "rrid", "geo".
type Kind string

type family struct {
	label   string
	example string // in canonical form
	address string // of the record on the web; {} stands for the canonical form, "" if unknown
	sites   string // separated by blanks; each web address that is parsed has one of these in it
	parse   func(string) (canonical, warning string, err error)
}

// The sites of the public archives.
const (
	recordSites = "ncbi.nlm.nih.gov ebi.ac.uk ega-archive.org"
	filedSites  = "ncbi.nlm.nih.gov ebi.ac.uk identifiers.org omicsdi.org"
)

// anySite has every web address.
const anySite = "/"

const resolver = "https://scicrunch.org/resolver/RRID:{}"

var families = map[Kind]family{
	"accession": {"Accession", "GSE2122", "", recordSites + " " + filedSites + " doi.org", Accession},
	"addgene":   {"Addgene number", "12260", "https://www.addgene.org/{}/", "addgene.org", sure(Addgene)},
	"bioproject": {"BioProject", "PRJNA257197", "https://www.ncbi.nlm.nih.gov/bioproject/{}", filedSites,
		sure(BioProject)},
	"biosample": {"BioSample", "SAMN19842595", "https://www.ncbi.nlm.nih.gov/biosample/{}", filedSites,
		sure(BioSample)},
	"cellosaurus": {"Cellosaurus accession", "CVCL_0030", "https://www.cellosaurus.org/{}",
		"cellosaurus.org expasy.org", sure(Cellosaurus)},
	"country": {"Country", "DE", "", "", sure(Country)},
	"dbgap": {"dbGaP study", "phs000007.v33.p14",
		"https://www.ncbi.nlm.nih.gov/projects/gap/cgi-bin/study.cgi?study_id={}", recordSites, sure(DbGaP)},
	"doi": {"DOI", "10.1158/0008-5472.can-17-0582", "https://doi.org/{}", "doi.org", sure(DOI)},
	"ega": {"EGA accession", "EGAD00001000433", "", recordSites, sure(EGA)},
	"geo": {"GEO accession", "GSE2122", "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc={}", filedSites,
		sure(GEO)},
	"imsr": {"Mouse strain (IMSR or JAX)", "IMSR_JAX:000664", resolver, "jax.org", sure(IMSR)},
	"mgi": {"MGI accession", "MGI:3840442", "https://www.informatics.jax.org/accession/{}", "informatics.jax.org",
		sure(MGI)},
	"mmrrc": {"MMRRC stock", "MMRRC_000002-UNC", resolver, "", sure(MMRRC)},
	"obo":   {"Ontology term", "UBERON:0002107", "https://bioregistry.io/{}", anySite, OBO},
	"orcid": {"ORCID iD", "0000-0002-1825-0097", "https://orcid.org/{}", "orcid.org", sure(ORCID)},
	"pmid": {"PubMed ID", "13052828", "https://pubmed.ncbi.nlm.nih.gov/{}/", "ncbi.nlm.nih.gov",
		sure(PMID)},
	"protocols-doi": {"protocols.io DOI", "dx.doi.org/10.17504/protocols.io.bbmuik6w", "https://{}",
		"protocols.io doi.org", sure(ProtocolsDOI)},
	"ror":  {"ROR ID", "https://ror.org/05dxps055", "{}", "ror.org", sure(ROR)},
	"rrid": {"RRID", "RRID:CVCL_0030", "https://scicrunch.org/resolver/{}", "rrid: " + filedSites, RRID},
	"spdx": {"Licence", "CC-BY-4.0", "https://spdx.org/licenses/{}.html",
		"spdx.org opensource.org creativecommons.org", sure(SPDX)},
	"sra": {"SRA or ENA accession", "SRP045225", "https://www.ebi.ac.uk/ena/browser/view/{}", filedSites, sure(SRA)},
	"taxonomy": {"NCBI Taxonomy ID", "NCBITaxon:9606", "https://bioregistry.io/{}",
		recordSites + " purl.obolibrary.org", sure(Taxonomy)},
}

var kinds = slices.Sorted(maps.Keys(families))

// Kinds returns every kind, sorted by name.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindsOf returns the kinds of which a text might be an identifier, sorted by name. For a web address these are few,
// which saves most of the work of parsing it.
func KindsOf(text string) []Kind {
	text = strings.ToLower(clean(text))
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		return kinds
	}
	var some []Kind
	for _, kind := range kinds {
		for site := range strings.FieldsSeq(families[kind].sites) {
			if strings.Contains(text, site) {
				some = append(some, kind)
				break
			}
		}
	}
	return some
}

// Label returns the name of the kind for a person, such as "ORCID iD".
func (k Kind) Label() string { return families[k].label }

// Example returns a well-known identifier of the kind in canonical form.
func (k Kind) Example() string { return families[k].example }

// Address returns the web address of the record of a canonical identifier, "" if not known.
func (k Kind) Address(canonical string) string {
	if k == "accession" {
		k = archiveOf(canonical)
	}
	return strings.ReplaceAll(families[k].address, "{}", canonical)
}

// Parse returns s in the canonical form of its kind. It warns about an identifier that is accepted although its prefix
// is unknown. A kind that does not exist is an error.
func Parse(kind Kind, s string) (canonical, warning string, err error) {
	f, ok := families[kind]
	if !ok {
		return "", "", fmt.Errorf("%q is not a type of identifier", kind)
	}
	return f.parse(s)
}

// sure adapts a parser without warnings to the table.
func sure(parse func(string) (string, error)) func(string) (string, string, error) {
	return func(s string) (string, string, error) {
		canonical, err := parse(s)
		return canonical, "", err
	}
}

const longest = 255 // characters of an identifier

var typography = strings.NewReplacer(
	"\u2010", "-", "\u2011", "-", "\u2013", "-", "\u2212", "-", // hyphens, en dash, minus
	"\u00a0", " ", "\u200b", "", "\ufeff", "", // no-break and zero-width space, byte order mark
)

// clean undoes what copying does to an identifier. Anything too long or not in printable ASCII becomes "", which is not
// an identifier of any kind.
func clean(s string) string {
	if len(s) > 4*longest {
		return ""
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) { // the replacer is slow
		s = typography.Replace(s)
	}
	s = strings.TrimSpace(s)
	if len(s) > longest || strings.ContainsFunc(s,
		func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// form is the syntax of one family: a pattern over the whole clean text, in either case, and how its groups are put
// together.
type form struct {
	pattern   *regexp.Regexp
	canonical string              // a template of regexp.Expand
	letters   func(string) string // the case of the canonical form; nil keeps it
	expected  string              // the sentence that states what form is expected
}

func newForm(pattern, canonical string, letters func(string) string, expected string) form {
	return form{regexp.MustCompile(`^(?i:` + pattern + `)$`), canonical, letters, expected}
}

func (f form) parse(s string) (string, error) {
	s = clean(s)
	groups := f.pattern.FindStringSubmatchIndex(s)
	if groups == nil {
		return "", errors.New(f.expected)
	}
	canonical := string(f.pattern.ExpandString(nil, f.canonical, s, groups))
	if f.letters != nil {
		canonical = f.letters(canonical)
	}
	return canonical, nil
}
