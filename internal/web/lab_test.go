package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/webhook"

	"github.com/PuerkitoBio/goquery"
)

// labOf is the path of the first lab that somebody of the demo owns.
func (w *world) labOf(name string) string {
	w.Helper()
	return fmt.Sprintf("/labs/%d", w.as(name).actor.Owns[0])
}

// TestLabPage_TabsFollowThePolicy also holds that nobody sees a tab that they may not open.
func TestLabPage_NamesItsInstitution(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		at := func() string {
			return w.as("").get(fmt.Sprintf("/labs/%d", w.material("HeLa").OrganizationID)).want(http.StatusOK).
				text(`main header a[href^="/offices/"]`)
		}
		if name := at(); name != "Sample University" {
			t.Errorf("the lab is at %q", name)
		}
		w.providing() // of several, the institution whose entry begins last counts
		if name := at(); name != "Provider Institute" {
			t.Errorf("the lab moved, and is at %q", name)
		}
	})
}

func TestLabPage_TabsFollowThePolicy(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab := w.labOf("olivia")
	pages := []string{"", "/people", "/requirements", "/grants", "/activity", "/insights", "/insights.csv", "/webhooks",
		"/history", "/settings"}
	for name, want := range map[string]string{
		"olivia": "200 200 200 200 200 200 200 200 200 200", // the owner
		"mario":  "200 200 200 200 200 200 200 200 200 403", // a member
		"josiah": "200 200 200 403 403 403 403 403 403 403", // a stranger
		"":       "200 200 200 303 303 303 303 303 303 303",
		"ada":    "200 200 200 200 200 200 200 200 200 200", // the admin
	} {
		v := w.as(name)
		var got []string
		tabs := map[string]bool{}
		for i, page := range pages {
			a := v.get(lab + page)
			got = append(got, fmt.Sprint(a.status))
			if i == 0 {
				for _, link := range a.doc.Find("nav.tabs a").EachIter() {
					tabs[strings.TrimPrefix(link.AttrOr("href", ""), lab)] = true
				}
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
		for i, page := range pages {
			if page != "/insights.csv" && tabs[page] != strings.HasPrefix(strings.Fields(want)[i], "200") {
				t.Errorf("%s: the tab %q is shown: %v", name, page, tabs[page])
			}
		}
	}
	if a := w.as("").get("/labs/99999"); a.status != http.StatusNotFound {
		t.Errorf("no lab: %d", a.status)
	}
}

func TestLabPage_ShowsNoMailAddressToAnonymousReaders(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab := w.labOf("olivia")
	for _, page := range []string{"", "/people", "/requirements"} {
		a := w.as("").get(lab + page).want(http.StatusOK)
		if strings.Contains(a.body, "@example.org") || strings.Contains(a.text("main"), people["mario"]) ||
			a.has("main form[method=post]") {
			t.Errorf("%s shows too much", page)
		}
	}
	if a := w.as("").get(lab + "/people"); !strings.Contains(a.text("main"), "Mario Manager") {
		t.Error("the names of the members are not there")
	}
}

func TestLabPage_CreatesALabAndKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("josiah")
		hostile := `<script>alert(1)</script> "lab"`
		a := v.post("/labs/new", "name", hostile, "description", "D", "decide_days", "never", "countersign_days", "5",
			"ship_days", "6").want(http.StatusUnprocessableEntity)
		if a.input("name") != hostile || a.input("decide_days") != "never" ||
			!a.has("#errors a[href='#f-decide_days']") || a.has("main script") {
			t.Errorf("%s %s", a.input("name"), a.text("#errors"))
		}
		a = v.post("/labs/new", "name", hostile, "description", "D", "decide_days", "4", "countersign_days", "5",
			"ship_days", "6").follow().want(http.StatusOK)
		if a.text("h1") != hostile || strings.Contains(a.body, "<script>alert") {
			t.Error(a.text("h1"))
		}
		lab := a.doc.Find("nav.tabs a").First().AttrOr("href", "")
		if a = v.post(lab+"/settings", "name", "", "description", "E", "decide_days", "4", "countersign_days", "5",
			"ship_days", "6"); a.status != http.StatusUnprocessableEntity || a.input("description") != "E" {
			t.Errorf("%d %s", a.status, a.input("description"))
		}
		v.post(lab+"/settings", "name", "Other", "description", "E", "decide_days", "9", "countersign_days", "5",
			"ship_days", "6").want(http.StatusSeeOther)
		if a = v.get(lab + "/settings"); a.text("h1") != "Other" || a.input("decide_days") != "9" {
			t.Errorf("%s %s", a.text("h1"), a.input("decide_days"))
		}
		if text := v.get(lab + "/history").text("main"); !strings.Contains(text,
			"target for decisions: 4 days 9 days") {
			t.Error(text)
		}
		w.as("mario").post(lab+"/settings", "name", "Mine").want(http.StatusForbidden)
	})
}

