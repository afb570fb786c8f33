package web_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/storetest"
	"aliquot/internal/web"

	"github.com/PuerkitoBio/goquery"
)

func TestStartPage_ShowsWhatIsListed(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		a := w.as("").get("/").want(http.StatusOK)
		if a.text("h1") == "" || !a.has(`form[role=search] [name=q]`) ||
			!a.has(`select[name=category] option[value=PDX]`) {
			t.Errorf("no search: %s", a.text("main"))
		}
		part, err := w.app.Materials.Materials(t.Context(), exchange.Actor{}, exchange.Page{Limit: 1},
			material.Filter{Category: new("CELL_LINE")})
		w.must(err)
		if got := a.text(`.rack a[href="/catalog?category=CELL_LINE"] b`); got != strconv.FormatInt(part.Total.N, 10) {
			t.Errorf("%s cell lines, want %d", got, part.Total.N)
		}
		stats := a.text(".stats")
		if !strings.Contains(stats, "3labs sharing") && !strings.Contains(stats, "labs sharing3") {
			t.Errorf("labs: %s", stats)
		}
		if !strings.Contains(stats, "receipt") || strings.Contains(stats, "0 seconds") {
			t.Errorf("how long a transfer takes: %s", stats)
		}
		if n := a.doc.Find("#h-new").Closest("section").Find("li").Length(); n != 5 {
			t.Errorf("%d new materials", n)
		}
		if a.has(`meta[name=description]`) == false {
			t.Error("nothing for search engines")
		}
	})
}

func TestStartPage_ShowsWhatWaitsForThePerson(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for name, want := range map[string]string{"mario": "Accept or decline", "josiah": "Confirm receipt"} {
		a := w.as(name).get("/").want(http.StatusOK)
		rows := a.doc.Find("#h-wait").Closest("section").Find("[data-row]")
		if rows.Length() == 0 || rows.Length() > 5 {
			t.Errorf("%s: %d requests wait", name, rows.Length())
		}
		if !strings.Contains(a.text("#h-wait ~ *, .panel"), want) {
			t.Errorf("%s: no %q in %s", name, want, a.text("main"))
		}
	}
	a := w.as("somebody").get("/").want(http.StatusOK)
	if !strings.Contains(a.text("main"), "You're all caught up") {
		t.Error(a.text("main"))
	}
}

// TestHome_ShowsInvitations that the visitor has not answered, with both answers.
func TestHome_ShowsInvitations(t *testing.T) {
	t.Parallel()
	w := alone(t)
	owner, mario := w.as("nadia"), w.as("mario")
	if mario.get("/").has(`form[action^="/join/"]`) {
		t.Error("an invitation before there is one")
	}
	_, _, err := w.app.Labs.Invite(t.Context(), owner.actor, owner.actor.Owns[0],
		lab.InvitationNew{RegistryID: exchange.Some(people["mario"])})
	w.must(err)
	a := mario.get("/").want(http.StatusOK)
	if n := a.doc.Find(`form[action^="/join/"] button`).Length(); n != 2 || a.text("#h-inv") != "You are invited" {
		t.Errorf("%d answers to invitations: %s", n, a.text("main"))
	}
	if w.as("priya").get("/").has(`form[action^="/join/"]`) {
		t.Error("others see it")
	}
}

// TestDashboard_NamesWhoWhatAndDueOfEachTask, and the stage of each request that the visitor made.
func TestDashboard_NamesWhoWhatAndDueOfEachTask(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		for _, name := range []string{"mario", "josiah", "priya"} {
			v := w.as(name)
			a := v.get("/").want(http.StatusOK)
			a.doc.Find("#h-wait").Closest("section").Find("[data-row]").Each(func(_ int, row *goquery.Selection) {
				href := row.Find("[data-open]").AttrOr("href", "")
				q := w.now(w.id(strings.TrimPrefix(href, "/requests/")))
				who := v.get(href).text("#decision, [aria-labelledby=h-parties]")
				named := row.Find("bdi").First().Text()
				if named == "" || !strings.Contains(who, named) || row.Find(".tag.turn").Length() == 0 ||
					row.Find("time, .tag").Length() < 2 && q.Party == request.LabSide {
					t.Errorf("%s: %s", name, row.Text())
				}
			})
			part, err := w.app.Requests.Requests(w.Context(), v.actor, exchange.Page{Limit: 200},
				request.Filter{Requester: &v.actor.ID, Active: new(true)})
			w.must(err)
			rows := a.doc.Find("#h-own").Closest("section").Find("li")
			if want := min(len(part.Items), 5); rows.Length() != want || rows.Find(".mini").Length() != want {
				t.Errorf("%s sees %d of %d requests they made: %s", name, rows.Length(), want, rows.Text())
			}
		}
	})
}

