package identifier

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ontologies holds the pattern of the terms of each ontology that describes materials, by name as the ontology spells
// it (obofoundry.org and EFO).
var ontologies = map[string]string{
	"BAO": sevenDigits, "BTO": sevenDigits, "CHEBI": digits, "CL": sevenDigits, "CLO": sevenDigits,
	"DOID": digits, "ECO": sevenDigits, "EFO": sevenDigits, "EMAPA": digits, "FBbt": `\d{8}`,
	"GO": sevenDigits, "HANCESTRO": `\d{4,7}`, "HP": sevenDigits, "HsapDv": sevenDigits, "MA": sevenDigits,
	"MmusDv": sevenDigits, "MONDO": sevenDigits, "MP": sevenDigits, "MS": sevenDigits, "NCBITaxon": digits,
	"NCIT": `C\d{1,9}`, "OBI": sevenDigits, "ORPHA": digits, "Orphanet": digits, "PATO": sevenDigits,
	"PR": `[A-Z0-9-]{5,20}`, "RO": sevenDigits, "SO": sevenDigits, "UBERON": sevenDigits,
	"WBbt": sevenDigits, "ZFA": sevenDigits,
}

const (
	digits      = `\d{1,10}`
	sevenDigits = `\d{7}`
)

type ontology struct {
	name string
	term *regexp.Regexp
}

var ontologyOf = func() map[string]ontology {
	all := make(map[string]ontology, len(ontologies))
	for name, term := range ontologies {
		all[strings.ToLower(name)] = ontology{name, regexp.MustCompile(`^(?:` + term + `)$`)}
	}
	return all
}()

var (
	oboParts = regexp.MustCompile(`^(?:https?://\S*[/#])?` +
		`([A-Za-z][A-Za-z0-9]{0,19})[:_]([A-Za-z0-9][A-Za-z0-9_-]{0,59})$`)
	errOBO = errors.New("an ontology term is the ontology's name and a number, such as UBERON:0002107 or CL:0000057")
)

// OBO parses a term of an ontology: organ, cell type, disease, phenotype. Canonical: UBERON:0002107, with the
// ontology's own spelling of its name. An unknown ontology causes a warning.
func OBO(s string) (canonical, warning string, err error) {
	parts := oboParts.FindStringSubmatch(clean(s))
	if parts == nil {
		return "", "", errOBO
	}
	name, term := parts[1], strings.ToUpper(parts[2])
	o, known := ontologyOf[strings.ToLower(name)]
	if !known {
		return name + ":" + parts[2], fmt.Sprintf("%s is not a known ontology; please check the term", name), nil
	}
	if !o.term.MatchString(term) {
		return "", "", fmt.Errorf("%s is not a term of %s; %w", parts[2], o.name, errOBO)
	}
	return o.name + ":" + term, "", nil
}
