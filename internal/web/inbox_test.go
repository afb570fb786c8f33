package web_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/uuid"
)

// inboxOf is the ids of the rows of a page of an inbox.
func (a answer) inboxOf() (ids []string) {
	a.doc.Find("tr[data-row]").Each(func(_ int, row *goquery.Selection) {
		id, _ := row.Find("input[name=id]").Attr("value")
		ids = append(ids, id)
	})
	return ids
}

func TestInboxPage_TabsFollowWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		for name := range people {
			v := w.as(name)
			part, err := w.app.Requests.Requests(w.Context(),
				exchange.Actor{ID: v.actor.ID, Organizations: v.actor.Organizations}, exchange.Page{},
				request.Filter{})
			w.must(err)
			want := map[string][]string{}
			for _, q := range part.Items {
				whose := string(q.InboxState(v.actor))
				want[whose] = append(want[whose], strconv.FormatInt(q.ID, 10))
				want["all"] = append(want["all"], strconv.FormatInt(q.ID, 10))
			}
			for _, tab := range []string{"me", "labs", "others", "done", "all"} {
				a := v.get("/requests?turn=" + tab).want(http.StatusOK)
				got := a.inboxOf()
				slices.Sort(got)
				slices.Sort(want[tab])
				if !slices.Equal(got, want[tab]) {
					t.Errorf("%s sees %v under %s, want %v", name, got, tab, want[tab])
				}
				if n := a.text("#inbox-tabs [aria-current] .count"); n != strconv.Itoa(len(got)) {
					t.Errorf("%s: %s says %s of %d", name, tab, n, len(got))
				}
			}
			bar := v.get("/requests").text("header nav .count.hot")
			if n := len(want["me"]); n > 0 != strings.HasPrefix(bar, strconv.Itoa(n)+" ") {
				t.Errorf("the bar of %s says %q, want %d", name, bar, n)
			}
		}
	})
}

// TestInbox_OpensOnWhatThereIs: the tab of the visitor's tasks, or if there are none, the first that has requests. An
// address that names a tab shows that one.
func TestInbox_OpensOnWhatThereIs(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		_, err := w.app.Requests.CreateRequest(w.Context(), w.as("asker").actor,
			request.New{Material: exchange.Some(exchange.Ref(w.material("HeLa").ID))})
		w.must(err)
		seen := map[string]bool{}
		for _, name := range []string{"mario", "josiah", "asker", "somebody"} {
			v, want := w.as(name), "me"
			for _, tab := range []string{"me", "labs", "others", "done"} {
				if len(v.get("/requests?turn="+tab).inboxOf()) > 0 {
					want = tab
					break
				}
			}
			seen[want] = true
			if got := v.get("/requests").want(http.StatusOK).input("turn"); got != want {
				t.Errorf("the inbox of %s opens on %q, want %q", name, got, want)
			}
			if got := v.get("/requests?turn=me").input("turn"); got != "me" {
				t.Errorf("asked for their tasks, %s gets %q", name, got)
			}
		}
		if !seen["me"] || !seen["others"] {
			t.Errorf("only %v were seen", seen)
		}
	})
}

func TestInboxPage_HasOnlyRequestsOfThePerson(t *testing.T) {
	t.Parallel()
	w := alone(t)
	if a := w.as("").get("/requests?turn=all"); a.status != http.StatusSeeOther {
		t.Errorf("nobody gets %d", a.status)
	}
	a := w.as("somebody").get("/requests?turn=all").want(http.StatusOK)
	if len(a.inboxOf()) != 0 || a.text(".empty h3") != "No requests yet" {
		t.Errorf("a stranger sees %v, %q", a.inboxOf(), a.text(".empty"))
	}
	for _, tab := range []string{"me", "labs", "others", "done"} {
		if a := w.as("somebody").get("/requests?turn=" + tab); a.text(".empty h3") == "" {
			t.Errorf("the empty tab %s says nothing", tab)
		}
	}
}

// opened are a lab's member and an open request of theirs to decide about.
func (w *world) opened() (member *visitor, q request.Detail) {
	w.Helper()
	for name := range people {
		v := w.as(name)
		for _, q := range w.requests(request.Open) {
			if q.InboxState(v.actor) == request.OnMe && q.Party == request.LabSide {
				return v, q
			}
		}
	}
	w.Fatal("the demo has no request to decide about")
	return nil, request.Detail{}
}

