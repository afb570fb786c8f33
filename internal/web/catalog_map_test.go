package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"

	"github.com/PuerkitoBio/goquery"
)

// mapped is the material of the demo that has a sequence map.
const mapped = "pSample-EGFP (made up)"

// mapOf returns the sequence map of a material.
func (w *world) mapOf(title string) document.Attachment {
	w.Helper()
	m, err := w.app.Materials.MaterialView(w.Context(), exchange.Actor{}, w.material(title).ID)
	w.must(err)
	i := slices.IndexFunc(m.Files, func(f document.Attachment) bool { return f.SequenceMapFor != nil })
	if i < 0 {
		w.Fatalf("%s has no map: %+v", title, m.Files)
	}
	return m.Files[i]
}

func TestSequenceMap_ShowsFeaturesAndSequence(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("")
		m, file := w.material(mapped), w.mapOf(mapped)
		a := v.get(fmt.Sprintf("/catalog/%d", m.ID)).want(http.StatusOK)
		link := a.doc.Find("#files a[href*='/map?']").AttrOr("href", "")
		a = v.get(link).want(http.StatusOK)
		if got := a.text(".lede"); got != "pSample-EGFP: 1,920 bp, circular, 2 features." {
			w.Error(got)
		}
		rows := a.doc.Find("table[aria-labelledby=h-features] tbody tr").Map(func(_ int, row *goquery.Selection) string {
			return strings.Join(row.Children().Map(func(_ int, cell *goquery.Selection) string { return cell.Text() }), "|")
		})
		if got := strings.Join(rows, "; "); got != "1 made-up promoter|promoter|301–400|forward|100 bp; "+
			"2 EGFP|CDS|414–1133|forward|720 bp" {
			w.Error(got)
		}
		if n := a.doc.Find(".seqmap svg path:not(.backbone)").Length(); n != 2 {
			w.Errorf("%d features are drawn", n)
		}
		if got := a.text(".seq tr:first-child"); !strings.HasPrefix(strings.ReplaceAll(got, " ", ""), "1aaacggcgct") {
			w.Errorf("the sequence begins with %q", got)
		}
		v.get(fmt.Sprintf("/catalog/%d/map?file=%d", w.material("HeLa").ID, file.ID)).want(http.StatusNotFound)
		v.get(fmt.Sprintf("/catalog/%d/map", m.ID)).want(http.StatusNotFound)
	})
}
