package exchange

import (
	"slices"
	"strings"

	"aliquot/internal/exchange/category"
)

// BulkMode is what is to be done with the rows of a spreadsheet.
type BulkMode string

// The modes.
const (
	BulkDryRun       BulkMode = "dry-run"         // say what would be done, and every problem
	BulkAllOrNothing BulkMode = "all-or-nothing"  // store every row, or none where one is refused
	BulkValidRows    BulkMode = "valid-rows-only" // store those that are right
)

// BulkModes are all of them, the usual one first.
var BulkModes = []BulkMode{BulkAllOrNothing, BulkDryRun, BulkValidRows}

// BulkOptions says how a spreadsheet is to be read and what to do with it.
type BulkOptions struct {
	Mode     BulkMode           `json:"mode"`
	Category string             `json:"category"` // of rows that say none
	Sheet    string             `json:"sheet"`    // of an XLSX or ODS; "": the first
	Unknown  string             `json:"unknown"`  // columns: refuse (the usual) or keep as keys of the lab's own
	Mapping  map[string]*string `json:"mapping"`  // from header to field, "": left out, null: forget what was said
}

// The words for what to do with columns that nobody knows.
const (
	UnknownRefuse = "refuse"
	UnknownKeep   = "keep"
)

const maxMapped = 1000 // headers

// Check completes an order and says what is wrong with it.
func (o BulkOptions) Check() (BulkOptions, error) {
	var f FieldErrors
	if o.Mode == "" {
		o.Mode = BulkAllOrNothing
	}
	if !slices.Contains(BulkModes, o.Mode) {
		f.Add("mode", "must be one of %s, %s, %s", BulkModes[0], BulkModes[1], BulkModes[2])
	}
	if o.Unknown == "" {
		o.Unknown = UnknownRefuse
	}
	if o.Unknown != UnknownRefuse && o.Unknown != UnknownKeep {
		f.Add("unknown", "must be %s or %s", UnknownRefuse, UnknownKeep)
	}
	if o.Category = categoryCode(o.Category); o.Category != "" {
		if _, ok := category.Get(o.Category); !ok {
			f.Add("category", "must be one of %s", strings.Join(category.Codes(), ", "))
		}
	}
	if len(o.Mapping) > maxMapped {
		f.Add("mapping", "must name at most %d headers", maxMapped)
	}
	for header, field := range o.Mapping {
		if fold(header) == "" || len(header) > lineLength {
			f.Add("mapping", "%q is no header", clip(header))
		}
		if field == nil || *field == "" {
			continue
		}
		h, known := fieldHeading(*field)
		if !known || len(*field) > lineLength {
			f.Add("mapping", "%q is no field; a key of your own is written as additional_metadata.key", clip(*field))
			continue
		}
		o.Mapping[header] = &h.Field
	}
	return o, f.Err()
}

// Outcome is the result of a row.
type RowStatus string

// The outcomes.
const (
	RowCreated   RowStatus = "created"
	RowUpdated   RowStatus = "updated"
	RowUnchanged RowStatus = "unchanged" // the material says what the row says
	RowRefused   RowStatus = "refused"
)

// RowResult is the result of one row of a spreadsheet, or would come of it.
type RowResult struct {
	Row       int                 `json:"row"` // as the spreadsheet shows it
	Outcome   RowStatus           `json:"outcome"`
	Material  int64               `json:"material,omitempty"`
	Reference string              `json:"reference,omitempty"`
	Problems  map[string][]string `json:"problems,omitempty"` // by header of the column
	Values    map[string]string   `json:"values,omitempty"`   // of the cells with problems
	Doubts    map[string][]string `json:"doubts,omitempty"`   // of values that are taken as they are
}

// BulkCounts count outcomes.
type BulkCounts struct {
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Unchanged int64 `json:"unchanged"`
	Refused   int64 `json:"refused"`
}

// Count adds outcomes.
func (c *BulkCounts) Count(rows []RowResult) {
	for _, r := range rows {
		switch r.Outcome {
		case RowCreated:
			c.Created++
		case RowUpdated:
			c.Updated++
		case RowUnchanged:
			c.Unchanged++
		case RowRefused:
			c.Refused++
		}
	}
}

// Rows is how many rows were counted.
func (c BulkCounts) Rows() int64 { return c.Created + c.Updated + c.Unchanged + c.Refused }

// MaxRefused is how many rows are refused before a spreadsheet is not read on: it is another one
// than was meant.
const MaxRefused = 10_000

// BulkResult is the result of a spreadsheet.
type BulkResult struct {
	Mode   BulkMode `json:"mode"`
	Stored bool     `json:"stored"` // whether the counts say what was done, not what would be
	BulkCounts
	Complete bool            `json:"complete"` // false: reading ended after too many refused rows
	Report   string          `json:"report"`   // where the outcome of every row is
	Sheet    string          `json:"sheet"`    // that was read; "" of CSV
	Others   []string        `json:"other_sheets"`
	Columns  []ColumnHeading `json:"columns"`
	Notes    []string        `json:"notes"`
}

// Bulk is a spreadsheet on its way in.
type Bulk struct {
	JobID          int64
	OrganizationID int64
	ContentKey     string
	Stored         bool
}