// TestChecklist_OfSomeoneNewGoesWhenDoneOrDismissed, of a requester and of a lab.
func TestChecklist_OfSomeoneNewGoesWhenDoneOrDismissed(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("newcomer")
		const own = "section[aria-labelledby=h-requester]"
		if a := v.get("/"); a.doc.Find(own+" li a").Length() == 0 || a.has("form[action='/checklist'] [value^=lab-]") {
			t.Errorf("someone new sees %s", a.text("main"))
		}
		before := v.get("/").doc.Find(own + " li a").Length()
		_, err := w.app.Requests.CreateRequest(w.Context(), v.actor,
			request.New{Material: exchange.Some(exchange.Ref(w.material("HeLa").ID))})
		w.must(err)
		if n := v.get("/").doc.Find(own + " li a").Length(); n != before-1 {
			t.Errorf("%d steps left of %d after one was done", n, before)
		}
		v.post("/labs/new", "name", "Newcomers", "description", "We are new.", "decide_days", "7",
			"countersign_days", "14", "ship_days", "14").want(http.StatusSeeOther)
		key := v.get("/").doc.Find("form[action='/checklist'] [value^=lab-]").AttrOr("value", "lab-none")
		id, ofLab := strings.TrimPrefix(key, "lab-"), "section[aria-labelledby=h-"+key+"]"
		if n := v.get("/").doc.Find(ofLab + " li a").Length(); n != 3 {
			t.Errorf("a new lab has %d steps: %s", n, v.get("/").text("main"))
		}
		v.post("/labs/"+id+"/shipping", "needs_shipping_address", "1").want(http.StatusSeeOther)
		if n := v.get("/").doc.Find(ofLab + " li a").Length(); n != 2 {
			t.Errorf("%d steps after one was done", n)
		}
		v.post("/checklist", "list", "lab-"+id).want(http.StatusSeeOther)
		if a := v.get("/"); a.has(ofLab) || !a.has(own) {
			t.Errorf("after one was dismissed: %s", a.text("main"))
		}
		v.post("/checklist", "list", "requester").want(http.StatusSeeOther)
		if v.get("/").has("form[action='/checklist']") || w.as("mario").get("/").has("form[action='/checklist']") {
			t.Error("a dismissed list, or one of somebody who is not new")
		}
		w.db.Clock = func() time.Time { return time.Now().Add(person.NewFor + time.Hour) }
		if w.as("newcomer").get("/").has("form[action='/checklist']") {
			t.Error("a list after a month")
		}
	})
}

// TestStartPage_HasTheFirstTasksOfTheInbox: the visitor's first tasks, and their number.
func TestStartPage_HasTheFirstTasksOfTheInbox(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		for _, name := range []string{"mario", "olivia", "josiah", "gabriel"} {
			v := w.as(name)
			start, inbox := v.get("/").foundLinks("[data-row] [data-open]"),
				v.get("/requests?turn=me").foundLinks("[data-row] th a")
			if most := inbox[:min(len(inbox), 5)]; !slices.Equal(start, most) {
				t.Errorf("%s: the start page has %v, the inbox %v", name, start, inbox)
			}
			labs := v.get("/requests?turn=labs").foundLinks("[data-row] th a")
			if has := v.get("/").has(`main a[href="/requests?turn=labs"]`); has != (len(labs) > 0) {
				t.Errorf("%s: %d wait on labs, and the start page says so: %v", name, len(labs), has)
			}
		}
	})
}

func TestStartPage_OfAnAdminHasTheirOwnRequests(t *testing.T) {
	t.Parallel()
	w := alone(t)
	a := w.as("ada").get("/").want(http.StatusOK)
	for _, href := range a.foundLinks("#h-wait ~ * [data-open], [data-row] [data-open]") {
		if !strings.HasPrefix(href, "/requests/") {
			t.Errorf("a row leads to %s", href)
		}
	}
	if n := a.doc.Find("[data-row]").Length(); n > 1 {
		t.Errorf("%d requests wait for an admin who made one", n)
	}
}