func TestInboxPage_FiltersAreInTheAddress(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, q := w.opened()
	id := strconv.FormatInt(q.ID, 10)
	for _, filter := range []string{"search=" + url.QueryEscape(q.Material), "status=OPEN", "material=" +
		strconv.FormatInt(q.MaterialID, 10),
		"lab=" + strconv.FormatInt(q.Organization, 10), "who=" + q.AssignedTo.String()} {
		if a := v.get("/requests?turn=me&" + filter).want(http.StatusOK); !slices.Contains(a.inboxOf(), id) ||
			!strings.Contains(a.doc.Find("#inbox-tabs a").Last().AttrOr("href", ""), strings.SplitN(filter, "=", 2)[0]+
				"=") {
			t.Errorf("%s: %v", filter, a.inboxOf())
		}
	}
	for _, filter := range []string{"search=nothinglikethis", "status=CANCELLED", "material=999999", "lab=999999"} {
		if a := v.get("/requests?turn=me&" + filter).want(http.StatusOK); len(a.inboxOf()) != 0 ||
			!strings.Contains(a.text(".empty"), "No matching requests") {
			t.Errorf("%s: %v", filter, a.inboxOf())
		}
	}
	if a := v.get("/requests?turn=nonsense&lab=x&who=y&sort=z&after=%27;--").want(http.StatusOK); !slices.Contains(a.inboxOf(), id) {
		t.Error("nonsense in the address narrows something")
	}
	hostile := `"><script>alert(1)</script>`
	if a := v.get("/requests?search=" + url.QueryEscape(hostile)).want(http.StatusOK); a.input("search") != hostile ||
		strings.Contains(a.body, "<script>alert") {
		t.Error("what is searched for is not escaped")
	}
}

func TestInboxPage_BulkActionReportsRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, q := w.opened()
		id := strconv.FormatInt(q.ID, 10)
		foreign := int64(0)
		for _, other := range w.requests(request.Open) {
			if !v.actor.MemberOf(other.Organization) && other.Requester != v.actor.ID {
				foreign = other.ID
			}
		}
		a := v.post("/requests/bulk", "do", "decline", "id", id, "back",
			"/requests?turn=me").want(http.StatusUnprocessableEntity)
		if !a.has("#errors a[href='#f-reason']") || !a.has("details[open] #f-reason") ||
			!a.has("input[name=id][value='"+id+"'][checked]") {
			t.Errorf("a missing reason: %s", a.text("#list"))
		}
		a = v.post("/requests/bulk", "do", "accept", "back", "/requests").want(http.StatusUnprocessableEntity)
		if !strings.Contains(a.text("#errors"), "at least one") {
			t.Errorf("nothing chosen: %s", a.text("#errors"))
		}
		a = v.post("/requests/bulk", "do", "snooze", "until", time.Now().AddDate(0, 0, 5).Format(time.DateOnly), "id",
			id, "id", "999999", "id", strconv.FormatInt(foreign, 10), "back",
			"/requests?turn=me").want(http.StatusUnprocessableEntity)
		if !strings.Contains(a.text("#errors h2"), "could not be changed, 1 snoozed") ||
			!a.has("#errors a[href='/requests/999999']") {
			t.Errorf("the report says %q", a.text("#errors"))
		}
		if a = v.get("/requests?turn=me"); !strings.Contains(a.text("#request-"+id), "Snoozed until") {
			t.Errorf("the snooze does not show: %s", a.text("#request-"+id))
		}
		a = v.post("/requests/bulk", "do", "accept", "id", id, "back", "/requests?turn=me").follow().want(http.StatusOK)
		if !strings.Contains(a.text(".toast"), "1 request will be accepted") ||
			!a.has("#request-"+id+" form[action^='/undo/']") {
			t.Errorf("accepting: %s; %s", a.text(".toast"), a.text("#request-"+id))
		}
		undo, _ := a.doc.Find("#request-" + id + " form[action^='/undo/']").Attr("action")
		v.post(undo).want(http.StatusSeeOther)
		if a = v.get("/requests?turn=me"); a.has("#request-" + id + " form[action^='/undo/']") {
			t.Error("what was taken back is still to come")
		}
		a = v.post("/requests/bulk", "do", "decline", "reason", "We have <b>none</b> left.", "id", id, "back",
			"/requests?turn=me").follow().want(http.StatusOK)
		if !strings.Contains(a.text(".toast"), "1 request will be declined") ||
			!strings.Contains(a.text("#request-"+id), "Will be declined") || !a.has("#request-"+id+" form[action^='/undo/']") {
			t.Errorf("declined: %s; %s", a.text(".toast"), a.text("#request-"+id))
		}
		pending, err := w.app.Requests.PendingStatusOf(w.Context(), v.actor, q)
		if err != nil || pending == nil || pending.Action.Reason != "We have <b>none</b> left." {
			t.Errorf("%+v is pending, %v", pending, err)
		}
	})
}

