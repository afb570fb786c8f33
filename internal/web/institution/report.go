package institution

import (
	"fmt"
	"strconv"

	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// reportPage has the letters of a year, by form and counterparty.
type reportPage struct {
	*page
	letters.Report
}

// years are the years to choose from: this one and those before.
const years = 5

// Years returns the years to choose from.
func (p *reportPage) Years() (list []int) {
	for n := range years {
		list = append(list, p.Now.UTC().Year()-n)
	}
	return list
}

// Days formats a median.
func (*reportPage) Days(n int) string {
	if n < 0 {
		return "–"
	}
	return ui.Days(n)
}

// readReport reads the report of the year that the query names, of this one by default.
func (v *pageRequest) readReport(id int64) (r letters.Report, err error) {
	year, err := strconv.Atoi(v.FormValue("year"))
	if err != nil || year < 2000 || year > 9999 {
		year = v.App.DB.Read().Now.UTC().Year()
	}
	r, err = v.App.Desks.Report(v.Context(), v.Who.Actor, id, year)
	if exchange.CodeOf(err) == exchange.Forbidden {
		err = exchange.Errorf(exchange.Forbidden, "Only those who sign for an institution see its report.")
	}
	return r, err
}

func (v *pageRequest) report(id int64) (ui.Response, error) {
	r, err := v.readReport(id)
	if err != nil {
		return ui.Response{}, err
	}
	base, err := v.read(id, "letters", "Report "+strconv.Itoa(r.Year))
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("institution-report", &reportPage{base, r})
}

// reportSheet sends the report as CSV.
func (v *pageRequest) reportSheet(id int64) (ui.Response, error) {
	r, err := v.readReport(id)
	if err != nil {
		return ui.Response{}, err
	}
	return v.SendSheet(fmt.Sprintf("agreements-%d.csv", r.Year), r.WriteCSV)
}