func TestLabPage_RemovalOfAMemberCanBeUndone(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab, owner := w.labOf("olivia"), w.as("olivia")
	mario := w.as("mario").actor.ID.String()
	a := owner.post(lab+"/people/remove", "member", mario).follow().want(http.StatusOK)
	undo := a.doc.Find(".toast form").AttrOr("action", "")
	if !strings.Contains(a.text(".toast"), "Mario Manager will be removed") || undo == "" {
		t.Fatal(a.text(".toast"))
	}
	if !strings.Contains(owner.get(lab+"/people").text("#people"), "Mario Manager") {
		t.Error("removed before the time to take it back was over")
	}
	if a = owner.post(undo).follow(); !strings.Contains(a.text(".toast"), "Undone") {
		t.Error(a.text(".toast"))
	}
	w.as("priya").post(lab+"/people/remove", "member", mario).want(http.StatusForbidden)
	if a = owner.post(lab+"/people/owner", "member", mario); a.status != http.StatusUnprocessableEntity {
		t.Errorf("handed over without the tick: %d", a.status)
	}
	owner.post(lab+"/people/owner", "member", mario, "sure", "1").want(http.StatusSeeOther)
	owner.post(lab + "/people/leave").want(http.StatusConflict) // Mario owns it once he accepts
	asked := w.as("mario").get("/labs").doc.Find(`form[action^="/join/"]`).AttrOr("action", "")
	w.as("mario").post(asked, "answer", "accept").want(http.StatusSeeOther)
	w.as("olivia").post(lab + "/people/leave").want(http.StatusSeeOther)
	w.as("mario").post(lab + "/people/leave").want(http.StatusConflict)
	if text := w.as("mario").get(lab + "/people").text("#people"); strings.Contains(text, "Olivia") {
		t.Error(text)
	}
}

func TestMemberRemoval_PassesTheirListingsToWhoIsChosenAndSaysSoBefore(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab, owner := w.labOf("olivia"), w.as("olivia")
		mario, heir := w.as("mario").actor.ID, w.as("heir").actor.ID
		hela := w.material("HeLa")
		w.must(w.db.Tx(w.Context(), func(ctx context.Context, tx store.Conn) error {
			return tx.Organizations.Join(ctx, hela.OrganizationID, heir)
		}))
		if hela.ContactID != mario {
			t.Fatal("HeLa has another contact")
		}
		a := owner.get(lab + "/people/remove?member=" + mario.String()).want(http.StatusOK)
		text := a.text("form[action$='/people/remove']")
		for _, want := range []string{"listings no longer name them as the contact", "open request", "under embargo"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not stated before: %s", want, text)
			}
		}
		post := func(to string) answer {
			return owner.post(lab+"/people/remove", "member", mario.String(), "to", to)
		}
		if a := post(w.as("stranger").actor.ID.String()).want(http.StatusUnprocessableEntity); !strings.Contains(
			a.text("#errors"), "member who stays") {
			t.Errorf("to a stranger: %s", a.text("#errors"))
		}
		post(mario.String()).want(http.StatusUnprocessableEntity)
		undo := post(heir.String()).follow().doc.Find(".toast form").AttrOr("action", "")
		if a := w.as("").get(fmt.Sprintf("/catalog/%d", hela.ID)); !strings.Contains(a.text("main"), "Mario") {
			t.Error("passed on while it could be undone")
		}
		id, err := strconv.ParseInt(strings.TrimPrefix(undo, "/undo/"), 10, 64)
		w.must(err)
		w.db.Clock = func() time.Time { return time.Now().Add(transfer.UndoTime + time.Second) }
		jobtest.Start(t, job.Config{DB: w.db, Handlers: w.app.Handlers()})
		jobtest.Wait(t, w.db, id, exchange.JobDone)
		now := w.material("HeLa")
		if a := w.as("").get(fmt.Sprintf("/catalog/%d", hela.ID)); now.ContactID != heir ||
			strings.Contains(a.text("main"), "Mario") {
			t.Errorf("the contact of HeLa is %s: %s", now.ContactID, a.text("[aria-labelledby='h-lab']"))
		}
		if text := owner.get(fmt.Sprintf("/catalog/%d/history", hela.ID)).text("main"); !strings.Contains(text, "heir") {
			t.Errorf("the history does not tell: %s", text)
		}
	})
}

