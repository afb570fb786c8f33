package app_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// hears is contract.md section 8, action by action: who is notified, and in which category, by the role of the actor in
// the request; "-" if that role may not do it. Two rules are not repeated in it: actors are not notified of their own
// actions, and members are notified if their switch is on, while the requester always is.
const hears = `
| act                        | requester         | member                      | admin                       | requester and member        |
| approves                   | -                 | decided: requester, members | decided: requester, members | decided: requester, members |
| rejects                    | -                 | decided: requester, members | decided: requester, members | decided: requester, members |
| returns for correction     | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| begins to fulfill          | changed: members  | changed: requester          | changed: requester, members | changed: requester, members |
| fulfills                   | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| confirms                   | changed: members  | -                           | changed: requester, members | changed: requester, members |
| cancels                    | changed: members  | -                           | changed: requester, members | changed: requester, members |
| invalidates                | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| gives it to the owner      | -                 | assigned: owner             | assigned: owner             | assigned: owner             |
| adds a signed MTA          | changed: members  | changed: requester          | changed: requester, members | changed: requester, members |
| adds an IRB document       | changed: members  | changed: requester          | changed: requester, members | changed: requester, members |
| adds an executed MTA       | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| withdraws a signed MTA     | changed: members  | changed: requester          | changed: requester, members | changed: requester, members |
| accepts the signed MTA     | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| returns the signed MTA     | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| accepts the executed MTA   | changed: members  | -                           | changed: requester, members | changed: requester, members |
| returns the executed MTA   | changed: members  | -                           | changed: requester, members | changed: requester, members |
| changes the abstract       | changed: members  | -                           | changed: requester, members | changed: requester, members |
| changes the address        | changed: members  | -                           | changed: requester, members | changed: requester, members |
| changes the payment        | changed: members  | -                           | changed: requester, members | changed: requester, members |
| gives a reason             | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| writes a message           | changed: members  | changed: requester          | changed: requester, members | changed: requester, members |
| reports an issue           | changed: members  | changed: requester          | changed: requester, members | changed: requester, members |
| solves an issue            | changed: members  | changed: requester          | changed: requester, members | changed: requester, members |
| ships                      | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| closes                     | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| reopens                    | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| snoozes the lab's turn     | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| ends the lab's snooze      | -                 | changed: requester          | changed: requester, members | changed: requester, members |
| deletes                    | -                 | -                           | changed: requester, members | -                           |`

// hearsOfNew lists who is notified of a new request, by what the members have switched off.
const hearsOfNew = `
| off                   | by the requester                           | by the requester, who is a member   | by the assignee                  |
|                       | assigned: assignee; new: both member owner | assigned: assignee; new: member owner | new: both member owner         |
| assigned              | new: assignee both member owner            | new: assignee member owner          | new: both member owner           |
| new                   | assigned: assignee                         | assigned: assignee                  |                                  |
| assigned new          |                                            |                                     |                                  |
| decided changed remind | assigned: assignee; new: both member owner | assigned: assignee; new: member owner | new: both member owner        |`

// hearsReminder lists who is notified of a reminder, by whose turn it is and what the members have switched off.
const hearsReminder = `
| off    | requester's turn     | lab's turn                          | turn of the requester, who is a member | lab's turn, with a member's request |
|        | remind: requester    | remind: assignee both member owner  | remind: both                           | remind: assignee both member owner  |
| remind | remind: requester    |                                     | remind: both                           |                                     |`

// categoryNames are the short names of the categories in these tables.
var categoryNames = map[string]mailing.Category{"new": mailing.NewRequestNotif, "assigned": mailing.AssignedNotif,
	"decided": mailing.DecisionNotif,
	"changed": mailing.StatusNotif, "remind": mailing.ReminderNotif}

// hearing is a lab with somebody in every role. The members are owner, member, assignee and both, who also makes
// requests; requester makes requests too, former has left, and stranger and admin are outside.
type hearing struct {
	*reminding
	sql    *sql.DB
	people map[string]exchange.Actor
	checks []check
}

var labMembers = []string{"owner", "member", "assignee", "both"}

// check is an action that was done, and who has to be notified of it: "name category", sorted.
type check struct {
	what    string
	request int64
	event   int64 // the last one before it
	kind    request.EventKind
	want    []string
}

