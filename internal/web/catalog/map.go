package catalog

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/sequence"
	"aliquot/internal/web/ui"
)

// mapPage shows a sequence map of a material: a drawing, its features as a table, and the sequence.
type mapPage struct {
	ui.Page
	Material material.Shown
	File     document.Attachment
	Map      sequence.Map
	Failed   string // why the file cannot be shown
	Drawing  drawing
	Rows     []featureRow
	Lines    []sequenceLine
	Cut      bool // the sequence is longer than Lines
}

// featureRow is a feature in the table; the drawing has its number.
type featureRow struct {
	Number                     int
	Kind, Label, Place, Strand string
	Length                     int
}

// sequenceLine is a line of a sequence: the position of its first letter, and groups of ten letters.
type sequenceLine struct {
	At     int
	Groups []string
}

// The sequence is shown in lines of groups; a longer one than maxLetters is cut.
const (
	groupLetters = 10
	lineLetters  = 60
	maxLetters   = 20_000
)

// mapAddress returns the address of the page of a sequence map.
func mapAddress(material int64, f document.Attachment) string {
	return materialAt(material) + "/map?file=" + strconv.FormatInt(f.ID, 10)
}

// sequenceMap shows the sequence map in the attachment "file" of a material.
func (v *pageRequest) sequenceMap(id int64) (ui.Response, error) {
	m, err := v.App.Materials.MaterialView(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	file := ui.ParseID(v.URL.Query().Get("file"))
	i := slices.IndexFunc(m.Files, func(f document.Attachment) bool {
		return file != nil && f.ID == *file && f.SequenceMapFor != nil
	})
	if i < 0 {
		return ui.Response{}, exchange.Errorf(exchange.NotFound, "This material has no such sequence map.")
	}
	p := &mapPage{Page: ui.Page{Section: "catalog", Title: "Sequence map of " + m.Material.Title},
		Material: m.Shown, File: m.Files[i]}
	_, content, err := v.App.Documents.Content(v.Context(), v.Who.Actor, p.File.ID, p.File.Filename)
	if err != nil {
		return ui.Response{}, err
	}
	p.Map, err = sequence.Parse(content)
	if err = errors.Join(err, content.Close()); err != nil {
		p.Failed = err.Error()
		return ui.Show("map", p)
	}
	p.Drawing = draw(p.Map)
	for i, f := range p.Map.Features {
		p.Rows = append(p.Rows, rowOf(i+1, f))
	}
	p.Cut = len(p.Map.Letters) > maxLetters
	p.Lines = linesOf(p.Map.Letters[:min(len(p.Map.Letters), maxLetters)])
	return ui.Show("map", p)
}

func rowOf(number int, f sequence.Feature) featureRow {
	r := featureRow{Number: number, Kind: f.Kind, Label: f.Label, Strand: "forward"}
	if f.Reverse {
		r.Strand = "reverse"
	}
	var places []string
	for _, s := range f.Spans {
		places = append(places, fmt.Sprintf("%d–%d", s.From, s.To))
		r.Length += s.To - s.From + 1
	}
	r.Place = strings.Join(places, ", ")
	return r
}

func linesOf(letters string) (lines []sequenceLine) {
	for at := 0; at < len(letters); at += lineLetters {
		line := sequenceLine{At: at + 1}
		rest := letters[at:min(at+lineLetters, len(letters))]
		for len(rest) > 0 {
			n := min(groupLetters, len(rest))
			line.Groups, rest = append(line.Groups, rest[:n]), rest[n:]
		}
		lines = append(lines, line)
	}
	return lines
}

// drawing is a map as SVG: a ring for a circular sequence, otherwise a bar.
type drawing struct {
	Width, Height int
	Backbone      string // its path
	Shapes        []shape
	Ticks         []tick
}

// shape is one span of a feature, with the number of the feature where there is room for it.
type shape struct {
	Path, Class, Title string
	X, Y               float64
	Number             string
}

// tick is a position that is written at the sequence.
type tick struct {
	X, Y float64
	Text string
}

// Sizes of a drawing, in units of its view box. Features that overlap are drawn in lanes next to each other.
const (
	ringSize   = 400
	ringRadius = 150
	barWidth   = 760
	barMargin  = 20
	laneWidth  = 22
	bandWidth  = 16
	maxLanes   = 5
	ticks      = 4
)

func draw(m sequence.Map) drawing {
	d := drawing{Width: ringSize, Height: ringSize}
	at := func(position, out float64) (x, y float64) { // on a ring, clockwise from the top
		angle := 2 * math.Pi * position / float64(m.Length)
		r := ringRadius + out
		return ringSize/2 + r*math.Sin(angle), ringSize/2 - r*math.Cos(angle)
	}
	lanes := lanesOf(m.Features)
	if m.Circular {
		x0, y0 := at(0, 0)
		x1, y1 := at(float64(m.Length)/2, 0)
		d.Backbone = fmt.Sprintf("M%.1f %.1fA%d %d 0 0 1 %.1f %.1fA%d %d 0 0 1 %.1f %.1f", x0, y0,
			ringRadius, ringRadius, x1, y1, ringRadius, ringRadius, x0, y0)
	} else {
		d.Width, d.Height = barWidth+2*barMargin, (slices.Max(append(lanes, 0))+1)*laneWidth+60
		at = func(position, out float64) (x, y float64) {
			return barMargin + barWidth*position/float64(m.Length), 30 - out
		}
		x0, y0 := at(0, 0)
		x1, _ := at(float64(m.Length), 0)
		d.Backbone = fmt.Sprintf("M%.1f %.1fH%.1f", x0, y0, x1)
	}
	for i := range ticks {
		position := m.Length * i / ticks
		x, y := at(float64(position), 22)
		d.Ticks = append(d.Ticks, tick{x, y, strconv.Itoa(max(position, 1))})
	}
	for i, f := range m.Features {
		depth := -float64(lanes[i]+1) * laneWidth
		for _, s := range f.Spans {
			one := shape{Path: band(at, f, s, depth, m), Class: classOf(f.Kind),
				Title: fmt.Sprintf("%d %s, %s", i+1, f.Label, rowOf(i+1, f).Place)}
			one.X, one.Y = at(float64(s.From+s.To)/2, depth)
			if float64(s.To-s.From)/float64(m.Length) > 0.02 {
				one.Number = strconv.Itoa(i + 1)
			}
			d.Shapes = append(d.Shapes, one)
		}
	}
	return d
}

// lanesOf returns the lane of each feature: the first in which it overlaps no earlier one, or the last.
func lanesOf(features []sequence.Feature) []int {
	lanes := make([]int, len(features))
	for i, f := range features {
		for lanes[i] < maxLanes-1 {
			taken := false
			for j, other := range features[:i] {
				taken = taken || lanes[j] == lanes[i] && f.Spans[0].From <= other.Spans[len(other.Spans)-1].To &&
					other.Spans[0].From <= f.Spans[len(f.Spans)-1].To
			}
			if !taken {
				break
			}
			lanes[i]++
		}
	}
	return lanes
}

// band returns the path of a span: a band along the sequence that ends in a point in the direction of its strand.
func band(at func(position, out float64) (x, y float64), f sequence.Feature, s sequence.Span, depth float64,
	m sequence.Map) string {
	from, to := float64(s.From-1), float64(s.To)
	point := min(0.4*(to-from), 0.012*float64(m.Length))
	tip, body := to, to-point
	if f.Reverse {
		from, tip, body = to, from, from+point
	}
	half := bandWidth / 2.0
	var path strings.Builder
	line := func(command string, position, out float64) {
		x, y := at(position, out)
		fmt.Fprintf(&path, "%s%.1f %.1f", command, x, y)
	}
	along := func(begin, end, out float64) { // a ring is approximated by lines
		steps := 1
		if m.Circular {
			steps = 24
		}
		for i := 1; i <= steps; i++ {
			line("L", begin+(end-begin)*float64(i)/float64(steps), out)
		}
	}
	line("M", from, depth-half)
	along(from, body, depth-half)
	line("L", tip, depth)
	line("L", body, depth+half)
	along(body, from, depth+half)
	return path.String() + "Z"
}

// classOf returns the class by which a feature is coloured.
func classOf(kind string) string {
	switch kind {
	case "CDS", "gene", "mRNA", "exon":
		return "coding"
	case "promoter", "enhancer", "terminator", "polyA_signal", "regulatory":
		return "control"
	case "rep_origin", "oriT":
		return "origin"
	}
	return "other"
}