func TestInvitationPage_LinkJoinsAndItsTokenIsInNoPage(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		organization, owner := w.labOf("olivia"), w.as("olivia")
		a := owner.post(organization+"/invitations", "who", "new@example.com\nnot an address@\n"+people["mario"],
			"role",
			"MEMBER", "days", "30").want(http.StatusUnprocessableEntity)
		if left := a.input("who"); strings.Contains(left, "new@example.com") ||
			!strings.Contains(left, people["mario"]) ||
			!strings.Contains(a.text("#errors"), "already a member of this organization") {
			t.Errorf("left %q: %s", left, a.text("#errors"))
		}
		if a = owner.post(organization+"/invitations", "who", "x@example.com", "role", "MEMBER", "days",
			"never"); a.status != http.StatusUnprocessableEntity || a.input("days") != "never" {
			t.Errorf("%d %s", a.status, a.input("days"))
		}
		w.as("mario").post(organization+"/invitations", "who", "x@example.com", "role", "MEMBER", "days",
			"30").want(http.StatusForbidden)
		list, err := w.app.Labs.Invitations(t.Context(), owner.actor, owner.actor.Owns[0], lab.InvitationFilter{},
			exchange.Page{Limit: 9})
		w.must(err)
		if len(list.Items) != 1 {
			t.Fatalf("%d invitations", len(list.Items))
		}
		var link string
		w.must(w.db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			link, err = w.app.Notifications.InvitationLink(ctx, tx, list.Items[0].Invitation)
			return err
		}))
		u, err := url.Parse(link)
		w.must(err)
		guest := w.as("")
		a = guest.get(u.RequestURI())
		if a.status != http.StatusSeeOther || a.location != "/join" ||
			a.header.Get("Referrer-Policy") != "no-referrer" {
			t.Fatalf("%d %s %v", a.status, a.location, a.header)
		}
		token := u.Query().Get("token")
		a = guest.get("/join").want(http.StatusOK)
		if strings.Contains(a.body, token) || a.header.Get("Referrer-Policy") != "no-referrer" ||
			a.header.Get("Cache-Control") != "no-store" ||
			!strings.Contains(a.text("main"), "Olivia Owner asks you to join the lab Sample Cell Bank") ||
			strings.Contains(a.text("main"), "new@example.com") {
			t.Error(a.text("main"))
		}
		if !a.has(`a[href="/signin?next=%2Fjoin"]`) || a.has("form[action='/join/answer']") {
			t.Error("somebody who is not signed in may answer")
		}
		signed := w.as("newcomer")
		signed.cookies["__Host-join"] = guest.cookies["__Host-join"]
		a = signed.get("/join").want(http.StatusOK)
		if !a.has("form[action='/join/answer']") {
			t.Fatal(a.text("main"))
		}
		a = signed.post("/join/answer", "answer", "accept").want(http.StatusSeeOther)
		if a.location != organization || !w.as("newcomer").actor.MemberOf(owner.actor.Owns[0]) {
			t.Errorf("%s", a.location)
		}
		again := w.as("")
		again.get(u.RequestURI())
		if text := again.get("/join").text("main"); !strings.Contains(text, "was accepted") {
			t.Error(text)
		}
		broken := w.as("")
		broken.get("/join?token=nonsense")
		broken.get("/join").want(http.StatusNotFound)
		w.as("").get("/join").want(http.StatusNotFound)
	})
}