func TestInboxPage_BulkDecisionTakesOnlyNewRequests(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("ada") // an admin may change any status to any other
		form := []string{"back", "/requests?turn=all", "reason", "None left."}
		var skipped []request.Detail
		for _, status := range request.Statuses[1:] {
			for _, q := range w.requests(status) {
				skipped, form = append(skipped, q), append(form, "id", strconv.FormatInt(q.ID, 10))
			}
		}
		if len(skipped) < 5 {
			t.Fatalf("the demo has %d requests that are not new", len(skipped))
		}
		open := w.requests(request.Open)[0]
		form = append(form, "id", strconv.FormatInt(open.ID, 10))
		for _, act := range []string{"accept", "decline"} {
			a := v.post("/requests/bulk", append(form, "do", act)...).want(http.StatusUnprocessableEntity)
			if text := a.text("#errors"); !strings.Contains(text, fmt.Sprintf("%d requests could not be changed, 1 will be",
				len(skipped))) || !strings.Contains(text, "the status of this one is “Shipped”") {
				t.Errorf("%s: the report says %q", act, text)
			}
			for _, q := range skipped {
				if !a.has(fmt.Sprintf("#errors a[href='/requests/%d']", q.ID)) {
					t.Errorf("%s: request %d is not named", act, q.ID)
				}
				now, err := w.app.Requests.Request(w.Context(), v.actor, q.ID)
				pending, wrong := w.app.Requests.PendingStatusOf(w.Context(), v.actor, q)
				if err != nil || wrong != nil || now.Status != q.Status || !now.UpdatedAt.Equal(q.UpdatedAt) || pending != nil {
					t.Errorf("%s: request %d is %s, was %s, %+v is pending", act, q.ID, now.Status, q.Status, pending)
				}
			}
		}
	})
}

func TestInboxPage_ShowsAColleaguesPendingDecision(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, q := w.opened()
		id, path := strconv.FormatInt(q.ID, 10), "/requests/"+strconv.FormatInt(q.ID, 10)
		joins := w.as("colleague").actor.ID
		w.must(w.db.Tx(w.Context(), func(ctx context.Context, tx store.Conn) error {
			return tx.Organizations.Join(ctx, q.Organization, joins)
		}))
		colleague := w.as("colleague")
		seen := colleague.get(path).want(http.StatusOK).input("seen")
		v.post("/requests/bulk", "do", "accept", "id", id, "back", "/requests").want(http.StatusSeeOther)
		row := colleague.get("/requests?turn=all").want(http.StatusOK)
		if text := row.text("#request-" + id); !strings.Contains(text, "Will be accepted") || !strings.Contains(text, ", by ") ||
			row.has("#request-"+id+" form") {
			t.Errorf("the row says %q", text)
		}
		a := colleague.get(path).want(http.StatusOK)
		if text := a.text("#next"); !strings.Contains(text, "decided a moment ago") || a.has("#next form") ||
			a.has("a[href*='/move?to=']") {
			t.Errorf("the page says %q", text)
		}
		for _, to := range []request.Status{request.Approved, request.Rejected, request.Invalid} {
			a := colleague.post(path+"/move", "to", string(to), "reason", "No.", "seen", seen).want(http.StatusConflict)
			if text := a.text("#errors"); !strings.Contains(text, "decided about this request a moment ago") {
				t.Errorf("%s: %q", to, text)
			}
		}
		a = colleague.post("/requests/bulk", "do", "decline", "reason", "No.", "id", id, "back",
			"/requests?turn=all").want(http.StatusUnprocessableEntity)
		if text := a.text("#errors"); !strings.Contains(text, "just accepted this request") {
			t.Errorf("together with others: %q", text)
		}
		if a := w.as("josiah").get("/requests?turn=all"); strings.Contains(a.text("#list"), "Will be accepted") {
			t.Error("the requester sees a pending decision")
		}
	})
}

