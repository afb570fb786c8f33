package material

import (
	"unicode/utf8"

	"aliquot/internal/exchange"
)

// MaxImports is how many materials one job can import.
const MaxImports = 500

// BatchImportBody is the body of POST /materials/imports.
type BatchImportBody struct {
	Identifiers  exchange.Opt[exchange.Names] `json:"identifiers"`
	Organization exchange.Opt[exchange.Ref]   `json:"organization_id" alias:"organization"`
	Grant        exchange.Opt[exchange.Ref]   `json:"grant_id" alias:"grant"`
	Preview      exchange.Opt[bool]           `json:"preview"`
}

// BatchImportOptions is what a job imports, or previews.
type BatchImportOptions struct {
	Identifiers []string // as they were entered
	Orders      []ImportOptions
	Preview     bool
}

// Check finds the source of each identifier; the error names each wrong one with its position in the list.
func (n BatchImportBody) Check() (BatchImportOptions, error) {
	var f exchange.FieldErrors
	o := BatchImportOptions{Identifiers: n.Identifiers.Value, Preview: n.Preview.Value}
	whole := ImportOptions{}.on(n.Organization, n.Grant, &f)
	if n.Grant.Value == 0 && !o.Preview {
		f.Add("grant_id", grantMissing)
	}
	f.Rule("identifiers", exchange.Rule{Min: 1, Max: MaxImports, Each: &exchange.Rule{Max: exchange.LineLength}})
	count := len(o.Identifiers)
	f.Must("identifiers", count > 0, "is required: a list of GEO or SRA accessions and DOIs of protocols")
	if count > MaxImports {
		f.Add("identifiers", "must be at most %d; there are %d", MaxImports, count)
		return o, f.Err()
	}
	for i, text := range o.Identifiers {
		one, err := ParseImportIdentifier(text)
		switch {
		case utf8.RuneCountInString(text) > exchange.LineLength:
			f.Add("identifiers", "[%d] %q must be at most %d characters", i, clip(text), exchange.LineLength)
		case err != nil:
			f.Add("identifiers", "[%d] %q: %v", i, clip(text), err)
		}
		one.OrganizationID, one.GrantID = whole.OrganizationID, whole.GrantID
		o.Orders = append(o.Orders, one)
	}
	return o, f.Err()
}

// Validate implements Body.
func (n BatchImportBody) Validate(bool) exchange.FieldErrors {
	_, err := n.Check()
	return exchange.FieldsOf(err)
}

// ImportStatus is the result of importing one identifier.
type ImportStatus string

// The results.
const (
	WasImported   ImportStatus = "imported"
	WouldImport   ImportStatus = "would be imported" // by a preview
	ExistedBefore ImportStatus = "existing"          // it was imported before
	ImportRefused ImportStatus = "refused"
)

// ImportOutcome is the result of one identifier in a list.
type ImportOutcome struct {
	Identifier string       `json:"identifier"` // as it was entered
	Outcome    ImportStatus `json:"outcome"`
	Material   *int64       `json:"material"` // nil: none
	Source     string       `json:"import_source"`
	Accession  string       `json:"accession"` // of the study or protocol that it names, if known
	Title      *string      `json:"title"`
	Organisms  []string     `json:"organisms"`
	Warnings   []string     `json:"warnings"` // of a preview
	Field      *string      `json:"field"`    // that the error is about, if any
	Error      *string      `json:"error"`    // why it was refused
}

// BatchImportResult is the result of a job that imports a list.
type BatchImportResult struct {
	Preview     bool            `json:"preview"` // nothing was stored
	Imported    int             `json:"imported"`
	WouldImport int             `json:"would_be_imported"`
	Existing    int             `json:"existing"`
	Refused     int             `json:"refused"`
	Outcomes    []ImportOutcome `json:"outcomes"` // in the order of the identifiers
}

// Add adds the result of the next identifier.
func (r *BatchImportResult) Add(o ImportOutcome) {
	r.Outcomes = append(r.Outcomes, o)
	switch o.Outcome {
	case WasImported:
		r.Imported++
	case WouldImport:
		r.WouldImport++
	case ExistedBefore:
		r.Existing++
	case ImportRefused:
		r.Refused++
	}
}
