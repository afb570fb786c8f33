package identifier

import (
	"fmt"
	"regexp"
	"strings"
)

// Identifiers that stock centres and databases of living material issue. Each may be written with RRID: before it.

var cellosaurus = newForm(`(?:RRID:\s*)?(?:(?:https?://)?(?:www\.|web\.)?(?:cellosaurus\.org`+
	`|expasy\.org/cellosaurus)/)?CVCL[_:]([A-Z0-9]{4})/?`,
	"CVCL_$1", strings.ToUpper,
	"a Cellosaurus accession is CVCL_ and four letters or digits, such as CVCL_0030")

// Cellosaurus parses the accession of a cell line in the Cellosaurus. Canonical: CVCL_0030.
func Cellosaurus(s string) (string, error) { return cellosaurus.parse(s) }

var (
	jax = newForm(`(?:(?:https?://)?(?:www\.)?jax\.org/strain/|(?:RRID:\s*)?(?:IMSR_)?JAX[:_# ]?\s*|stock (?:no`+
		`|number)[.:]*\s*)?(\d{6})/?`,
		"IMSR_JAX:$1", strings.ToUpper,
		"a JAX stock number has six digits with its leading zeros, such as 000664; another repository's strain is "+
			"written like IMSR_EM:02131")
	imsr = regexp.MustCompile(`^(?i:RRID:\s*)?(?i:IMSR)_([A-Za-z]{2,8}):([A-Za-z0-9._-]{1,60})$`)
)

// IMSR parses a mouse strain of the International Mouse Strain Resource: repository and stock. Six digits alone are a
// stock number of The Jackson Laboratory, whose leading zeros belong to it. Canonical: IMSR_JAX:000664.
func IMSR(s string) (string, error) {
	if strain := imsr.FindStringSubmatch(clean(s)); strain != nil && !strings.EqualFold(strain[1], "JAX") {
		return fmt.Sprintf("IMSR_%s:%s", strings.ToUpper(strain[1]), strain[2]), nil
	}
	return jax.parse(s)
}

var mgi = newForm(`(?:RRID:\s*)?(?:(?:https?://)?(?:www\.)?informatics\.jax\.org/[a-z]+/)?`+
	`(?:MGI[:_]\s*)?([1-9]\d{0,7})/?`,
	"MGI:$1", nil,
	"an MGI accession is MGI: and a number, such as MGI:3840442")

// MGI parses an allele, gene or strain in Mouse Genome Informatics. Canonical: MGI:3840442.
func MGI(s string) (string, error) { return mgi.parse(s) }

var mmrrc = newForm(`(?:RRID:\s*)?(?:MMRRC[:_ ]\s*)?(\d{6}(?:-[A-Z]{2,4})?)`,
	"MMRRC_$1", strings.ToUpper,
	"an MMRRC stock number has six digits and its center, such as MMRRC_000002-UNC")

// MMRRC parses a stock of the Mutant Mouse Resource and Research Centers. Canonical: MMRRC_000002-UNC, as its RRID
// spells it.
func MMRRC(s string) (string, error) { return mmrrc.parse(s) }

var addgene = newForm(`(?:(?:https?://)?(?:www\.)?addgene\.org/|(?:RRID:\s*)?addgene(?: plasmid)?[_:]?\s*#?\s*`+
	`|#\s*)?([1-9]\d{0,6}(?:-[a-z0-9.]{1,20})?)/?`,
	"$1", nil,
	"an Addgene number is the catalogue number, such as 12260")

// Addgene parses the catalogue number of a plasmid; a viral preparation has a suffix, such as 50465-AAV9. Canonical:
// 12260.
func Addgene(s string) (string, error) { return addgene.parse(s) }
