package spreadsheet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/sheet"
)

// MayExport checks that who may export the materials of an organization, or of all if it is nil.
func (a Spreadsheets) MayExport(ctx context.Context, who exchange.Actor, organization *int64) error {
	of := int64(0)
	if organization != nil {
		if of = *organization; of != 0 {
			if _, err := a.DB.Read().Organizations.Get(ctx, of); err != nil {
				return err
			}
		}
	}
	return a.MayRead(ctx, who, exchange.MaterialExport, who.ToOrganization(of), core.Object("organization", of))
}

// EachMaterial calls back with the materials of an organization, or of all, including embargoed and archived ones, the
// oldest first. It reads a part at a time, each when it is the turn of caller: a user, or "" for a command on the
// command line.
func (a Spreadsheets) EachMaterial(ctx context.Context, caller string, organization *int64,
	do func(material.Shown) error) error {
	part := a.Parts(caller)
	for after := int64(0); ; {
		var list []material.Shown
		err := part(ctx, func(ctx context.Context) (err error) {
			list, err = a.DB.Read().Materials.After(ctx, organization, after, core.Batch)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, m := range list {
			after = m.ID
			if err := do(m.Revealed()); err != nil {
				return err
			}
		}
	}
}

// maxKeys is how many keys of additional_metadata an export has columns for.
const maxKeys = 900

// ExportKeys returns the keys of additional_metadata that any material has, ordered by category and then
// alphabetically: the columns of an export.
func (a Spreadsheets) ExportKeys(ctx context.Context, caller string, organization *int64) ([]string, error) {
	own := map[string]bool{}
	err := a.EachMaterial(ctx, caller, organization, func(m material.Shown) error {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(m.Metadata, &values); err != nil {
			return err
		}
		for key := range values {
			own[key] = true
		}
		if len(own) > maxKeys {
			return exchange.Errorf(exchange.Conflict, "The materials have more than %d different additional_metadata "+
				"keys, more columns than a spreadsheet can hold; export them as JSON.", maxKeys)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []string
	for _, c := range category.All() {
		for _, f := range c.Fields {
			if own[f.Key] {
				list = append(list, f.Key)
				delete(own, f.Key)
			}
		}
	}
	return append(list, slices.Sorted(maps.Keys(own))...), nil
}

// Export writes materials with ExportKeys as a spreadsheet that Bulk accepts.
func (a Spreadsheets) Export(ctx context.Context, caller string, organization *int64, keys []string, format string,
	out io.Writer) error {
	w, err := sheet.Create(out, format)
	if err != nil {
		return err
	}
	err = w.Write(material.ExportHeaders(keys))
	if err == nil {
		err = a.EachMaterial(ctx, caller, organization, func(m material.Shown) error {
			cells, err := m.Cells(keys)
			if err != nil {
				return err
			}
			return w.Write(cells)
		})
	}
	return errors.Join(err, w.Close())
}

// Template writes an empty spreadsheet for a category: its columns, what they mean, and in XLSX the values to choose
// from.
func Template(c category.Category, format string, out io.Writer) error {
	var columns []sheet.Column
	var headers, help []string
	for _, column := range material.Columns(c) {
		columns = append(columns,
			sheet.Column{Header: column.Label, Help: column.Help, Example: column.Example, Values: column.Values,
				Closed: column.Closed})
		headers, help = append(headers, column.Label), append(help, column.Help)
	}
	if format == "xlsx" {
		return sheet.Template(out, columns)
	}
	w, err := sheet.NewCSV(out)
	if err != nil {
		return err
	}
	help[0] = sheet.HelpMark + help[0]
	return errors.Join(w.Write(headers), w.Write(help), w.Close())
}
