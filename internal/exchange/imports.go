package exchange

import "unicode/utf8"

// MostImports is how many materials one job imports.
const MostImports = 500

// ImportsNew is the body of POST /materials/imports.
type ImportsNew struct {
	Identifiers  Opt[Names] `json:"identifiers"`
	Organization Opt[Ref]   `json:"organization_id" alias:"organization"`
	Grant        Opt[Ref]   `json:"grant_id" alias:"grant"`
	Preview      Opt[bool]  `json:"preview"`
}

// ImportsOrder is what a job is to import, or to show what importing it would make.
type ImportsOrder struct {
	Identifiers []string // as they were given
	Orders      []ImportOrder
	Preview     bool
}

// Check tells the source of each identifier; each that is wrong is named with its place in the list.
func (n ImportsNew) Check() (ImportsOrder, error) {
	var f Faults
	o := ImportsOrder{Identifiers: n.Identifiers.Value, Preview: n.Preview.Value}
	whole := ImportOrder{}.on(n.Organization, n.Grant, &f)
	f.rule("identifiers", Rule{Least: 1, Most: MostImports, Each: &Rule{Most: lineLength}})
	switch count := len(o.Identifiers); {
	case count == 0:
		f.Add("identifiers", "is required: a list of accessions of GEO or SRA and of DOIs of protocols")
	case count > MostImports:
		f.Add("identifiers", "must be at most %d; there are %d", MostImports, count)
		return o, f.Err()
	}
	for i, text := range o.Identifiers {
		one, err := OrderOf(text)
		switch {
		case utf8.RuneCountInString(text) > lineLength:
			f.Add("identifiers", "[%d] %q must be at most %d characters", i, clip(text), lineLength)
		case err != nil:
			f.Add("identifiers", "[%d] %q: %v", i, clip(text), err)
		}
		one.OrganizationID, one.GrantID = whole.OrganizationID, whole.GrantID
		o.Orders = append(o.Orders, one)
	}
	return o, f.Err()
}

// ImportWord says what came of an identifier.
type ImportWord string

// The words.
const (
	WasImported   ImportWord = "imported"
	WouldImport   ImportWord = "would be imported" // of a preview
	ExistedBefore ImportWord = "existing"          // it was imported before
	ImportRefused ImportWord = "refused"
)

// ImportOutcome is what came of one identifier of many.
type ImportOutcome struct {
	Identifier string     `json:"identifier"` // as it was given
	Outcome    ImportWord `json:"outcome"`
	Material   *int64     `json:"material"` // nil where there is none
	Source     string     `json:"import_source"`
	Accession  string     `json:"accession"` // of the study or protocol that it names, as far as is known
	Title      *string    `json:"title"`
	Organisms  []string   `json:"organisms"`
	Warnings   []string   `json:"warnings"` // of a preview
	Field      *string    `json:"field"`    // that the error is about, where it is about one
	Error      *string    `json:"error"`    // why it was refused
}

// ImportsResult is what a job of imports came to.
type ImportsResult struct {
	Preview     bool            `json:"preview"` // nothing was stored
	Imported    int             `json:"imported"`
	WouldImport int             `json:"would_be_imported"`
	Existing    int             `json:"existing"`
	Refused     int             `json:"refused"`
	Outcomes    []ImportOutcome `json:"outcomes"` // in the order of the identifiers
}

// Add adds the outcome of the next identifier.
func (r *ImportsResult) Add(o ImportOutcome) {
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
