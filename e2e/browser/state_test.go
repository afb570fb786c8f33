package browser

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/limit"
	"aliquot/internal/mail"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
	"aliquot/internal/web"

	"github.com/chromedp/chromedp"
)

// state is a page that no link leads to: what a form answers, what script shows, or what a mail leads to.
type state struct {
	who, path string
	do        func(*tab) // what is done on the page, if anything
	status    int        // of the page that is there then
}

// pageless are the addresses that show no page: nobody can look at them.
var pageless = map[string]string{
	"GET /signin/start": "leads to the identity provider", "GET /notifications/stream": "script reads it",
	"GET /catalog/suggest":          "script reads it",
	"GET /find/suggest":             "script reads it",
	"GET /share/organisms":          "script reads it",
	"GET /robots.txt":               "crawlers read it",
	"GET /sitemap.xml":              "crawlers read it",
	"GET /sitemap/{id}":             "crawlers read it",
	"GET /share/spreadsheet/export": "a file", "GET /share/spreadsheet/template": "a file",
	"GET /share/jobs/{id}/report":         "a file",
	"GET /labs/{id}/documents/{document}": "a file", "GET /requests/{id}/documents/{attachment}": "a file",
	"GET /requests/{id}/mta": "a file", "GET /requests/{id}/documents.zip": "a file",
	"GET /requests/{id}/dossier":  "a file",
	"GET /labs/{id}/insights.csv": "a file", "GET /requests/list.csv": "a file",
	"GET /funding/{id}/report.csv": "a file", "GET /account/export/data.zip": "a file",
	"GET /offices/signatories.csv": "a file", "GET /letters/{id}/document": "a file",
	"GET /offices/{id}/report.csv": "a file", "GET /permit/{permit}/document": "a file",
}

