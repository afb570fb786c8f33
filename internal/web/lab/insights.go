package lab

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

var insightPages = []ui.Route{
	ui.Get("/labs/{id}/insights", (*pageRequest).insights).Private().Expensive(),
	ui.Get("/labs/{id}/insights.csv", (*pageRequest).insightsCSV).Private().Expensive(),
}

type insightsPage struct {
	labPage
	Insights   transfer.Insights
	Months     int
	Periods    []int
	Category   string // "": all
	Categories []category.Category
	Since      string // the first month and the last one
	Until      string
	Stages     []stageLine
	StageChart stageChart
	Standing   columnChart
	Most       barChart
	Sides      []sideLine
	Endings    []endingLine
	Countries  []request.Counted[string]
	Fulfilled  string // percent of those that ended
	Whole      *stageLine
	Notes      []remark
}

// stageLine is how long a stage took.
type stageLine struct {
	Name           string
	Side           request.Side
	N              int
	Median, Longer int64 // seconds; the 90th percentile
}

// Party returns whose time it is.
func (l stageLine) Party() string {
	if l.Side == request.LabSide {
		return "Lab"
	}
	return "Requester"
}

type sideLine struct {
	Party   string
	Seconds int64
	Percent int64
}

type endingLine struct {
	Name string
	N    int64
}

// remark is a finding in the figures.
type remark struct{ Tone, Icon, Head, Text string }

var stageNames = map[request.Stage]string{request.DecisionStage: "Decision",
	request.DocumentsStage:   "Requester documents",
	request.CountersignStage: "Countersign", request.ShippingStage: "Shipping", request.ProblemStage: "Problems",
	request.ReceiptStage: "Receipt confirmed"}

var endingNames = map[request.State]string{request.Completed: "Completed",
	request.Declined: "Declined", request.Withdrawn: "Cancelled",
	request.Void: "Withdrawn", request.Shut: "Closed by the lab"}

func (v *pageRequest) readInsights() (*insightsPage, error) {
	base, err := v.readLab("insights", "Insights")
	if err != nil {
		return nil, err
	}
	p := &insightsPage{labPage: base, Months: 12, Periods: transfer.InsightMonths, Categories: category.All()}
	if n, err := strconv.Atoi(v.FormValue("months")); err == nil && slices.Contains(p.Periods, n) {
		p.Months = n
	}
	if c, known := category.Get(v.FormValue("category")); known {
		p.Category = c.Code
	}
	p.Insights, err = v.App.Requests.Insights(v.Context(), v.Who.Actor, base.Lab.ID, p.Category, p.Months)
	if err != nil {
		return nil, err
	}
	p.fill()
	return p, nil
}

func lineOf(name string, side request.Side, d request.Durations) stageLine {
	l := stageLine{Name: name, Side: side, N: len(d)}
	l.Median, _ = d.Percentile(50)
	l.Longer, _ = d.Percentile(90)
	return l
}

// fill fills the page from the figures.
func (p *insightsPage) fill() {
	months, total := p.Insights.Months, p.Insights.Total
	p.Since, p.Until = months[0].Begins.Format("January 2006"), months[len(months)-1].Begins.Format("January 2006")
	for _, s := range request.Stages {
		if d := total.Stages[s]; len(d) > 0 {
			p.Stages = append(p.Stages, lineOf(stageNames[s], s.Side(), d))
		}
	}
	if len(total.Whole) > 0 {
		p.Whole = new(lineOf("From request to receipt", "", total.Whole))
	}
	p.StageChart = chartOfStages(p.Stages)
	p.Standing = chartOfMonths(months)
	var bars []bar
	for _, m := range p.Insights.Requested {
		kind, _ := category.Get(m.Material.Category)
		bars = append(bars, bar{Name: m.Material.Title, Kind: kind.Label, N: m.N, ID: m.Material.ID})
	}
	p.Most = chartOfBars(bars)
	all := total.Sides[request.LabSide] + total.Sides[request.RequesterSide]
	for side, party := range map[request.Side]string{request.LabSide: "The lab",
		request.RequesterSide: "Requesters"} {
		if s := total.Sides[side]; all > 0 {
			p.Sides = append(p.Sides, sideLine{party, s, (s*100 + all/2) / all})
		}
	}
	slices.SortFunc(p.Sides, func(a, b sideLine) int { return strings.Compare(b.Party, a.Party) })
	var ended int64
	for _, s := range request.Endings {
		if n := total.Ended[s]; n > 0 {
			ended += n
			p.Endings = append(p.Endings, endingLine{endingNames[s], n})
		}
	}
	if ended > 0 {
		p.Fulfilled = strconv.FormatInt((total.Ended[request.Completed]*100+ended/2)/ended, 10) + "%"
	}
	p.Countries = request.TopCounts(total.Countries, 0)
	p.remark()
}

