package lab

import (
	"math"
	"strconv"
	"strings"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// Charts are computed in the units of their viewBox; the templates only write them out.

// tick is a mark on an axis.
type tick struct {
	At   float64
	Text string
}

// scale returns an end of an axis that is at least most, and a step that makes three to six ticks.
func scale(most float64) (end, step float64) {
	if most <= 0 {
		return 4, 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, by := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		if step = by * power; math.Ceil(most/step) <= 5 {
			break
		}
	}
	return math.Ceil(most/step) * step, step
}

func round(x float64) float64 { return math.Round(x*10) / 10 }

func figure(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// stageChart has a bar to the median of each stage and a line from there to the 90th percentile.
type stageChart struct {
	Height, Axis float64
	Ticks        []tick
	Rows         []stageRow
	Text         string // all of it in a sentence
}

type stageRow struct {
	stageLine
	Y, Width, To      float64
	Middle            float64
	Inside            bool // the median's label fits in the bar
	MedianText, Whisk string
}

const (
	day        = 24 * 60 * 60
	stagesLeft = 168 // where the bars begin
)

func chartOfStages(lines []stageLine) (c stageChart) {
	const left, width, row = stagesLeft, 332, 43
	var most float64
	for _, l := range lines {
		most = max(most, float64(l.Longer)/day)
	}
	end, step := scale(most)
	c.Axis = float64(row*len(lines) + 20)
	c.Height = c.Axis + 30
	for x := 0.0; x <= end+step/2; x += step {
		c.Ticks = append(c.Ticks, tick{round(left + x/end*width), figure(round(x*10) / 10)})
	}
	var said []string
	for i, l := range lines {
		r := stageRow{stageLine: l, Y: float64(24 + row*i), Width: round(float64(l.Median) / day / end * width)}
		r.To, r.Middle = round(left+float64(l.Longer)/day/end*width), float64(34+row*i)
		r.MedianText, r.Whisk, r.Inside = ui.InDays(l.Median), ui.InDays(l.Longer), r.Width > 40
		c.Rows = append(c.Rows, r)
		said = append(said, strings.ToLower(l.Name)+" "+r.MedianText)
	}
	c.Text = "Horizontal bars: " + strings.Join(said, ", ") +
		" days. Lines show the 90th percentile. The table below has every value."
	return c
}

// End returns the x position at which a row's bar ends.
func (r stageRow) End() float64 { return stagesLeft + r.Width }

// columnChart has a stacked column for each month.
type columnChart struct {
	Ticks   []tick
	Columns []column
	Text    string
}

type column struct {
	X, Width, Middle float64
	Month, Year      string // Year is "" if it is that of the month before, or does not fit
	Total            int64
	Top              float64
	Parts            []part
}

type part struct {
	Class     string
	Y, Height float64
}

// monthParts are the parts of a month's column, from the bottom: requests completed and otherwise ended in it, and
// those in progress and new at its end.
func monthParts(m transfer.Month) [4]int64 {
	var other int64
	for _, s := range request.Endings[1:] {
		other += m.Ended[s]
	}
	return [4]int64{m.Ended[request.Completed], m.Progress, m.New, other}
}

func chartOfMonths(months []transfer.Month) (c columnChart) {
	const left, width, bottom, height = 34, 526, 222, 190
	var most int64
	for _, m := range months {
		most = max(most, sumOf(monthParts(m)))
	}
	end, step := scale(float64(most))
	step = max(step, 1)
	end = math.Ceil(end/step) * step
	for y := 0.0; y <= end+step/2; y += step {
		c.Ticks = append(c.Ticks, tick{round(bottom - y/end*height), figure(y)})
	}
	each := float64(width) / float64(len(months))
	every := (len(months) + 11) / 12 // show only some names if not all of them fit
	for i, m := range months {
		col := column{X: round(left + each*float64(i) + each*.15), Width: round(each * .7), Total: sumOf(monthParts(m))}
		col.Middle = round(col.X + col.Width/2)
		if i%every == 0 {
			col.Month = monthName(m.Begins)
			if i == 0 || months[i-every].Begins.Year() != m.Begins.Year() {
				col.Year = m.Begins.Format("2006")
			}
		}
		y := float64(bottom)
		for k, n := range monthParts(m) {
			if h := round(float64(n) / end * height); n > 0 {
				y -= h
				col.Parts = append(col.Parts, part{[]string{"c1", "c2", "c3", "c4"}[k], round(y), max(h-1, 0.5)})
			}
		}
		col.Top = round(y - 5)
		c.Columns = append(c.Columns, col)
	}
	c.Text = "Stacked columns from " + months[0].Begins.Format("January 2006") + " to " +
		months[len(months)-1].Begins.Format("January 2006") +
		". The largest has " + ui.Plural(most, "request") + ". The table below has every value."
	return c
}

func sumOf(list [4]int64) (n int64) {
	for _, x := range list {
		n += x
	}
	return n
}

// Labelled reports whether columns are wide enough for a number above them.
func (c columnChart) Labelled() bool { return len(c.Columns) <= 14 }

// barChart has a horizontal bar for each thing.
type barChart struct {
	Height float64
	Bars   []bar
	Text   string
}

type bar struct {
	Name, Kind  string
	ID, N       int64
	Y, Width    float64
	Short       string
	Label, Sub  float64 // positions of the texts
	Number, End float64
}

// shortened returns a text that fits next to a chart.
func shortened(text string) string {
	if letters := []rune(text); len(letters) > 22 {
		return strings.TrimSpace(string(letters[:21])) + "…"
	}
	return text
}

func chartOfBars(bars []bar) (c barChart) {
	var most int64
	for _, b := range bars {
		most = max(most, b.N)
	}
	c.Height = float64(44*len(bars) + 8)
	var said []string
	for i, b := range bars {
		y := float64(44 * i)
		b.Y, b.Width, b.Short = y+12, round(330*float64(b.N)/float64(most)), shortened(b.Name)
		b.Label, b.Sub, b.Number, b.End = y+21, y+36, y+29, 198+b.Width
		c.Bars = append(c.Bars, b)
		said = append(said, b.Name+" "+ui.Count(b.N))
	}
	c.Text = strings.Join(said, ", ") + "."
	return c
}