func TestLabPage_JoinRequestIsAnsweredByTheOwner(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab, owner, stranger := w.labOf("olivia"), w.as("olivia"), w.as("josiah")
	stranger.post(lab+"/joins", "note", "I start in May <b>").want(http.StatusSeeOther)
	if text := stranger.get(lab + "/people").text("main"); !strings.Contains(text, "has not answered yet") {
		t.Error(text)
	}
	a := owner.get(lab + "/people")
	if !strings.Contains(a.text("main"), "I start in May <b>") {
		t.Error(a.text("main"))
	}
	decline := a.doc.Find(`form[action$="/decline"]`).AttrOr("action", "")
	w.as("mario").post(decline, "reason", "no").want(http.StatusForbidden)
	owner.post(decline, "reason", "Write to us first.").want(http.StatusSeeOther)
	if text := stranger.get(lab + "/people").text("main"); !strings.Contains(text, "Write to us first.") {
		t.Error(text)
	}
	if a = stranger.post(lab+"/joins", "note", "Again"); a.status != http.StatusUnprocessableEntity ||
		a.input("note") != "Again" {
		t.Errorf("%d %s", a.status, a.input("note"))
	}
}

func TestLabPage_InvitationExplainsHowToNameSomebody(t *testing.T) {
	t.Parallel()
	w := alone(t)
	client, err := identity.New(identity.Config{Issuer: "https://orcid.org", ClientID: "x"})
	w.must(err)
	w.app.Identity = client
	v, path := w.as("olivia"), w.labOf("olivia")+"/invitations"
	a := v.post(path, "role", "MEMBER", "days", "30", "who", "bob\n0000-0002-1825-0098\nhttps://orcid.org/"+
		people["gabriel"]).want(http.StatusUnprocessableEntity)
	for _, want := range []string{"bob: an ORCID iD has 16 digits, such as", "0000-0002-1825-0098: ", "check digit",
		"e-mail address"} {
		if !strings.Contains(a.text("#f-who-e"), want) {
			t.Errorf("%q is not in %s", want, a.text("#f-who-e"))
		}
	}
	if left := a.doc.Find("#f-who").Text(); strings.Contains(left, "orcid.org") || !strings.Contains(left, "bob") {
		t.Errorf("%q is left to be named", left)
	}
}

func TestLabPage_ShippingRequirementsAndDocuments(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab, member := w.labOf("olivia"), w.as("mario")
	if a := member.post(lab+"/shipping", "restrictions", strings.Repeat("x", 200_000), "needs_payment",
		"1"); a.status != http.StatusUnprocessableEntity || !a.has("details[open] textarea[name=restrictions]") {
		t.Errorf("%d", a.status)
	}
	a := member.post(lab+"/shipping", "needs_payment", "1", "accepts_reimbursement", "1", "restrictions",
		"Only on Mondays").follow()
	if text := a.text("#shipping"); !strings.Contains(text, "Only on Mondays") ||
		!strings.Contains(text, "by reimbursement") {
		t.Error(text)
	}
	w.as("josiah").post(lab+"/shipping", "restrictions", "Mine").want(http.StatusForbidden)
	pdf := "%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n"
	if a = member.upload(lab+"/documents", "other", "x.pdf", pdf); a.status != http.StatusUnprocessableEntity ||
		!strings.Contains(a.text("#errors"), "Choose a file") {
		t.Errorf("%d %s", a.status, a.text("#errors"))
	}
	a = member.upload(lab+"/documents", "file", "our mta.pdf", pdf, "description", "Ours").follow()
	link := a.doc.Find(`#documents a:contains("our mta.pdf")`).AttrOr("href", "")
	got := member.get(link).want(http.StatusOK)
	if got.body != pdf || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") ||
		!strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%v", got.header)
	}
	w.as("josiah").get(link).want(http.StatusForbidden)
	w.as("nadia").upload(link+"/replace", "file", "evil.pdf", pdf).want(http.StatusForbidden)
	if a = member.upload(link+"/replace", "file", "our mta 2.pdf", pdf+
		"\n").follow(); strings.Contains(a.text("#documents"), "our mta.pdf") ||
		!strings.Contains(a.text("#documents"), "our mta 2.pdf") {
		t.Error(a.text("#documents"))
	}
	old := a.doc.Find(`#documents a:contains("mta-template.pdf")`).AttrOr("href", "")
	if a = member.post(old + "/delete"); a.status != http.StatusUnprocessableEntity ||
		!strings.Contains(a.text("#errors"), "cannot be deleted") {
		t.Errorf("%d: a document that materials name is deleted", a.status)
	}
	a = member.upload(old+"/replace", "file", "mta-2027.pdf", pdf).follow()
	if text := a.text("#documents"); strings.Contains(text, "mta-template.pdf") ||
		!strings.Contains(text, "mta-2027.pdf") ||
		!regexp.MustCompile(`mta-2027.pdf \d+ bytes.*used by \d+ listings`).MatchString(text) {
		t.Error(text)
	}
}