// foundLinks are the addresses that the links lead to that a selector finds.
func (a answer) foundLinks(selector string) []string {
	var list []string
	for _, n := range a.doc.Find(selector).EachIter() {
		list = append(list, n.AttrOr("href", ""))
	}
	return list
}

func TestStartPage_OfAnEmptyDatabaseOmitsWhatIsUnknown(t *testing.T) {
	t.Parallel()
	w := emptyExchange(t)
	a := w.as("").get("/").want(http.StatusOK)
	if a.has(".stats") || !strings.Contains(a.text("main"), "Nothing is listed yet") {
		t.Error(a.text("main"))
	}
	if a := w.as("").get("/catalog").want(http.StatusOK); !strings.Contains(a.text("main"), "Nothing is listed yet") {
		t.Error(a.text("main"))
	}
}

// TestPages_WorkOnAnEmptyDatabase holds that no page needs anything to show: of somebody new, of their lab, and
// of an admin.
func TestPages_WorkOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	w := emptyExchange(t)
	w.as("newcomer")
	w.must(w.app.Accounts.SetAdmin(t.Context(), "newcomer", true))
	v := w.as("newcomer")
	lab := fmt.Sprint(v.actor.Owns[0])
	seen := 0
	// for what their addresses lack here
	asks := map[string]int{"/join": 404, "/sign": 404, "/sign/document": 404, "/share/spreadsheet/export": 404, "/share/spreadsheet/template": 404,
		"/signin/callback": 422, "/signin/link": 422, "/share/number": 422, "/labs/" + lab + "/people/remove": 404, "/labs/" + lab + "/people/leave": 409}
	for _, pattern := range web.Patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		rest, ofLab := strings.CutPrefix(path, "/labs/{id}")
		path = "/labs/" + lab + rest
		if !ofLab {
			_, path, _ = strings.Cut(pattern, " ")
		}
		if method != http.MethodGet || strings.Contains(path, "{") || path == "/notifications/stream" ||
			path == "/signin/start" {
			continue
		}
		seen++
		a := v.get(path)
		if a.status >= 400 && a.status != asks[path] {
			t.Errorf("%s: %d %.200s", path, a.status, a.text("main"))
		}
		if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") && a.status == http.StatusOK && !a.has("h1") {
			t.Errorf("%s has no heading", path)
		}
	}
	if seen < 45 {
		t.Errorf("only %d pages", seen)
	}
}

func TestStartPage_RunsFewStatements(t *testing.T) {
	t.Parallel()
	w := alone(t)
	nobody := w.as("")
	nobody.get("/")
	// One, since a material that was put under embargo in the last minute must not stand there.
	if n := w.statementsOf(func() { nobody.get("/") }); n != 1 {
		t.Errorf("%d statements for numbers that are remembered", n)
	}
	mario := w.as("mario")
	mario.get("/")
	if n := w.statementsOf(func() { mario.get("/") }); n > 23 { // three for invitations, five for agreements to sign, one for duties
		t.Errorf("%d statements", n)
	}
}

func TestSearchAndHelpPages_RunFewStatements(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	for path, most := range map[string]int64{
		"/help": 2, "/privacy": 2, "/accessibility": 2, "/account/searches": 5, "/catalog/suggest?q=he": 7,
		"/catalog?show=labs&q=lab": 7, "/catalog?show=people&q=m": 7, "/catalog": 14,
		"/catalog?q=zzzz&category=PDX&is_archived=false": 24, w.listing("HeLa"): 20, // four of them for agreements, one for lineage
	} {
		v.get(path).want(http.StatusOK)
		if n := w.statementsOf(func() { v.get(path) }); n > most {
			t.Errorf("%s: %d statements, %d at most", path, n, most)
		}
	}
}

// statementsOf is how many do makes.
func (w *world) statementsOf(do func()) int64 {
	before := w.db.Queries()
	do()
	return w.db.Queries() - before
}

// emptyExchange is one without the sample data.
func emptyExchange(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, db: storetest.Open(t, "sqlite")}
	w.app = app.New(app.Config{DB: w.db, PublicURL: "http://example.org", Access: exchange.AccessMembers,
		Registration:  []string{"open"},
		TokenLifetime: time.Hour, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	mux := http.NewServeMux()
	w.must(web.Mount(mux, web.Config{App: w.app, OpenAPI: openAPIDocument, Version: "test"}))
	w.pages = mux
	return w
}