func newHearing(t *testing.T, db *store.DB) *hearing {
	t.Helper()
	h := &hearing{reminding: newReminding(t, db), sql: storetest.SQL(t, db), people: map[string]exchange.Actor{}}
	ctx, names := t.Context(),
		[]string{"owner", "member", "assignee", "both", "former", "requester", "stranger", "admin"}
	signIn := func() {
		for _, name := range names {
			h.people[name] = h.person("hears-" + name)
		}
	}
	signIn()
	h.must(h.app.Accounts.SetAdmin(ctx, "hears-admin", true))
	refs := func(names ...string) exchange.Opt[[]exchange.UserRef] {
		list := []exchange.UserRef{}
		for _, name := range names {
			list = append(list, exchange.UserRef(h.people[name].ID))
		}
		return exchange.Some(list)
	}
	o, err := h.app.Labs.CreateOrganization(ctx, h.people["owner"],
		lab.OrganizationPatch{Owner: exchange.Some(exchange.UserRef(h.people["owner"].ID)),
			Members: refs()})
	h.must(err)
	for _, name := range append(labMembers, "former") {
		h.must(join(ctx, db, o.ID, h.people[name].ID))
	}
	signIn() // reloaded with their labs
	h.lab = o.ID
	_, err = h.app.Labs.UpdateOrganization(ctx, h.people["owner"], o.ID,
		lab.OrganizationPatch{Members: refs(labMembers...)}, nil)
	h.must(err)
	signIn()
	m, _, err := h.app.Materials.CreateMaterial(ctx, h.people["owner"],
		material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("HeLa"),
			Organization: exchange.Some(exchange.Ref(o.ID)),
			Contact:      exchange.Some(exchange.UserRef(h.people["assignee"].ID)), NeedsAbstract: exchange.Some(true)})
	h.must(err)
	h.material = m.ID
	return h
}

// switchOff turns all notifications of every member on, except for some categories. Former members have all on.
func (h *hearing) switchOff(off ...string) {
	h.Helper()
	on := func(name string) exchange.Opt[bool] { return exchange.Some(!slices.Contains(off, name)) }
	for _, name := range labMembers {
		part, err := h.app.Labs.OwnSettings(h.Context(), h.people[name], exchange.Page{Limit: 9})
		h.must(err)
		for _, m := range part.Items {
			if m.OrganizationID != h.lab {
				continue
			}
			_, err = h.app.Labs.UpdateSettings(h.Context(), h.people[name], m.ID,
				lab.SwitchesPatch{NewRequest: on("new"), StatusChange: on("changed"),
					Decision: on("decided"), Assigned: on("assigned"), Reminder: on("remind")}, nil)
			h.must(err)
		}
	}
}

// ask makes a request.
func (h *hearing) ask(by, abstract string) int64 {
	h.Helper()
	q, err := h.app.Requests.CreateRequest(h.Context(), h.people[by],
		request.New{Material: exchange.Some(exchange.Ref(h.material)),
			Submission: request.Submission{Abstract: exchange.Some(abstract)}})
	h.must(err)
	return q.ID
}

// actors are the actor and the requester, for each column of hears after the first.
var actors = [][][2]string{
	{{"requester", "requester"}},
	{{"member", "requester"}, {"assignee", "requester"}, {"owner", "requester"}, {"member", "both"}},
	{{"admin", "requester"}, {"admin", "both"}},
	{{"both", "both"}},
}

// expect returns the people that a cell says are notified: "name category", sorted.
func expect(cell, actor, requester string, off ...string) []string {
	var list []string
	told := map[string]bool{actor: true}
	for part := range strings.SplitSeq(cell, ";") {
		short, names, _ := strings.Cut(strings.TrimSpace(part), ":")
		hear := func(name string) {
			if !told[name] {
				told[name] = true
				list = append(list, name+" "+string(categoryNames[short]))
			}
		}
		for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ' ' || r == ',' }) {
			switch {
			case name == "requester":
				hear(requester)
			case slices.Contains(off, short):
			case name == "members":
				for _, member := range labMembers {
					hear(member)
				}
			default:
				hear(name)
			}
		}
	}
	slices.Sort(list)
	return list
}

func cells(table string) (rows [][]string) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		rows = append(rows, row)
	}
	return rows
}

// newest returns the id of the newest event.
func (h *hearing) newest() (id int64) {
	h.Helper()
	h.must(h.sql.QueryRowContext(h.Context(), "SELECT COALESCE(MAX(id), 0) FROM request_events").Scan(&id))
	return id
}