func TestInboxPage_RunsAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, q := w.opened()
	v.get("/requests?turn=all")
	cost := func(path string) int64 {
		before := w.db.Queries()
		v.get(path).want(http.StatusOK)
		return w.db.Queries() - before
	}
	all, one := cost("/requests?turn=all"),
		cost("/requests?turn=all&material="+strconv.FormatInt(q.MaterialID, 10)+"&status=OPEN")
	if all != one || all > 13 {
		t.Errorf("%d statements for all, %d for one", all, one)
	}
}

// table reads CSV that is downloaded, without its head.
func (v *visitor) table(path string) [][]string {
	v.Helper()
	a := v.get(path).want(http.StatusOK)
	if got := a.header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename=") {
		v.Errorf("it comes as %q", got)
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.body, "\ufeff"))).ReadAll()
	v.must(err)
	return rows[1:]
}

func TestInboxExport_IsFilteredAndHasNoFormulas(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, q := w.opened()
		odd, err := w.app.Requests.CreateRequest(w.Context(), w.as("somebody").actor,
			request.New{Material: exchange.Some(exchange.Ref(q.MaterialID)), Quantity: exchange.Some("=1+1")})
		w.must(err)
		for _, query := range []string{"turn=all", "turn=me", "turn=done", "turn=all&status=OPEN&sort=due",
			"turn=others&sort=new"} {
			a := v.get("/requests?" + query).want(http.StatusOK)
			var got []string
			for _, row := range v.table(a.doc.Find("#list a[download]").AttrOr("href", "/requests/list.csv?"+query)) {
				got = append(got, row[0])
				if row[0] == strconv.FormatInt(odd.ID, 10) && row[3] != "'=1+1" {
					t.Errorf("a formula stays one: %q", row)
				}
			}
			if shown := a.inboxOf(); !slices.Equal(got, shown) {
				t.Errorf("%s: %v, the page has %v", query, got, shown)
			}
		}
	})
}

func TestInboxExport_HasEveryRow(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, q := w.opened()
	somebody := w.as("somebody").actor
	const many = 210
	for range many {
		_, err := w.app.Requests.CreateRequest(w.Context(), somebody,
			request.New{Material: exchange.Some(exchange.Ref(q.MaterialID))})
		w.must(err)
	}
	for _, sort := range []string{"", "due", "new"} {
		seen := map[string]bool{}
		for _, row := range v.table("/requests/list.csv?turn=all&material=" + strconv.FormatInt(q.MaterialID, 10) +
			"&sort=" + sort) {
			seen[row[0]] = true
		}
		if len(seen) <= many {
			t.Errorf("sorted %q: %d rows", sort, len(seen))
		}
	}
}

// crowd gives the lab of a request so many more members, the last of whom are two of one name.
func (w *world) crowd(organization int64, n int) (twins []person.User) {
	w.Helper()
	w.must(w.db.Tx(w.Context(), func(ctx context.Context, tx store.Conn) error {
		for i := range n {
			u := person.User{ID: uuid.New(), RegistryID: fmt.Sprintf("crowd-%d", i),
				FirstName: fmt.Sprintf("Aaron %d", i), LastName: "Zöllner", CreatedAt: tx.Now, UpdatedAt: tx.Now}
			u.Username = u.RegistryID
			if i >= n-2 {
				u.FirstName = "Twin"
				twins = append(twins, u)
			}
			if err := tx.Users.Insert(ctx, u); err != nil {
				return err
			}
			if err := tx.Organizations.Join(ctx, organization, u.ID); err != nil {
				return err
			}
		}
		return nil
	}))
	return twins
}

