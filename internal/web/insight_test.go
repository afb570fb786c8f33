package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
)

func TestInsightsPage_HasTheSameNumbersAsChartTableAndFile(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab := w.labOf("olivia")
		a := w.as("mario").get(lab + "/insights?months=3").want(http.StatusOK)
		for _, chart := range a.doc.Find("main svg[role=img]").EachIter() {
			if chart.Find("title").Text() == "" || chart.Find("desc").Text() == "" {
				t.Error("a chart without words")
			}
		}
		if n := a.doc.Find("main svg[role=img]").Length(); n != 3 {
			t.Errorf("%d charts", n)
		}
		if got := a.text(`figure:has(#f3) tbody tr:first-child .num`); got != "1" {
			t.Errorf("most requested: %q", got)
		}
		csv := w.as("mario").get(lab + "/insights.csv?months=3").want(http.StatusOK)
		received := 0
		for line := range strings.Lines(csv.body) {
			var n int
			if rest, ok := strings.CutPrefix(line, "received,"); ok {
				_, err := fmt.Sscanf(rest[strings.Index(rest, ",")+1:], "%d", &n)
				w.must(err)
				received += n
			}
		}
		if fmt.Sprint(received) != a.text("dl.stats.panel dd:first-of-type")[:len(fmt.Sprint(received))] ||
			received == 0 {
			t.Errorf("%d received, the page says %s", received, a.text("dl.stats.panel"))
		}
		if !strings.HasPrefix(csv.header.Get("Content-Type"), "text/csv") {
			t.Error(csv.header)
		}
		if a = w.as("mario").get(lab + "/insights?months=3"); a.doc.Find("figure:has(#f2) tbody tr").Length() != 3 {
			t.Error("not three months")
		}
		if a = w.as("josiah").get(w.labOf("josiah") + "/insights"); !strings.Contains(a.text("main"),
			"Nothing to show yet") {
			t.Error(a.text("main"))
		}
	})
}

func TestInsightsPage_FiltersByCategory(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab, v := w.labOf("olivia"), w.as("mario")
		received := func(query string) (n int) {
			_, err := fmt.Sscanf(v.get(lab+"/insights?months=60"+
				query).want(http.StatusOK).text("dl.stats.panel div:first-of-type dd"), "%d", &n)
			w.must(err)
			return n
		}
		all, sum := received(""), 0
		for _, code := range category.Codes() {
			sum += received("&category=" + code)
		}
		if lines := received("&category=CELL_LINE"); all != sum || lines == 0 || lines == all {
			t.Errorf("%d of all, %d of cell lines, %d together", all, lines, sum)
		}
		if received("&category=nonsense") != all {
			t.Error("nonsense narrows something")
		}
		a := v.get(lab + "/insights?category=CELL_LINE")
		if a.input("category") != "CELL_LINE" || !a.has(`a[href$="/insights.csv?months=12&category=CELL_LINE"]`) {
			t.Errorf("it is of %q", a.input("category"))
		}
	})
}

func TestGrantPage_IsCreatedFilledAndReported(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab, owner := w.labOf("olivia"), w.as("olivia")
		if a := owner.post(lab+"/grants", "title", "Bank", "funder_id",
			""); a.status != http.StatusUnprocessableEntity || a.input("title") != "Bank" {
			t.Errorf("%d %s", a.status, a.input("title"))
		}
		grant := owner.post(lab+"/grants", "title", "Bank <b>", "funder_id", "=EX-1").want(http.StatusSeeOther).location
		owner.post(grant+"/materials", "material", "nothing").want(http.StatusUnprocessableEntity)
		for _, title := range []string{"HEK293T", "HeLa"} {
			owner.post(grant+"/materials", "material", fmt.Sprint(w.material(title).ID)).want(http.StatusSeeOther)
		}
		a := owner.get(grant).want(http.StatusOK)
		if text := a.text("dl.stats"); !strings.Contains(text,
			"materials made available2 requests2 transfers completed1") && !strings.Contains(text, "made available2") {
			t.Error(text)
		}
		for name, status := range map[string]int{"mario": http.StatusForbidden, "josiah": http.StatusForbidden,
			"": http.StatusSeeOther, "ada": http.StatusOK} {
			w.as(name).get(grant).want(status)
		}
		w.as("mario").post(grant+"/links", "note", "x", "days", "30").want(http.StatusForbidden)
		if a = owner.post(grant+"/links", "note", "The funder", "days",
			"x"); a.status != http.StatusUnprocessableEntity || a.input("days") != "x" {
			t.Errorf("%d %s", a.status, a.input("days"))
		}
		a = owner.post(grant+"/links", "note", "The funder", "days", "30").want(http.StatusOK)
		u, err := url.Parse(a.text("#link"))
		w.must(err)
		if a.header.Get("Cache-Control") != "no-store" ||
			strings.Contains(owner.get(grant).body, u.Query().Get("key")) || u.Query().Get("key") == "" {
			t.Error("the link is shown more than once")
		}
		report := w.as("").get(u.RequestURI()).want(http.StatusOK)
		if report.header.Get("Referrer-Policy") != "no-referrer" ||
			!strings.Contains(report.header.Get("X-Robots-Tag"), "noindex") ||
			!report.has(`meta[name=robots][content=noindex]`) {
			t.Errorf("%v", report.header)
		}
		for _, name := range []string{"Carberry", "Olivia", "Mario", "example.org"} {
			if strings.Contains(report.text("main"), name) {
				t.Errorf("the report names %s", name)
			}
		}
		if !strings.Contains(report.text("main"), "HEK293T") || report.has("main form") ||
			strings.Contains(report.doc.Find("header.bar").Text(), u.Query().Get("key")) {
			t.Error(report.text("main"))
		}
		csv := w.as("").get(report.doc.Find("main a.btn").First().AttrOr("href", "")).want(http.StatusOK)
		if !strings.Contains(csv.body, "HEK293T") || strings.Count(csv.body, "\n") != 3 {
			t.Error(csv.body)
		}
		w.as("").get(grant + "/report").want(http.StatusNotFound)
		w.as("").get(grant + "/report?key=x").want(http.StatusNotFound)
		w.as("").get(grant + "/report.csv").want(http.StatusSeeOther)
		revoke := owner.get(grant).doc.Find(`form[action$="/revoke"]`).AttrOr("action", "")
		w.as("mario").post(revoke).want(http.StatusForbidden)
		owner.post(revoke).want(http.StatusSeeOther)
		w.as("").get(u.RequestURI()).want(http.StatusNotFound)
		owner.post(grant+"/materials/remove", "material", fmt.Sprint(w.material("HeLa").ID)).want(http.StatusSeeOther)
		if strings.Contains(owner.get(grant).text("#materials table"), "HeLa") {
			t.Error("still there")
		}
		if a = owner.post(grant, "title", "", "funder_id", "EX-2"); a.status != http.StatusUnprocessableEntity ||
			!a.has("details[open] #f-title") {
			t.Errorf("%d", a.status)
		}
		owner.post(grant, "title", "Other", "funder_id", "EX-2").want(http.StatusSeeOther)
		g, err := w.app.Grants.Grants(t.Context(), owner.actor, exchange.Page{Limit: 9})
		w.must(err)
		if g.Items[0].Title != "Other" {
			t.Error(g.Items[0].Title)
		}
	})
}
