// Package spreadsheet imports and exports materials as spreadsheets.
package spreadsheet

import "aliquot/internal/app/core"

// Spreadsheets are the use cases of spreadsheets of materials.
type Spreadsheets struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Spreadsheets { return Spreadsheets{c} }