// told waits until all notifications are sent, and checks who got what.
func (h *hearing) told() {
	h.Helper()
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		var left int
		h.must(h.sql.QueryRowContext(h.Context(),
			"SELECT COUNT(*) FROM jobs WHERE kind = 'tell' AND ended_at IS NULL").Scan(&left))
		if left == 0 {
			break
		}
		if time.Since(begin) > jobtest.Patience {
			h.Fatalf("%d jobs still tell", left)
		}
	}
	heard := map[int64][]string{} // by event
	for name, who := range h.people {
		for page := (exchange.Page{Limit: 1000}); ; {
			part, err := h.db.Read().Notifications.List(h.Context(), who.ID, notify.NotificationFilter{}, page)
			h.must(err)
			for _, n := range part.Items {
				heard[n.Event.ID] = append(heard[n.Event.ID], name+" "+string(n.Category))
			}
			if page.After = part.Next; part.Next == nil {
				break
			}
		}
	}
	for _, c := range h.checks {
		part, err := h.db.Read().Events.List(h.Context(), c.request, c.kind, exchange.Page{Limit: 1})
		h.must(err)
		if len(part.Items) == 0 || part.Items[0].ID <= c.event {
			h.Errorf("%s: there is no event %s", c.what, c.kind)
			continue
		}
		got := heard[part.Items[0].ID]
		if slices.Sort(got); !slices.Equal(got, c.want) {
			h.Errorf("%s: told %q, want %q", c.what, got, c.want)
		}
	}
	h.checks = nil
}

// do makes somebody act on a fresh request; want is the cell of the table.
func (h *hearing) do(a act, actor, requester, want string, off ...string) {
	h.Helper()
	what := fmt.Sprintf("%s %s (request of %s; off: %q)", actor, a.name, requester, off)
	id := h.ask(requester, "Why")
	for _, step := range a.before {
		if err := step(h, "", id, requester); err != nil {
			h.Fatalf("before %s: %v", what, err)
		}
	}
	last := h.newest()
	err := a.do(h, actor, id, requester)
	switch code := exchange.CodeOf(err); {
	case want == "-" && (code == exchange.Forbidden || code == exchange.FieldForbidden ||
		code == exchange.InvalidTransition):
	case want == "-" || err != nil:
		h.Errorf("%s: %v, want %s", what, err, want)
	default:
		h.checks = append(h.checks, check{what, id, last, a.kind, expect(want, actor, requester, off...)})
	}
}

func TestRecipients_OfAnEventAreTheContracts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHearing(t, db)
		h.work(1)
		table := cells(hears)
		for _, off := range [][]string{nil, {"changed", "new", "remind"}, {"decided", "assigned"}} {
			h.switchOff(off...)
			for i, row := range table[1:] {
				if row[0] != acts[i].name {
					t.Fatalf("row %q is of %q", row[0], acts[i].name)
				}
				for column, pairs := range actors {
					if len(off) > 0 {
						pairs = pairs[:1] // who of the lab acts was tried with everything switched on
					}
					for _, pair := range pairs {
						h.do(acts[i], pair[0], pair[1], row[1+column], off...)
					}
				}
			}
			h.told()
		}
		if len(table)-1 != len(acts) {
			t.Errorf("%d rows for %d acts", len(table)-1, len(acts))
		}
		for _, kind := range request.EventKinds { // TestExecution_OfALetterForTwoRequestsIsToldOnce has that of letters
			if !slices.Contains([]request.EventKind{request.Made, request.Reminded, request.Escalated,
				request.AgreementExecuted}, kind) && !slices.ContainsFunc(acts, func(a act) bool { return a.kind == kind }) {
				t.Errorf("nobody does %s", kind)
			}
		}
	})
}

func TestRecipients_OfANewRequestAreTheContracts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHearing(t, db)
		h.work(1)
		for _, row := range cells(hearsOfNew)[1:] {
			h.switchOff(strings.Fields(row[0])...)
			for i, actor := range []string{"requester", "both", "assignee"} {
				last := h.newest()
				h.checks = append(h.checks,
					check{fmt.Sprintf("%s asks (off: %q)", actor, row[0]), h.ask(actor, "Why"), last,
						request.Made, expect(row[1+i], actor, actor)})
			}
			h.told()
		}
	})
}

func TestRecipients_OfRemindersAreTheContracts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHearing(t, db)
		h.work(1)
		for _, row := range cells(hearsReminder)[1:] {
			h.switchOff(row[0])
			last := h.newest()
			for i, turn := range [][2]string{{"requester", ""}, {"requester", "Why"}, {"both", ""}, {"both", "Why"}} {
				h.checks = append(h.checks,
					check{fmt.Sprintf("turn %d (off: %q)", i, row[0]), h.ask(turn[0], turn[1]), last, request.Reminded,
						expect(row[1+i], "", turn[0])})
			}
			h.set(h.now.Load().AddDate(0, 0, 8))
			h.remind(1)
			h.told()
		}
	})
}
