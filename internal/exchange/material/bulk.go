package material

import (
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
)

// BulkMode selects what is done with the rows of a spreadsheet.
type BulkMode string

// The modes.
const (
	BulkDryRun       BulkMode = "dry-run"         // report what would be done, with every problem
	BulkAllOrNothing BulkMode = "all-or-nothing"  // store all rows, or none if any is refused
	BulkValidRows    BulkMode = "valid-rows-only" // store the valid rows
)

// BulkModes lists all modes, the default first.
var BulkModes = []BulkMode{BulkAllOrNothing, BulkDryRun, BulkValidRows}

// BulkOptions are the options for reading a spreadsheet and for what to do with it.
type BulkOptions struct {
	Mode     BulkMode           `json:"mode"`
	Category string             `json:"category"` // of rows that name none
	Sheet    string             `json:"sheet"`    // sheet of an XLSX or ODS file; "": the first
	Unknown  string             `json:"unknown"`  // unknown columns: refuse (default) or keep as custom fields
	Lacking  string             `json:"lacking"`  // new rows without a required field: keep (default) or refuse
	Mapping  map[string]*string `json:"mapping"`  // from header to field; "": left out; null: forget the stored mapping
}

// The values of Unknown: what to do with unknown columns.
const (
	UnknownRefuse = "refuse"
	UnknownKeep   = "keep"
)

// The values of Lacking: what to do with new rows that lack a value that the form requires.
const (
	LackingKeep   = "keep"
	LackingRefuse = "refuse"
)

const maxMapped = 1000 // headers

// Check fills in the defaults of the options and reports what is wrong with them.
func (o BulkOptions) Check() (BulkOptions, error) {
	var f exchange.FieldErrors
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
	if o.Lacking == "" {
		o.Lacking = LackingKeep
	}
	if o.Lacking != LackingKeep && o.Lacking != LackingRefuse {
		f.Add("lacking", "must be %s or %s", LackingKeep, LackingRefuse)
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
		if fold(header) == "" || len(header) > exchange.LineLength {
			f.Add("mapping", "%q is not a header of the spreadsheet", clip(header))
		}
		if field == nil || *field == "" {
			continue
		}
		h, known := fieldHeading(*field)
		if !known || len(*field) > exchange.LineLength {
			f.Add("mapping", "%q is not a field; write a custom key as additional_metadata.key", clip(*field))
			continue
		}
		o.Mapping[header] = &h.Field
	}
	return o, f.Err()
}

// RowStatus is the result of a row.
type RowStatus string

// The results of rows.
const (
	RowCreated   RowStatus = "created"
	RowUpdated   RowStatus = "updated"
	RowUnchanged RowStatus = "unchanged" // the material already has these values
	RowRefused   RowStatus = "refused"
	RowArchived  RowStatus = "archived" // of an undone import
	RowKept      RowStatus = "kept"     // likewise, left as it is
)

// RowResult is the result of one row of a spreadsheet; after a dry run, the result that it would have.
type RowResult struct {
	Row       int                 `json:"row"` // number that the spreadsheet shows
	Outcome   RowStatus           `json:"outcome"`
	Material  int64               `json:"material,omitempty"`
	Reference string              `json:"reference,omitempty"`
	Problems  map[string][]string `json:"problems,omitempty"` // by column header
	Values    map[string]string   `json:"values,omitempty"`   // of the cells with problems, by column header
	Doubts    map[string][]string `json:"doubts,omitempty"`   // warnings about values kept unchanged, by header
}

// BulkCounts counts rows by result.
type BulkCounts struct {
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Unchanged int64 `json:"unchanged"`
	Refused   int64 `json:"refused"`
}

// Count adds the results of rows.
func (c *BulkCounts) Count(rows []RowResult) {
	for _, r := range rows {
		switch r.Outcome {
		case RowCreated:
			c.Created++
		case RowUpdated, RowArchived:
			c.Updated++
		case RowUnchanged:
			c.Unchanged++
		case RowRefused, RowKept:
			c.Refused++
		}
	}
}

// Rows returns how many rows were counted.
func (c BulkCounts) Rows() int64 { return c.Created + c.Updated + c.Unchanged + c.Refused }

// MaxRefused is the number of refused rows after which a spreadsheet is not read further: it is probably the wrong
// file.
const MaxRefused = 10_000

// BulkResult is the result of a spreadsheet.
type BulkResult struct {
	Mode   BulkMode `json:"mode"`
	Stored bool     `json:"stored"` // the counts are of what was done, not of what would be done
	BulkCounts
	Complete bool            `json:"complete"` // false: reading stopped after too many refused rows
	Report   string          `json:"report"`   // where the results of all rows are
	Sheet    string          `json:"sheet"`    // sheet that was read; "" for CSV
	Others   []string        `json:"other_sheets"`
	Columns  []ColumnHeading `json:"columns"`
	Notes    []string        `json:"notes"`
}

// Listed is a material that an import listed, with what happened to it since.
type Listed struct {
	ID           int64
	Organization int64
	Title        string
	Archived     bool
	Requested    bool // or asked about
	Changed      bool
}

// Kept returns why the undo of the import leaves the material as it is; "" if it archives it.
func (l Listed) Kept() string {
	switch {
	case l.Archived:
		return "is archived already"
	case l.Requested:
		return "was requested or asked about since"
	case l.Changed:
		return "was changed since"
	}
	return ""
}

// UndoTime is how long an import can be undone after it ended.
const UndoTime = 30 * 24 * time.Hour

// BulkUndo is the mode in the result of an undone import: updated are the materials that were archived, refused those
// that were left as they are. No spreadsheet is read in it.
const BulkUndo BulkMode = "undo"

// Bulk is a spreadsheet that is being imported.
type Bulk struct {
	JobID          int64
	OrganizationID int64
	ContentKey     string
	Stored         bool
}