// remark returns the findings that are worth a look.
func (p *insightsPage) remark() {
	total := p.Insights.Total
	var lab, longest int64
	where := ""
	for _, s := range request.Stages {
		if s.Side() != request.LabSide {
			continue
		}
		var sum int64
		for _, n := range total.Stages[s] {
			sum += n
		}
		if lab += sum; sum > longest {
			longest, where = sum, stageNames[s]
		}
	}
	if lab > 0 && longest*100 >= lab*40 && len(total.Whole) >= 5 {
		p.Notes = append(p.Notes,
			remark{"turn", "clock", fmt.Sprintf("%s takes %d%% of the lab’s own time", where, longest*100/lab),
				ui.Took(longest) + " of " + ui.Took(lab) + " in this period."})
	}
	if n := total.Ended[request.Declined]; n > 0 && n*5 >= total.Received {
		p.Notes = append(p.Notes,
			remark{"info", "info", "Your lab declined " + ui.Plural(n, "request"),
				"State in the listing what you cannot share, so that people do not ask for nothing."})
	}
	if n := len(total.Stages[request.ProblemStage]); n > 0 {
		p.Notes = append(p.Notes,
			remark{"bad", "alert", ui.Plural(n, "problem") + " reported and solved",
				"Check how parcels are packed and labelled."})
	}
}

func (v *pageRequest) insights() (ui.Response, error) {
	p, err := v.readInsights()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("insights", p)
}

// insightsCSV sends all figures of the page as one table: a name, a month or a thing, and a number in each row.
func (v *pageRequest) insightsCSV() (ui.Response, error) {
	p, err := v.readInsights()
	if err != nil {
		return ui.Response{}, err
	}
	rows := [][]string{{"figure", "of", "value", "unit"}}
	add := func(figure, of string, n int64, unit string) {
		rows = append(rows, []string{figure, of, strconv.FormatInt(n, 10), unit})
	}
	for _, m := range p.Insights.Months {
		month := m.Begins.Format("2006-01")
		add("received", month, m.Received, "requests")
		add("new at the end", month, m.New, "requests")
		add("in progress at the end", month, m.Progress, "requests")
		for _, s := range request.Endings {
			add(string(s), month, m.Ended[s], "requests")
		}
	}
	lines := p.Stages
	if p.Whole != nil {
		lines = append(slices.Clone(lines), *p.Whole)
	}
	for _, l := range lines {
		add("stages ended", l.Name, int64(l.N), "stages")
		add("median", l.Name, l.Median, "seconds")
		add("90th percentile", l.Name, l.Longer, "seconds")
	}
	for _, s := range p.Sides {
		add("time waited for", s.Party, s.Seconds, "seconds")
	}
	for _, m := range p.Insights.Requested {
		add("most requested", fmt.Sprintf("%d %s", m.Material.ID, m.Material.Title), m.N, "requests")
	}
	for _, c := range p.Countries {
		add("completed, by country", c.Key, c.N, "requests")
	}
	return sendCSV(fmt.Sprintf("insights-lab-%s.csv", p.ID), rows), nil
}

// sendCSV sends a table as a file. Values that a spreadsheet would take for a formula are marked as text.
func sendCSV(name string, rows [][]string) ui.Response {
	return ui.Response{Serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
		out := csv.NewWriter(w)
		for _, row := range rows {
			for i, cell := range row {
				row[i] = asText(cell)
			}
			_ = out.Write(row) // the client may have disconnected
		}
		out.Flush()
	}}
}

// asText marks as text what a spreadsheet would take for a formula, unless it is a number.
func asText(cell string) string {
	if strings.IndexAny(cell, "=+-@\t\r\n＝＋－＠") != 0 {
		return cell
	}
	if _, err := strconv.ParseInt(cell, 10, 64); err == nil {
		return cell
	}
	return "'" + cell
}

// monthName is the label of a month on an axis.
func monthName(t time.Time) string { return t.Format("Jan") }