func TestWebhookPage_ShowsTheSecretOnce(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.app.Sender = webhook.New(false)
	lab, owner := w.labOf("olivia"), w.as("olivia")
	if a := owner.post(lab+"/webhooks", "url", "not an address", "description", "D", "all",
		"1"); a.status != http.StatusUnprocessableEntity || a.input("url") != "not an address" {
		t.Errorf("%d %s", a.status, a.input("url"))
	}
	a := owner.post(lab+"/webhooks", "url", "https://lims.example.com/x", "events", "request.made").want(http.StatusOK)
	secret := a.text("#secret")
	if !strings.HasPrefix(secret, "whsec_") || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%q %v", secret, a.header)
	}
	hook := a.doc.Find(`main a.id`).AttrOr("href", "")
	for _, name := range []string{"olivia", "mario"} {
		if page := w.as(name).get(hook).want(http.StatusOK); strings.Contains(page.body, secret) {
			t.Errorf("%s sees the secret", name)
		}
	}
	w.as("mario").post(hook + "/rotate").want(http.StatusForbidden)
	if other := owner.post(hook + "/rotate").text("#secret"); other == secret || other == "" {
		t.Error("the secret is not another one")
	}
	a = owner.post(hook + "/ping").follow()
	again := a.doc.Find(`form[action*="/deliveries/"]`).AttrOr("action", "")
	owner.post(again).want(http.StatusSeeOther)
	if a = owner.post(hook + "/off").follow(); !a.has(`form[action$="/on"]`) {
		t.Error("it is not off")
	}
	// neither all nor some events
	if a = owner.post(hook, "url", "https://lims.example.com/y"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", a.status)
	}
	owner.post(hook + "/nothing").want(http.StatusNotFound)
	owner.post(hook + "/delete").want(http.StatusSeeOther)
	owner.get(hook).want(http.StatusNotFound)
}

// TestLabPage_RunsAConstantNumberOfStatements adds members, grants, invitations, documents and requests.
func TestLabPage_RunsAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	w := alone(t)
	organization, owner := w.labOf("olivia"), w.as("olivia")
	id := owner.actor.Owns[0]
	count := func() (list []int64) {
		for _, page := range []string{"", "/people", "/requirements", "/grants", "/activity", "/insights", "/webhooks",
			"/history"} {
			before := w.db.Queries()
			owner.get(organization + page).want(http.StatusOK)
			list = append(list, w.db.Queries()-before)
		}
		return list
	}
	add := func(i int) {
		_, _, err := w.app.Labs.Invite(t.Context(), owner.actor, id,
			lab.InvitationNew{Email: exchange.Some(fmt.Sprintf("p%d@example.com", i))})
		w.must(err)
		g, err := w.app.Grants.CreateGrant(t.Context(), owner.actor,
			person.GrantPatch{Title: exchange.Some("G"), FunderID: exchange.Some(fmt.Sprint(i))})
		w.must(err)
		_, _, err = w.app.Grants.Fund(t.Context(), owner.actor, g.ID,
			material.FundingBody{Material: exchange.Some(exchange.Ref(w.material("HeLa").ID))})
		w.must(err)
		_, err = w.app.Documents.CreateShipping(t.Context(), owner.actor,
			lab.ShippingPatch{Organization: exchange.Some(exchange.Ref(id))})
		w.must(err)
		_, err = w.app.Labs.UpdateOrganization(t.Context(), owner.actor, id,
			lab.OrganizationPatch{Description: exchange.Some(fmt.Sprint("version ", i))}, nil)
		w.must(err)
		_, _, err = w.app.Labs.AskToJoin(t.Context(), w.as(fmt.Sprint("asker", i)).actor, id, lab.JoinNew{})
		w.must(err)
	}
	add(0)
	count() // the first who looks keeps what is over
	was := count()
	for i := range 11 {
		add(i + 1)
	}
	if is := count(); fmt.Sprint(is) != fmt.Sprint(was) {
		t.Errorf("%v statements with long lists, %v with short ones", is, was)
	}
}