func TestInboxPage_AssigneeOfALargeLabIsTyped(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, q := w.opened()
		twins := w.crowd(q.Organization, 501)
		id, path := strconv.FormatInt(q.ID, 10), "/requests/"+strconv.FormatInt(q.ID, 10)
		assigned := func() uuid.UUID {
			now, err := w.app.Requests.Request(w.Context(), v.actor, q.ID)
			w.must(err)
			return now.AssignedTo
		}
		a := v.get(path).want(http.StatusOK)
		if !a.has("input#f-assign-assigned_to[list=members]") || a.input("assigned_to") == "" {
			t.Fatalf("the request asks: %s", a.text("main"))
		}
		a = v.post(path+"/assign", "assigned_to", "twin zollner").want(http.StatusUnprocessableEntity)
		if text := a.text("#f-assign-assigned_to-e, .err"); !strings.Contains(text, "Several people") ||
			!strings.Contains(text, twins[1].RegistryID) || a.input("assigned_to") != "twin zollner" {
			t.Errorf("two of one name: %s", text)
		}
		for _, wrong := range []string{"Nobody of this name", "Zöllner", ""} {
			v.post(path+"/assign", "assigned_to", wrong).want(http.StatusUnprocessableEntity)
		}
		v.post(path+"/assign", "assigned_to", "Twin Zöllner, "+twins[1].RegistryID).want(http.StatusSeeOther)
		if assigned() != twins[1].ID {
			t.Error("the request is assigned to another one")
		}
		v.post("/requests/bulk", "do", "assign", "assign", "aaron 77 zöl", "id", id, "back",
			"/requests?turn=all").follow().want(http.StatusOK)
		a = v.get("/requests?turn=all&who=Aaron+77").want(http.StatusOK)
		if !slices.Equal(a.inboxOf(), []string{id}) || !a.has("input#f-who[list=members]") || !a.has("input#f-assign") {
			t.Errorf("assigned to who is typed: %v", a.inboxOf())
		}
		if rows := v.table("/requests/list.csv?turn=all&who=Aaron+77"); len(rows) != 1 ||
			rows[0][6] != "Aaron 77 Zöllner" {
			t.Errorf("as a table: %v", rows)
		}
		a = v.get("/requests?turn=all&who=zöllner").want(http.StatusOK)
		if len(a.inboxOf()) != 0 || !strings.Contains(a.text("#errors"), "Many people") {
			t.Errorf("many of a name: %v, %s", a.inboxOf(), a.text("#errors"))
		}
		m, err := w.app.Materials.Material(w.Context(), exchange.Actor{}, q.MaterialID)
		w.must(err)
		edit := fmt.Sprintf("/catalog/%d/edit", m.ID)
		form := v.get(edit).want(http.StatusOK).formOf("#edit")
		if got := form.Get("contact_user_id"); got != m.Contact.Name()+", "+m.Contact.RegistryID {
			t.Errorf("the contact is %q", got)
		}
		form.Set("contact_user_id", "Zöllner")
		if a := v.form(edit, form).want(http.StatusUnprocessableEntity); a.input("contact_user_id") != "Zöllner" ||
			!strings.Contains(a.text("#errors"), "Many people") {
			t.Errorf("a contact of many: %s", a.text("#errors"))
		}
		form.Set("contact_user_id", "Aaron 3 Zöllner")
		v.form(edit, form).want(http.StatusSeeOther)
		if m, err = w.app.Materials.Material(w.Context(), exchange.Actor{}, q.MaterialID); err != nil ||
			m.Contact.FirstName != "Aaron 3" {
			t.Errorf("the contact is %s, %v", m.Contact.Name(), err)
		}
	})
}

func TestLabPage_NewOwnerOfALargeLabIsTyped(t *testing.T) {
	t.Parallel()
	w := alone(t)
	organization := w.material("HeLa").OrganizationID
	twins, owner := w.crowd(organization, 60), w.as("olivia")
	path := fmt.Sprintf("/labs/%d/people", organization)
	if a := owner.get(path).want(http.StatusOK); !a.has("input#f-owner[list=members]") {
		t.Error("there is a list that is cut off")
	}
	if a := owner.post(path+"/owner", "member", "Twin", "sure",
		"1").want(http.StatusUnprocessableEntity); !strings.Contains(a.text("#f-owner-e"), "Several people") ||
		!a.has("#hand-over[open]") {
		t.Errorf("two of one name: %s", a.text("#errors"))
	}
	owner.post(path+"/owner", "member", twins[0].RegistryID, "sure", "1").want(http.StatusSeeOther)
	if o, err := w.app.Labs.Organization(w.Context(), organization); err != nil || o.Owner != owner.actor.ID {
		t.Errorf("the owner is %s before the new one accepts, %v", o.Owner, err)
	}
	list, err := w.app.Labs.Invitations(w.Context(), owner.actor, organization,
		lab.InvitationFilter{Role: new(lab.OwnerRole)}, exchange.Page{Limit: 2})
	if err != nil || list.Total.N != 1 || list.Items[0].RegistryID != twins[0].RegistryID {
		t.Fatalf("invited as owner: %+v, %v", list, err)
	}
	if _, err := w.app.Labs.Answer(w.Context(), exchange.Actor{ID: twins[0].ID}, twins[0].ID, list.Items[0].ID,
		lab.InvitationAccepted); err != nil {
		t.Fatal(err)
	}
	if o, err := w.app.Labs.Organization(w.Context(), organization); err != nil || o.Owner != twins[0].ID {
		t.Errorf("the owner is %s, %v", o.Owner, err)
	}
}
