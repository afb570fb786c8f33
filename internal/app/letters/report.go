package letters

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/exchange"
	"aliquot/internal/sheet"
)

// ReportRow counts the letters of an institution in one form with one other institution, by their state today.
type ReportRow struct {
	Form, Counterparty                             string
	Drafted, Executed, Declined, Ended, Open, Days int // Days: median from draft to execution; -1: none was executed
}

// Report counts the letters of an institution that were drafted in a year, by form and counterparty.
type Report struct {
	Year int
	Rows []ReportRow
	All  ReportRow
}

// Report reports on a year of an institution, in UTC, to those who sign for it.
func (a Desks) Report(ctx context.Context, who exchange.Actor, institution int64, year int) (r Report, err error) {
	c := a.DB.Read()
	if err := a.mayDesk(ctx, c, who, institution, exchange.AgreementRead); err != nil {
		return r, err
	}
	from := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	courses, err := c.Agreements.Courses(ctx, institution, from, from.AddDate(1, 0, 0))
	if err != nil {
		return r, err
	}
	library, err := a.Library(ctx, c)
	if err != nil {
		return r, err
	}
	type key struct {
		form  string
		other int64
	}
	rows, days, all := map[key]*ReportRow{}, map[key][]int{}, []int{}
	var others []int64
	for _, one := range courses {
		k := key{one.Instrument, one.Counterparty}
		if rows[k] == nil {
			rows[k], others = &ReportRow{}, append(others, k.other)
		}
		rows[k].count(one.State)
		r.All.count(one.State)
		if one.State == letter.Executed && one.EndedAt != nil {
			took := int(one.EndedAt.Sub(one.CreatedAt).Hours() / 24)
			days[k], all = append(days[k], took), append(all, took)
		}
	}
	names, err := c.Institutions.Names(ctx, unique(others))
	for k, row := range rows {
		row.Form, row.Counterparty, row.Days = k.form, names[k.other], median(days[k])
		if i, known := library.Newest(k.form, exchange.DayOf(c.Now)); known {
			row.Form = i.Title
		}
	}
	for row := range maps.Values(rows) {
		r.Rows = append(r.Rows, *row)
	}
	slices.SortFunc(r.Rows, func(x, y ReportRow) int {
		return cmp.Or(cmp.Compare(x.Form, y.Form), cmp.Compare(x.Counterparty, y.Counterparty))
	})
	r.Year, r.All.Days = year, median(all)
	return r, err
}

func (r *ReportRow) count(s letter.State) {
	r.Drafted++
	switch {
	case s == letter.Executed:
		r.Executed++
	case s == letter.Declined:
		r.Declined++
	case s.Open():
		r.Open++
	default:
		r.Ended++
	}
}

// median returns the median of some numbers of days, -1 of none.
func median(days []int) int {
	if len(days) == 0 {
		return -1
	}
	slices.Sort(days)
	return days[len(days)/2]
}

// WriteCSV writes the rows of the report as a spreadsheet.
func (r Report) WriteCSV(w io.Writer) error {
	out, err := sheet.NewCSV(w)
	if err != nil {
		return err
	}
	err = out.Write([]string{"form", "counterparty", "drafted", "executed", "declined", "ended", "open", "median_days"})
	for _, row := range r.Rows {
		cells := []string{row.Form, row.Counterparty}
		for _, n := range []int{row.Drafted, row.Executed, row.Declined, row.Ended, row.Open, row.Days} {
			cells = append(cells, strconv.Itoa(n))
		}
		if row.Days < 0 {
			cells[len(cells)-1] = ""
		}
		if err == nil {
			err = out.Write(cells)
		}
	}
	return errors.Join(err, out.Close())
}