func TestLabsPage_OwnLabsComeFirst(t *testing.T) {
	t.Parallel()
	w := alone(t)
	if a := w.as("").get("/labs?q=genome"); a.status != http.StatusOK ||
		!strings.Contains(a.text("main"), "Sample Genome Lab") || strings.Contains(a.text("main"), "Sample Cell Bank") {
		t.Errorf("%d %s", a.status, a.text("main"))
	}
	if text := w.as("mario").get("/labs").text("main"); !strings.Contains(text, "Sample Cell Bank") ||
		!strings.Contains(text, "Mario Manager lab") {
		t.Error(text)
	}
	if text := w.as("mario").get("/labs?q=%22no+such+lab%22").text("main"); !strings.Contains(text, "No lab found") {
		t.Error(text)
	}
	owner := w.as("nadia")
	_, _, err := w.app.Labs.Invite(t.Context(), owner.actor, owner.actor.Owns[0],
		lab.InvitationNew{RegistryID: exchange.Some(people["mario"])})
	w.must(err)
	a := w.as("mario").get("/labs")
	w.as("priya").post(a.doc.Find(`form[action^="/join/"]`).AttrOr("action", ""), "answer",
		"accept").want(http.StatusNotFound)
	w.as("mario").post(a.doc.Find(`form[action^="/join/"]`).AttrOr("action", ""), "answer",
		"accept").want(http.StatusSeeOther)
	if !w.as("mario").actor.MemberOf(owner.actor.Owns[0]) {
		t.Error("no member")
	}
}

func TestLabPage_ShowsArchivedMaterialsOnlyToMembers(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab, owner := w.labOf("olivia"), w.as("olivia")
	m := w.material("Sf9")
	w.must(w.app.Materials.ArchiveMaterial(t.Context(), owner.actor, m.ID, nil))
	for name, want := range map[string]bool{"olivia": true, "josiah": false, "": false} {
		if text := w.as(name).get(lab + "?state=archived").text("main table"); strings.Contains(text, "Sf9") != want {
			t.Errorf("%q: %s", name, text)
		}
	}
	a := owner.get(lab + "?category=PDX")
	if text := a.text("main table"); strings.Contains(text, "HeLa") {
		t.Error(text)
	}
	first := owner.get(lab)
	next := first.doc.Find("a[rel=next]").AttrOr("href", "")
	if second := owner.get(next); second.text("main tbody tr:first-child b") == first.text("main tbody tr:first-child b") || second.doc.Find("main tbody tr").Length() == 0 {
		t.Error(next)
	}
}

func TestInvitations_SuggestPeopleOneHasWorkedWith(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("olivia")
		lab := w.labOf("olivia")
		suggested := func() []string {
			return v.get(lab + "/people").want(http.StatusOK).doc.Find(`#invite [name="known"]`).Map(
				func(_ int, s *goquery.Selection) string { return s.AttrOr("value", "") })
		}
		list := suggested()
		if !slices.Contains(list, people["josiah"]) || slices.Contains(list, people["mario"]) ||
			slices.Contains(list, people["olivia"]) {
			w.Fatalf("%v: Josiah has requested from the lab, Mario is a member of it", list)
		}
		v.post(lab+"/invitations", "known", people["josiah"], "who", "", "days", "7",
			"role", "MEMBER").want(http.StatusSeeOther)
		if slices.Contains(suggested(), people["josiah"]) {
			w.Error("who is invited is still suggested")
		}
		a := v.post(lab+"/invitations", "known", people["gabriel"], "days", "0")
		if !strings.Contains(a.want(http.StatusUnprocessableEntity).input("who"), people["gabriel"]) {
			w.Error("a form that is refused forgets who was chosen")
		}
		if w.as("newlab").get(lab + "/people").has(`[name="known"]`) {
			w.Error("a stranger sees whom the owner has worked with")
		}
	})
}
