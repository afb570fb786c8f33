package material

import (
	"encoding/json"
	"errors"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
)

// ImportName is the body of POST /materials/import/preview: what to import.
type ImportName struct {
	Source      exchange.Opt[string] `json:"import_source"`
	Accession   exchange.Opt[IDText] `json:"accession"`
	ProtocolDOI exchange.Opt[IDText] `json:"protocol_doi"`
}

// ImportNew is the body of POST /materials/import/, where every parameter is required.
type ImportNew struct {
	Source       exchange.Opt[string]       `json:"import_source"`
	Accession    exchange.Opt[IDText]       `json:"accession"`
	ProtocolDOI  exchange.Opt[IDText]       `json:"protocol_doi"`
	Organization exchange.Opt[exchange.Ref] `json:"organization_id" alias:"organization"`
	Grant        exchange.Opt[exchange.Ref] `json:"grant_id" alias:"grant"`
}

// ImportOptions is what to import, and for whom.
type ImportOptions struct {
	Source         string
	Identifier     string // canonical; of a study or a part of one, or the page of a protocol
	OrganizationID int64
	GrantID        int64 // 0: none, which only a preview may have
}

// Field returns the field of the body that holds the identifier.
func (o ImportOptions) Field() string {
	if o.Source == SourceProtocols {
		return "protocol_doi"
	}
	return "accession"
}

// ParseImportIdentifier finds the source of an identifier, in any form that people paste.
func ParseImportIdentifier(text string) (ImportOptions, error) {
	for _, source := range sources {
		if name, err := importable[source](text); err == nil {
			return ImportOptions{Source: source, Identifier: name}, nil
		}
	}
	if _, err := identifier.GEO(text); err == nil { // of something that cannot be imported, such as a platform
		_, err = identifier.GEOImport(text)
		return ImportOptions{}, err
	}
	if _, err := identifier.SRA(text); err == nil {
		_, err = identifier.SRAImport(text)
		return ImportOptions{}, err
	}
	return ImportOptions{}, errors.New("it is not a GEO or SRA accession, nor the DOI of a protocol at protocols.io")
}

// sources lists the sources that can be imported from.
var sources = []string{SourceSRA, SourceGEO, SourceProtocols}

// importable holds the parser for the identifiers of each source.
var importable = map[string]func(string) (string, error){
	SourceGEO:       identifier.GEOImport,
	SourceSRA:       identifier.SRAImport,
	SourceProtocols: identifier.ProtocolsImport,
}

// Check validates what to import; the error names everything that is wrong.
func (n ImportName) Check() (ImportOptions, error) {
	var f exchange.FieldErrors
	o := n.order(&f)
	return o, f.Err()
}

// Validate implements Body.
func (n ImportName) Validate(bool) exchange.FieldErrors {
	_, err := n.Check()
	return exchange.FieldsOf(err)
}

// Check validates what to import and for whom; the error names everything that is wrong.
func (n ImportNew) Check() (ImportOptions, error) {
	var f exchange.FieldErrors
	o := ImportName{n.Source, n.Accession, n.ProtocolDOI}.order(&f)
	o = o.on(n.Organization, n.Grant, &f)
	f.Must("grant_id", n.Grant.Value != 0, grantMissing)
	return o, f.Err()
}

// Validate implements Body.
func (n ImportNew) Validate(bool) exchange.FieldErrors {
	_, err := n.Check()
	return exchange.FieldsOf(err)
}

const grantMissing = "is required: the id of one of your grants"

// on returns the options for an organization, which is required, and a grant.
func (o ImportOptions) on(organization, grant exchange.Opt[exchange.Ref], f *exchange.FieldErrors) ImportOptions {
	o.OrganizationID, o.GrantID = int64(organization.Value), int64(grant.Value)
	f.Must("organization_id", organization.Set, "is required: the id of the organization that shares the material")
	return o
}

func (n ImportName) order(f *exchange.FieldErrors) ImportOptions {
	f.Rule("import_source", exchange.Rule{Words: sources, Name: "ImportSource"})
	o := ImportOptions{Source: strings.ToUpper(exchange.Tidy(n.Source.Value))}
	read := importable[o.Source]
	if read == nil {
		list := strings.Join(sources, ", ")
		f.Must("import_source", o.Source != "", "is required: one of "+list)
		if o.Source != "" {
			f.Add("import_source", "must be one of %s", list)
		}
		if n.Accession.Value == "" && n.ProtocolDOI.Value == "" {
			f.Add("accession", "is required, or protocol_doi with PROTOCOLS_REPOSITORY")
		}
		return o
	}
	given := n.Accession.Value
	if o.Field() == "protocol_doi" {
		given = n.ProtocolDOI.Value
	}
	if exchange.Tidy(string(given)) == "" {
		f.Add(o.Field(), "is required with %s", o.Source)
		return o
	}
	var err error
	if o.Identifier, err = read(string(given)); err != nil {
		f.Add(o.Field(), "%q: %v", clip(string(given)), err)
	}
	return o
}

// IDText is an identifier that the specification calls a number but shows as text; both are accepted.
type IDText string

// UnmarshalJSON accepts a string or a number.
func (c *IDText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(c))
	}
	var number json.Number
	if err := json.Unmarshal(b, &number); err != nil {
		return errors.New("must be a string")
	}
	*c = IDText(number)
	return nil
}

// Publication is the result of looking up a publication.
type Publication struct {
	PubMedID string
	DOI      string
	PrePrint bool
	Title    string
	Citation string
}

// PublicationOf returns which publication is meant: exactly one of the two ids, in canonical form.
func PublicationOf(pubmedID, doi *string) (pmid, name string, err error) {
	var f exchange.FieldErrors
	switch {
	case (pubmedID == nil) == (doi == nil):
		f.Add("pubmed_id", "give either pubmed_id or doi")
		f.Add("doi", "give either pubmed_id or doi")
	case pubmedID != nil:
		if pmid, err = identifier.PMID(*pubmedID); err != nil {
			f.Add("pubmed_id", "%v", err)
		}
	default:
		if name, err = identifier.DOI(*doi); err != nil {
			f.Add("doi", "%v", err)
		}
	}
	return pmid, name, f.Err()
}

// AddTo enters p as the publication of m.
func (p Publication) AddTo(m *Material) {
	set := func(to **string, text string) {
		if text != "" {
			*to = &text
		}
	}
	m.PubMedID = p.PubMedID
	set(&m.Citation, p.Citation)
	if p.PrePrint {
		set(&m.PrePrintDOI, p.DOI)
		set(&m.PrePrintTitle, p.Title)
		return
	}
	set(&m.PublicationTitle, p.Title)
}
