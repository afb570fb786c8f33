package identifier

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

var (
	doiPrefix = regexp.MustCompile(`^(?i:(?:https?://)?(?:www\.|dx\.)?doi\.org/(?:doi:)?|(?:info:)?doi[:/ ]\s*)`)
	doiForm   = regexp.MustCompile(`^10\.\d{4,9}(?:\.\d+)*/[!-~]+$`)
	errDOI    = errors.New("a DOI starts with 10., a registrant number and a slash, such as " +
		"10.1158/0008-5472.CAN-17-0582")
)

// DOI parses the name of a digital object. DOIs compare without case, so the canonical form is bare and in lower case:
// 10.1158/0008-5472.can-17-0582. Percent signs of an address are decoded, and punctuation left at the end from a
// sentence is dropped. Only ASCII is accepted, as Crossref registers. Source: DOI Handbook, chapter 2.
func DOI(s string) (string, error) {
	s = clean(s)
	if prefix := doiPrefix.FindString(s); prefix != "" {
		s = s[len(prefix):]
		if strings.Contains(strings.ToLower(prefix), "doi.org/") {
			decoded, err := url.PathUnescape(s)
			if err != nil {
				return "", errDOI
			}
			s = decoded
		}
	}
	s = strings.ToLower(strings.TrimRight(s, ".,;"))
	if !doiForm.MatchString(s) {
		return "", errDOI
	}
	return s, nil
}

var (
	protocolsDOI  = regexp.MustCompile(`^10\.17504/protocols\.io\.[a-z0-9]{1,40}(?:/v[1-9]\d{0,3})?$`)
	protocolsCode = regexp.MustCompile(`^(?i:protocols\.io\.[a-z0-9]{1,40}(?:/v\d+)?)$`)
	protocolsSlug = regexp.MustCompile(`^(?i:(?:https?://)?(?:www\.)?protocols\.io/view/([a-z0-9-]{1,200}(?:/v\d+)?))` +
		`(?:[/?#].*)?$`)
	protocolsPage = regexp.MustCompile(`^(?i:(?:https?://)?(?:www\.)?protocols\.io/view/(?:[a-z0-9-]*-)?([a-z0-9]+` +
		`(?:/v\d+)?))(?:[/?#].*)?$`)
)

// ProtocolsDOI parses the DOI of a protocol at protocols.io, also from the address of its page. Canonical:
// dx.doi.org/10.17504/protocols.io.bbmuik6w, the form that the specification shows for protocol_doi; a version, /v2, is
// kept.
func ProtocolsDOI(s string) (string, error) {
	if protocolsCode.MatchString(clean(s)) {
		s = "10.17504/" + clean(s)
	}
	if page := protocolsPage.FindStringSubmatch(clean(s)); page != nil {
		s = "10.17504/protocols.io." + page[1]
	}
	doi, err := DOI(s)
	if err != nil || !protocolsDOI.MatchString(doi) {
		return "", errors.New("a protocols.io DOI is 10.17504/protocols.io. and a code, such as " +
			"dx.doi.org/10.17504/protocols.io.bbmuik6w")
	}
	return "dx.doi.org/" + doi, nil
}

// ProtocolsPage returns the name of a protocol from the address of its page at protocols.io, such as
// ncov-2019-sequencing-protocol-bbmuik6w. The code at its end is that of the DOI for most protocols, but not for all.
func ProtocolsPage(s string) (name string, ok bool) {
	page := protocolsSlug.FindStringSubmatch(clean(s))
	if page == nil {
		return "", false
	}
	return strings.ToLower(page[1]), true
}

// ProtocolsImport parses what an import from protocols.io can start from: a DOI, or the address of a page, which is
// kept as protocols.io/view/NAME.
func ProtocolsImport(s string) (string, error) {
	if name, ok := ProtocolsPage(s); ok {
		return "protocols.io/view/" + name, nil
	}
	return ProtocolsDOI(s)
}

var pmid = newForm(`(?:(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov`+
	`|ncbi\.nlm\.nih\.gov/pubmed)/([1-9]\d{0,7})(?:[/?#].*)?`+
	`|(?:(?:pmid|pubmed)(?: id)?:?\s*)?([1-9]\d{0,7}))`, "$1$2", nil,
	"a PubMed ID has 1 to 8 digits and no leading zero, such as 13052828")

// PMID parses the number of a publication in PubMed. Canonical: 13052828.
func PMID(s string) (string, error) { return pmid.parse(s) }