// everyState looks at states on a site of their own, some weeks after its data were made; they and the pages that were
// found are of every address that there is.
func everyState(t *testing.T, worth []found, seen *looked) {
	never := limit.Rule{Name: "login", Rate: 1e-9, Burst: 2, Callers: 1}
	often := limit.Rule{Name: "any", Rate: 1e6, Burst: 1e6, Callers: 1e6}
	gates, err := limit.NewGates(often, often, never)
	if err != nil {
		t.Fatal(err)
	}
	letters := t.TempDir()
	post, err := mail.Open("file:"+letters, "aliquot@example.org", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := newStrangeSite(t, strange{later: 40 * 24 * time.Hour, limits: gates, mail: post})
	s.furnish()
	l := &looker{T: t, site: s, tabs: map[string]*tab{}, looked: seen}
	w := &walker{site: s, mux: patterns()}
	looked := map[string]bool{}
	for _, f := range worth {
		looked[f.pattern] = looked[f.pattern] || f.status == 200
	}
	for _, st := range slices.Concat(s.stopped(letters), s.basketStates(), s.inquiryStates(), s.letterStates(),
		s.undoStates(), s.states()) {
		t := l.tab(st.who)
		t.visit(st.path)
		if st.do != nil {
			st.do(t)
		}
		here := see[string](t, "location.pathname")
		if got := t.answered(); got != st.status {
			l.Errorf("%s: %s answered %d, want %d\n%s", t.who(), here, got, st.status, t.where())
			continue
		}
		looked[w.pattern(here)] = true
		l.everyWay(t, fmt.Sprintf("%s: %s, from %s, %d", t.who(), here, st.path, st.status))
	}
	for _, p := range append(web.Patterns(), "GET /docs", "GET /unsubscribe") {
		if strings.HasPrefix(p, "GET ") && !looked[p] && pageless[p] == "" {
			t.Errorf("nobody looked at %s", p)
		}
	}
}

// stopped are the states of the page behind the link at the end of a mail.
func (s *site) stopped(letters string) []state {
	s.Helper()
	_, err := s.app.Requests.SendMessage(s.Context(), s.actor("josiah"), s.request("HeLa"),
		request.TextBody{Text: exchange.Some("Is it on its way?")})
	s.must(err)
	var link string
	jobtest.Poll(s.T, "there is a letter with a link", func() bool {
		paths, err := filepath.Glob(filepath.Join(letters, "*.eml"))
		s.must(err)
		for _, path := range paths {
			content, err := os.ReadFile(path)
			s.must(err)
			letter, err := netmail.ReadMessage(bytes.NewReader(content))
			s.must(err)
			link = strings.Trim(letter.Header.Get("List-Unsubscribe"), "<>")
		}
		return link != ""
	})
	link = strings.TrimPrefix(link, s.url)
	return []state{{"", link, nil, 200}, {"", link, sends("/unsubscribe", ""), 200}}
}

// answered is the status of the page of a tab.
func (t *tab) answered() int {
	t.Helper()
	here := see[string](t, "location.href.split('#')[0]")
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status[here]
}

// sends sends a form of the page with some values, past what browser and script would stop; where the page has no such
// form, one of its own.
func sends(action, values string) func(*tab) {
	return func(t *tab) {
		t.Helper()
		t.leave("send "+action, func() {
			see[bool](t, `(() => {
				let form = [...document.querySelectorAll("form[method=post]")].find((f) => new URL(f.action).pathname.endsWith(`+quoted(action)+`));
				if (!form) {
					form = document.body.appendChild(document.createElement("form"));
					form.method = "post";
					form.action = `+quoted(action)+`;
				}
				for (const [name, value] of new URLSearchParams(`+quoted(values)+`)) {
					for (const e of form.elements) if (e.name === name) e.disabled = true;
					const field = document.createElement("input");
					field.type = "hidden";
					field.name = name;
					field.value = value;
					form.prepend(field);
				}
				HTMLFormElement.prototype.submit.call(form);
				return true;
			})()`)
		})
	}
}

// chooses gives a file to a form, and presses a button where that has to be done.
func chooses(field, name, content, button string) func(*tab) {
	return func(t *tab) {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		t.must(os.WriteFile(path, []byte(content), 0o600))
		t.choose(field, path)
		if button != "" {
			t.followIn("main", button)
		}
	}
}

// then does one thing after the other.
func then(steps ...func(*tab)) func(*tab) {
	return func(t *tab) {
		t.Helper()
		for _, step := range steps {
			step(t)
		}
	}
}

// goes visits an address.
func goes(path string) func(*tab) { return func(t *tab) { t.Helper(); t.visit(path) } }

// controlK opens the field that finds everything.
func controlK(t *tab) {
	t.Helper()
	see[bool](t, `document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }))`)
	t.until("the field has the focus", `document.activeElement?.id === "find-q" && document.querySelector("dialog[open]")`)
}

// types presses keys and waits until there is something, which alone is looked at: it lies over the rest.
func types(keys, wanted string) func(*tab) {
	return func(t *tab) {
		t.Helper()
		t.do("type", chromedp.KeyEvent(keys))
		t.until(wanted, "document.querySelector("+quoted(wanted)+")?.checkVisibility()")
		t.part = "document.querySelector(" + quoted(wanted) + ")"
	}
}

// change changes what no use case does at once.
func (s *site) change(statement string, values ...any) {
	s.Helper()
	if _, err := storetest.SQL(s, s.db).ExecContext(s.Context(), statement, values...); err != nil {
		s.Fatal(err)
	}
}

func (s *site) actor(name string) exchange.Actor {
	s.Helper()
	who, err := s.app.Accounts.Actor(s.Context(), s.token(name))
	s.must(err)
	return who
}

// invited gives the path that a mail leads to whom it invites into the cell bank.
func (s *site) invited(email string) string {
	s.Helper()
	i, _, err := s.app.Labs.Invite(s.Context(), s.actor("olivia"), s.lab("Sample Cell Bank"),
		lab.InvitationNew{Email: exchange.Some(email)})
	s.must(err)
	var link string
	s.must(s.db.Tx(s.Context(), func(ctx context.Context, tx store.Conn) error {
		link, err = s.app.Notifications.InvitationLink(ctx, tx, i.Invitation)
		return err
	}))
	return strings.TrimPrefix(link, s.url)
}

// states are all that are looked at, in this order.
func (s *site) states() []state {
	s.Helper()
	ctx := s.Context()
	olivia, josiah := s.actor("olivia"), s.actor("josiah")
	organization := fmt.Sprintf("/labs/%d", s.lab("Sample Cell Bank"))
	materialOf := func(title string) string { return fmt.Sprintf("/catalog/%d", s.material(title)) }
	request := func(of string) string { return fmt.Sprintf("/requests/%d", s.request(of)) }
	grant := fmt.Sprintf("/funding/%d", s.id("SELECT id FROM grants WHERE title = $1", "Models of tumours"))
	webhook := fmt.Sprintf("%s/webhooks/%d", organization,
		s.id("SELECT id FROM webhooks WHERE description = $1", "Freezer"))
	report, _, err := s.app.Grants.ShareGrant(ctx, olivia, s.id("SELECT id FROM grants WHERE title = $1", "Models of tumours"),
		person.GrantLinkNew{Note: exchange.Some("For the funder"), Days: exchange.Some(30)})
	s.must(err)
	search, err := s.app.Materials.CreateSavedSearch(ctx, josiah, josiah.ID,
		material.SavedSearchPatch{Name: exchange.Some("Tumours"), Search: exchange.Some("tumour")})
	s.must(err)
	_, _, err = s.app.Labs.Invite(ctx, olivia, s.lab("Sample Cell Bank"),
		lab.InvitationNew{RegistryID: exchange.Some(registryID("gabriel"))})
	s.must(err)
	_, _, err = s.app.Labs.AskToJoin(ctx, s.actor("gabriel"), s.lab("Sample Genome Lab"),
		lab.JoinNew{Note: exchange.Some("I start in May.")})
	s.must(err)
	expired := s.invited("late@example.org")
	s.change("UPDATE invitations SET expires_at = created_at WHERE email = $1", "late@example.org")
	job := s.id("SELECT id FROM jobs WHERE kind = $1", "materials.bulk")
	jobtest.Wait(s.T, s.db, job, exchange.JobDone)
	progress := fmt.Sprintf("/share/jobs/%d", job)
	failed := func(t *tab) {
		t.change("UPDATE jobs SET state = 'FAILED', error = 'The disk is full.', failures = 8 WHERE id = $1", job)
		t.do("load again", chromedp.Reload())
	}
	running := func(t *tab) {
		t.change("UPDATE jobs SET state = 'RUNNING', due_at = $1, ended_at = NULL, done = 1, total = 2 WHERE id = $2",
			time.Now().AddDate(1, 0, 0).UTC(), job)
		t.do("load again", chromedp.Reload())
	}
	listing := "/share/new?category=CELL_LINE"
	moveTo := fmt.Sprintf("?to=%d", s.actor("mario").Owns[0])
	many := strings.Repeat("x", 1<<20+1)
	return []state{
		{"", "/unsubscribe?token=x", nil, 404},
		{"", "/signin/callback?code=x&state=y", nil, 422},
		{"", "/signin/callback/uni?code=x&state=y", nil, 422},
		{"", "/signin/link", nil, 422},
		{"", "/signed-out", nil, 200},
		{"", "/signin/callback?code=x&state=y", nil, 429},
		{"", "/join", nil, 404},
		{"", "/sign", nil, 404},
		{"", "/sign/document", nil, 404},
		{"", "/account/closed", nil, 200},
		{"", expired, nil, 200},
		{"", s.invited("new@example.org"), nil, 200},
		{"josiah", s.invited("josiah@example.com"), nil, 200},
		{"", strings.TrimPrefix(report, s.url), nil, 200},
		{"", grant + "/report?key=x", nil, 404},
		{"gabriel", "/labs", nil, 200},
		{"nadia", fmt.Sprintf("/labs/%d/people", s.lab("Sample Genome Lab")), nil, 200},
		{"gabriel", fmt.Sprintf("/labs/%d/people", s.lab("Sample Genome Lab")), nil, 200},

		{"josiah", "/account", sends("/account", "email=nobody"), 422},
		{"josiah", "/account/addresses/new", sends("/account/addresses/new", "name="), 422},
		{"josiah", "/account/notifications",
			sends("/account/notifications", "time_zone=None&quiet_from=late&delivery=DAILY"), 422},
		{"josiah", "/account/searches", sends(fmt.Sprintf("/account/searches/%d", search.ID), "name="+many[:500]), 422},
		{"josiah", "/account/tokens", sends("/account/tokens", "name="), 422},
		{"josiah", "/account/tokens", sends("/account/tokens", "name=Freezer"), 200},
		{"josiah", "/account/passkeys", sends("/account/passkeys/new", "name="), 422},
		{"josiah", "/account/passkeys", sends("/account/passkeys/new", "name=Laptop"), 200},
		{"josiah", "/account/passkeys", sends("/account/passkeys", "name=Laptop"), 422},
		{"josiah", "/account/erasure", sends("/account/erasure", ""), 200},
		{"gabriel", "/account/erasure", func(t *tab) {
			t.change("UPDATE tokens SET created_at = $1", time.Now().AddDate(0, 0, -1).UTC())
			t.do("load again", chromedp.Reload())
		}, 200},
		{"olivia", "/account/erasure", nil, 200},
		{"ada", "/admin/users/" + s.actor("mario").ID.String() + "/erasure", sends("/erasure", "reason="), 422},
		{"ada", "/admin/users/" + s.actor("mario").ID.String() + "/erasure", sends("/erasure", "reason=By letter"), 200},
		{"josiah", "/welcome", sends("/welcome", "first_name="+many[:300]), 422},
		{"josiah", materialOf("HT-29") + "/request", sends("/request", "address=new&name="), 422},
		{"josiah", "/drafts", sends("/drafts/save", "draft=message+1&draft_title=A&text="+many), 413},
		{"josiah", "/", sends("/share/new", "title=X"), 400},
		{"josiah", "/", types("?", "#keys-shown"), 200},
		{"josiah", "/catalog", types("/hel", "[role=listbox]"), 200},
		{"josiah", "/requests", then(controlK, types("hela", ".find-dialog [role=listbox]")), 200},
		{"josiah", "/find?q=zzzzzzzz", nil, 200},

		{"mario", "/share/number?number=RRID:CVCL_0320", nil, 200},
		{"mario", "/share/number?number=CVCL_AAAA", nil, 200},
		{"mario", "/share/number?number=Box+7", nil, 422},
		{"mario", organization, sends("/materials", "do=archive"), 422},
		{"mario", organization, sends("/materials", fmt.Sprint("do=archive&id=", s.material("HeLa"))), 422},
		{"mario", "/requests", sends("/requests/views", "name="), 422},

		{"mario", "/requests", sends("/requests/bulk", "do=accept"), 422},
		{"mario", "/requests", sends("/requests/bulk", "do=decline&id="+
			strings.TrimPrefix(request("HeLa"), "/requests/")), 422},
		{"mario", "/requests", sends("/requests/bulk", "do=remind&id="+
			strings.TrimPrefix(request("HeLa"), "/requests/")), 422},
		{"mario", "/requests/shipping", sends("/requests/shipping", "do=ship"), 422},
		{"mario", "/requests/shipping", sends("/requests/shipping", "do=ship&id="+
			strings.TrimPrefix(request("HeLa"), "/requests/")), 422},
		{"olivia", organization + "/replies", sends("/replies", "title="), 422},
		{"olivia", "/labs/new", sends("/labs/new", "name="+many[:300]), 422},
		{"olivia", organization + "/settings", sends("/settings", "name="), 422},
		{"olivia", organization + "/grants", sends("/grants", "title="), 422},
		{"olivia", organization + "/people", sends("/invitations", "who="), 422},
		{"olivia", organization + "/people", sends("/people/owner", ""), 422},
		{"olivia", organization + "/requirements", sends("/documents", ""), 422},
		{"olivia", organization + "/requirements", sends("/shipping", "restrictions="+many[:200_000]), 422},
		{"olivia", organization + "/webhooks", sends("/webhooks", "url=nowhere"), 422},
		{"olivia", organization + "/webhooks",
			sends("/webhooks", "url=https://hooks.example.org/more&description=Second&all=1"),
			200},
		{"olivia", webhook, sends(webhook, "url=nowhere"), 422},
		{"olivia", grant, sends(grant+"/materials", "material=x"), 422},
		{"olivia", grant, sends(grant+"/links", "days=x"), 422},
		{"olivia", grant, sends(grant+"/links", "days=9"), 200},
		{"olivia", grant, sends(grant, "title="), 422},

		{"mario", materialOf("HT-29") + "/lab" + moveTo, sends("/lab", "to="), 422},
		{"mario", materialOf("HT-29") + "/lab" + moveTo, nil, 200},
		{"mario", materialOf("MCF-7") + "/lab" + moveTo, nil, 200},
		{"mario", materialOf("MCF-7"), sends("/archive", ""), 409},
		{"mario", request("HeLa") + "/move?to=REJECTED", sends("/move", "reason="), 422},
		{"mario", request("HeLa"), sends("/messages", "text="), 422},
		{"mario", request("HeLa"), sends("/snooze", "until=2020-01-01"), 422},
		{"mario", request("HeLa"), sends("/assign", "assigned_to=x"), 422},
		{"mario", request("HeLa"), sends("/move", "seen=1&to=APPROVED"), 409},
		{"mario", request("HCT 116"), sends("/shipment", "sent_at=yesterday"), 422},
		{"mario", request("HCT 116") + "/labels?size=inch&tubes=3", nil, 200},
		{"mario", request("HCT 116") + "/labels?size=a4", nil, 200},
		{"josiah", request("MCF-7"), sends("/issues", "text="), 422},
		{"josiah", request("PDX model BL0269-F402"), sends("/documents/irb", ""), 422},
		{"josiah", request("PDX model BL0269-F402"),
			then(chooses("form[data-upload] input[type=file]", "large.pdf", strings.Repeat(many, 5), ""), func(t *tab) {
				t.pressIn("form[data-upload]", "Upload")
				t.until("it is too large", `document.querySelector(".uploading.err")`)
			}), 200},
		{"josiah", request("C57BL/6J"), sends("/details", "form=abstract&abstract="+many[:200_000]), 422},
		{"josiah", request("PDX model BL0269-F402"), sends("/details", "form=address&address=x"), 422},
		{"josiah", request("PDX model BL0269-F402"), sends("/details", "form=payment&payment=x"), 422},
		{"nadia", request("NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG)"),
			sends("/documents/requester_signed_mta/review", "accept=&reason="), 422},

		{"mario", listing, sends("/share/new", "title=&tissue="), 422},
		{"mario", listing, sends("/share/new", "do=preview&title=HT-29"), 200},
		{"mario", listing, sends("/share/new", "do=lookup&pubmed_id=x"), 200},
		{"mario", listing, sends("/share/new", "do=draft&title=Half+done"), 200},
		{"mario", listing, nil, 200},
		{"mario", materialOf("HT-29") + "/edit", sends("/edit", "base=old&title=HT-29+new"), 409},
		{"mario", materialOf("HT-29") + "/edit",
			then(sends("/edit", "title=HT-29+new"), goes(materialOf("HT-29")+"/history")), 200},
		{"mario", "/share/import", sends("/share/import", "identifiers=nothing&do=lookup"), 422},
		{"mario", "/share/spreadsheet", sends("/share/spreadsheet", ""), 422},
		{"mario", "/share/spreadsheet",
			chooses("main input[type=file]", "freezer.csv", "title,category,box\nA,CELL_LINE,1\n", "Upload"), 200},
		{"mario", "/share/spreadsheet",
			then(chooses("main input[type=file]", "freezer.csv", "title,category,box\nA,CELL_LINE,1\n", "Upload"),
				sends("/columns", "mode=dry-run")), 422},
		{"olivia", progress, nil, 200},
		{"olivia", progress, running, 200},
		{"olivia", fmt.Sprintf("/progress/%d", job), nil, 200},
		{"ada", "/admin/jobs", failed, 200},
		{"ada", fmt.Sprintf("/progress/%d", job), nil, 200},
		{"ada", "/admin/stuck", nil, 200},
		{"ada", "/admin", nil, 200},
		{"ada", "/admin/audit?actor=x", nil, 200},

		{"mario", request("HeLa"), sends("/move", "to=APPROVED"), 200},
		{"mario", "/requests", nil, 200},
		{"olivia", materialOf("NIH 3T3"), sends("/archive", ""), 200},
		{"josiah", "/account/searches", func(t *tab) {
			t.mu.Lock()
			t.broken = true
			t.mu.Unlock()
			t.change("ALTER TABLE saved_searches RENAME TO gone")
			t.visit("/account/searches")
		}, 500},
	}
}
