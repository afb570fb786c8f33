package sheet

import (
	"errors"
	"io"
	"strconv"

	"github.com/xuri/excelize/v2"
)

// frozenHeader keeps the first row in view.
var frozenHeader = &excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}

// Column describes a column of a template.
type Column struct {
	Header, Help, Example string
	Values                []string // choices for a cell; others may be allowed
	Closed                bool     // no other value is allowed
}

// lastOffered is the last row of a template with choices.
const lastOffered = 5000

// Template writes an XLSX without materials: headers, their descriptions as comments on a second sheet, and choices.
func Template(w io.Writer, columns []Column) error {
	f := excelize.NewFile()
	err := template(f, columns)
	if err == nil {
		_, err = f.WriteTo(w)
	}
	return errors.Join(err, f.Close())
}

func template(f *excelize.File, columns []Column) error {
	if err := f.SetSheetName("Sheet1", "Materials"); err != nil {
		return err
	}
	for _, name := range []string{"Help", "Values"} {
		if _, err := f.NewSheet(name); err != nil {
			return err
		}
	}
	bold, err := f.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return err
	}
	text, err := f.NewStyle(&excelize.Style{NumFmt: 49}) // so that 000123 and 7E5 stay unchanged
	if err != nil {
		return err
	}
	errs := []error{
		f.SetRowStyle("Materials", 1, 1, bold), f.SetRowStyle("Help", 1, 1, bold),
		f.SetPanes("Materials", frozenHeader),
		f.SetSheetRow("Help", "A1", &[]any{"Column", "Description", "Example"}),
		f.SetColWidth("Help", "A", "A", 32), f.SetColWidth("Help", "B", "B", 100), f.SetColWidth("Help", "C", "C", 40),
		f.SetSheetVisible("Values", false),
	}
	for i, c := range columns {
		name := ColumnName(i)
		errs = append(errs,
			f.SetColStyle("Materials", name, text),
			f.SetColWidth("Materials", name, name, max(14, float64(len(c.Header))+2)),
			f.SetCellValue("Materials", name+"1", c.Header), f.SetCellStyle("Materials", name+"1", name+"1", bold),
			f.SetSheetRow("Help", "A"+strconv.Itoa(i+2), &[]any{c.Header, Defuse(c.Help), Defuse(c.Example)}),
		)
		if len(c.Values) == 0 {
			continue
		}
		values := make([]any, len(c.Values))
		for j, v := range c.Values {
			values[j] = Defuse(v)
		}
		offer := excelize.NewDataValidation(true)
		offer.SetSqref(name + "2:" + name + strconv.Itoa(lastOffered))
		offer.SetSqrefDropList("Values!$" + name + "$1:$" + name + "$" + strconv.Itoa(len(values)))
		if c.Closed {
			offer.SetError(excelize.DataValidationErrorStyleStop, c.Header, "Please choose from the list.")
		} else {
			offer.SetError(excelize.DataValidationErrorStyleWarning, c.Header, "This value is not in the list.")
		}
		errs = append(errs, f.SetSheetCol("Values", name+"1", &values), f.AddDataValidation("Materials", offer))
	}
	return errors.Join(errs...)
}
