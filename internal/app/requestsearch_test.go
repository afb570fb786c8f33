package app_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// vocabulary is what the people of these tests write and search for; some words are alike for a search.
var vocabulary = []string{"zebra", "Zebrafish", "grow", "growing", "HT-29", "HT29", "HT 29", "Müller", "muller", "αSMA",
	"alpha-SMA", "CVCL_0320",
	"細胞", "shipping", "shipped", "1Z-999", "cell line", "x", "the", "O'Neil"}

// searching is some labs and people whose requests are searched.
type searching struct {
	*reminding
	random    *rand.Rand
	names     []string // of people, as they sign in
	labs      []int64
	materials []int64
	ids       []int64
}

func newSearching(t *testing.T, db *store.DB, seed uint64) *searching {
	t.Helper()
	s := &searching{reminding: newReminding(t, db), random: rand.New(rand.NewPCG(seed, 6)),
		names: []string{"member", "off", "requester", "other"}}
	other := s.person("other")
	o, err := s.app.Labs.CreateOrganization(t.Context(), other,
		lab.OrganizationPatch{Owner: exchange.Some(exchange.UserRef(other.ID)),
			Members: exchange.Some([]exchange.UserRef{})})
	s.must(err)
	s.must(join(t.Context(), db, o.ID, s.off.ID))
	s.labs = []int64{s.lab, o.ID}
	for i := range 6 {
		m, _, err := s.app.Materials.CreateMaterial(t.Context(), s.admin(),
			material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some(s.text(3)),
				Organization: exchange.Some(exchange.Ref(s.labs[i%2]))})
		s.must(err)
		s.materials = append(s.materials, m.ID)
	}
	return s
}

func (s *searching) admin() exchange.Actor {
	s.person("admin")
	s.must(s.app.Accounts.SetAdmin(s.Context(), "admin", true))
	return s.person("admin")
}

func (s *searching) text(n int) string {
	list := make([]string, 1+s.random.IntN(n))
	for i := range list {
		list[i] = oneOf(s.random, vocabulary)
	}
	return strings.Join(list, " ")
}

func oneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (s *searching) ask() int64 {
	asks, m := s.person(oneOf(s.random, s.names)), oneOf(s.random, s.materials)
	n := request.New{Material: exchange.Some(exchange.Ref(m)),
		Submission: request.Submission{Note: exchange.Some(s.text(5))},
		Quantity:   exchange.Some(s.text(2))}
	if s.random.IntN(2) == 0 {
		n.SignedMTA = exchange.Null[exchange.Ref]{Set: true, Value: s.document(asks)}
	}
	q, err := s.app.Requests.CreateRequest(s.Context(), asks, n)
	s.must(err)
	return q.ID
}

func (s *searching) document(who exchange.Actor) *exchange.Ref {
	t, err := s.app.Documents.CreateAttachment(s.Context(), who,
		document.AttachmentPatch{Filename: exchange.Some(strings.ReplaceAll(s.text(2), " ", "_") + ".pdf")}, nil)
	s.must(err)
	return new(exchange.Ref(t.ID))
}

// act does a random action to a request; actions that are not allowed are ignored.
func (s *searching) act(id int64) {
	ctx, who := s.Context(), s.admin()
	update := func(p request.Patch) error { _, err := s.app.Requests.UpdateRequest(ctx, who, id, p, nil); return err }
	var err error
	switch s.random.IntN(9) {
	case 0, 1:
		_, err = s.app.Requests.SendMessage(ctx, who, id, request.TextBody{Text: exchange.Some(s.text(6))})
	case 2:
		_, err = s.app.Requests.OpenIssue(ctx, who, id, request.TextBody{Text: exchange.Some(s.text(6))})
	case 3:
		err = update(request.Patch{IRB: exchange.Null[exchange.Ref]{Set: true, Value: s.document(who)}})
	case 4:
		err = update(request.Patch{Abstract: exchange.Some(s.text(8)),
			AssignedTo: exchange.Some(exchange.UserRef(s.person(oneOf(s.random, s.names)).ID))})
	case 5:
		_, err = s.app.Requests.ShipRequest(ctx, who, id,
			request.ShipmentPatch{Carrier: exchange.Some(s.text(2)), Tracking: exchange.Some(s.text(2))}, nil)
	case 6, 7:
		err = update(request.Patch{Status: exchange.Some(oneOf(s.random, request.Statuses)),
			Reason: exchange.Some("so"), Override: exchange.Some("so")})
	case 8:
		if s.random.IntN(3) == 0 {
			err = s.app.Requests.DeleteRequest(ctx, who, id, nil)
		}
	}
	if exchange.CodeOf(err) == exchange.Internal && err != nil {
		s.Error(err)
	}
}

// rename renames something, or moves a material to another lab.
func (s *searching) rename() {
	ctx, who := s.Context(), s.admin()
	var err error
	switch s.random.IntN(5) {
	case 0:
		_, err = s.app.Accounts.UpdateUser(ctx, who, s.person(oneOf(s.random, s.names)).ID,
			person.UserPatch{FirstName: exchange.Some(s.text(1)), LastName: exchange.Some(s.text(1))}, nil)
	case 1:
		_, err = s.app.Labs.UpdateOrganization(ctx, who, oneOf(s.random, s.labs),
			lab.OrganizationPatch{Name: exchange.Some(s.text(2))}, nil)
	case 2:
		_, err = s.app.Materials.UpdateMaterial(ctx, who, oneOf(s.random, s.materials),
			material.Patch{Title: exchange.Some(s.text(3))}, nil)
	default:
		_, err = s.app.Materials.UpdateMaterial(ctx, who, oneOf(s.random, s.materials),
			material.Patch{Organization: exchange.Some(exchange.Ref(oneOf(s.random, s.labs)))}, nil)
	}
	if exchange.CodeOf(err) == exchange.Internal && err != nil {
		s.Error(err)
	}
}

// settled waits until every job that updates the index is done.
func (s *searching) settled() {
	s.Helper()
	jobtest.Poll(s.T, "the index is up to date", func() bool {
		left := int64(0)
		for _, state := range []exchange.JobState{exchange.JobReady, exchange.JobRunning} {
			part, err := s.db.Read().Jobs.List(s.Context(), exchange.Page{Limit: 1}, nil,
				exchange.JobFilter{Kind: &core.Reindex.Name, State: &state})
			s.must(err)
			left += part.Total.N
		}
		return left == 0
	})
}

// query returns a random query.
func (s *searching) query() string {
	list := make([]string, 1+s.random.IntN(3))
	for i := range list {
		list[i] = oneOf(s.random, vocabulary)
		switch s.random.IntN(6) {
		case 0:
			list[i] = `"` + s.text(2) + `"`
		case 1:
			list[i] = "-" + list[i]
		case 2:
			letters := []rune(list[i])
			list[i] = string(letters[:1+s.random.IntN(len(letters))])
		}
	}
	return strings.Join(list, " ")
}

// thing is a request as a naive reader sees it: each text by itself.
type thing struct {
	request request.Detail
	texts   []fulltext.Doc
}

// read reads everything that is written in requests and about them, one by one.
func (s *searching) read() (list []thing) {
	s.Helper()
	ctx, c := s.Context(), s.db.Read()
	all, err := c.Requests.List(ctx, exchange.Page{}, request.Filter{}, exchange.Actor{Admin: true})
	s.must(err)
	for _, q := range all.Items {
		th := thing{request: q}
		add := func(w fulltext.Weight, texts ...string) {
			for _, text := range texts {
				th.texts = append(th.texts, fulltext.New([]fulltext.Field{{Weight: w, Text: text}}, nil, nil, nil))
			}
		}
		o, err := c.Organizations.Get(ctx, q.Organization)
		s.must(err)
		add(fulltext.Name, q.Material, o.Name)
		people, err := c.Users.ByIDs(ctx, []uuid.UUID{q.Requester, q.AssignedTo})
		s.must(err)
		for _, u := range people {
			add(fulltext.Name, u.Name(), u.Username)
		}
		for _, d := range q.Documents {
			t, err := c.Attachments.Get(ctx, d.AttachmentID)
			s.must(err)
			add(fulltext.Name, t.Filename)
		}
		if q.Shipment != nil {
			add(fulltext.Name, q.Shipment.Carrier, q.Shipment.Tracking)
			add(fulltext.Body, q.Shipment.Conditions)
		}
		add(fulltext.Body, q.Quantity, q.Note, q.Abstract)
		events, err := c.Events.List(ctx, q.ID, "", exchange.Page{})
		s.must(err)
		for _, e := range events.Items {
			if e.Kind == request.Messaged || e.Kind == request.IssueOpened {
				add(fulltext.Body, e.Detail.Text)
			}
		}
		list = append(list, th)
	}
	return list
}

// says reports whether a request matches an expression, each word in any text.
func (th thing) says(e fulltext.Expr) bool {
	switch {
	case e.And != nil:
		return !slices.ContainsFunc(e.And, func(e fulltext.Expr) bool { return !th.says(e) })
	case e.Or != nil:
		return slices.ContainsFunc(e.Or, th.says)
	case e.But != nil:
		return th.says(e.But.Yes) && !th.says(e.But.No)
	}
	return slices.ContainsFunc(th.texts, e.Match)
}

// compare runs queries of several viewers and compares the results with those of a naive reader.
func (s *searching) compare(queries int) {
	s.Helper()
	things, hits := s.read(), 0
	for range queries {
		query, viewer := s.query(), s.admin()
		if name := oneOf(s.random, append(s.names, "admin")); name != "admin" {
			viewer = s.person(name)
		}
		want := []int64{}
		for _, th := range things {
			if may := viewer.Admin || th.request.Requester == viewer.ID ||
				viewer.MemberOf(th.request.Organization); may && th.says(fulltext.Parse(query).Expr()) {
				want = append(want, th.request.ID)
			}
		}
		hits += len(want)
		got := []int64{}
		page := exchange.Page{Limit: 1 + s.random.IntN(7)}
		for {
			part, err := s.app.Requests.Requests(s.Context(), viewer, page,
				request.Filter{Search: new(exchange.SearchText(query))})
			s.must(err)
			if part.Total.N != int64(len(want)) {
				s.Errorf("search %q of %s: %d in all, want %d", query, viewer.ID, part.Total.N, len(want))
			}
			for _, q := range part.Items {
				got = append(got, q.ID)
			}
			if page.After = part.Next; part.Next == nil {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			s.Errorf("search %q of %s (-want +got):\n%s", query, viewer.ID, diff)
		}
	}
	if hits == 0 {
		s.Error("nothing was ever found")
	}
}

// TestRequestSearch_EqualsANaiveImplementation checks this whatever is written, renamed, moved and deleted, and that
// each viewer finds only what the list would show.
func TestRequestSearch_EqualsANaiveImplementation(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newSearching(t, db, 1)
		s.work(1)
		for range 8 {
			for range 5 {
				s.ids = append(s.ids, s.ask())
				for range 5 {
					s.act(oneOf(s.random, s.ids))
				}
				s.rename()
			}
			s.settled()
			s.compare(25)
		}
		s.onlyRowsOfLivingRequests()
	})
}

// TestRequestSearch_IndexIsRightAfterConcurrentChanges makes people request, write and rename concurrently.
func TestRequestSearch_IndexIsRightAfterConcurrentChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newSearching(t, db, 2)
		s.work(2)
		for range 10 {
			s.ids = append(s.ids, s.ask())
		}
		var all sync.WaitGroup
		for i := range 6 {
			one := *s
			one.random = rand.New(rand.NewPCG(uint64(i), 7))
			all.Go(func() {
				for range 15 {
					switch i % 3 {
					case 0:
						one.ask()
					case 1:
						one.act(oneOf(one.random, s.ids))
					default:
						one.rename()
					}
				}
			})
		}
		all.Wait()
		s.settled()
		s.compare(100)
		s.onlyRowsOfLivingRequests()
	})
}

// onlyRowsOfLivingRequests checks that the index has no row of a deleted request.
func (s *searching) onlyRowsOfLivingRequests() {
	s.Helper()
	var dead, rows int
	err := storetest.SQL(s.T, s.db).QueryRowContext(s.Context(), `SELECT COUNT(*), COUNT(*) FILTER (WHERE NOT EXISTS
		(SELECT 1 FROM material_requests o WHERE o.id = request_words.rowid >> 24 AND o.deleted_at IS NULL)) FROM request_words`).Scan(&rows, &dead)
	s.must(err)
	if rows == 0 || dead > 0 {
		s.Errorf("%d rows, of which %d are of no request", rows, dead)
	}
}

// found returns how many requests a search finds.
func (s *searching) found(who exchange.Actor, query string) int64 {
	s.Helper()
	part, err := s.app.Requests.Requests(s.Context(), who, exchange.Page{Limit: 1},
		request.Filter{Search: new(exchange.SearchText(query))})
	s.must(err)
	return part.Total.N
}

// TestRequestSearch_FindsTheNewNameAndNotTheOld checks this after the job, for a person, a lab and a material, with more
// requests than one step of the job handles.
func TestRequestSearch_FindsTheNewNameAndNotTheOld(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newSearching(t, db, 3)
		ctx, admin := t.Context(), s.admin()
		name := func(name string) {
			_, err := s.app.Accounts.UpdateUser(ctx, admin, s.asks.ID,
				person.UserPatch{FirstName: exchange.Some("First"), LastName: exchange.Some("Person" + name)}, nil)
			s.must(err)
			_, err = s.app.Labs.UpdateOrganization(ctx, admin, s.lab,
				lab.OrganizationPatch{Name: exchange.Some("Lab" + name)}, nil)
			s.must(err)
			_, err = s.app.Materials.UpdateMaterial(ctx, admin, s.material,
				material.Patch{Title: exchange.Some("Material" + name)}, nil)
			s.must(err)
		}
		const many = 205
		for range many {
			s.request()
		}
		name("before")
		s.work(1)
		for _, now := range []string{"quagga", "okapi"} {
			name(now) // while the job of the previous name runs
		}
		s.settled()
		for query, want := range map[string]int64{"Personokapi": many, "Labokapi": many, "Materialokapi": many,
			"personokapi labokapi materialok": many,
			"Personquagga":                    0, "Labquagga": 0, "Materialquagga": 0, "Personbefore": 0} {
			if got := s.found(admin, query); got != want {
				t.Errorf("%s: %d requests, want %d", query, got, want)
			}
		}
		part, err := db.Read().Jobs.List(ctx, exchange.Page{Limit: 200}, nil,
			exchange.JobFilter{Kind: &core.Reindex.Name})
		s.must(err)
		if part.Total.N != 3 {
			t.Errorf("%d jobs, want one for each thing", part.Total.N)
		}
	})
}

// TestMovedMaterial_ItsRequestsAreTheNewLabsAtOnce checks this before any job has run.
func TestMovedMaterial_ItsRequestsAreTheNewLabsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newSearching(t, db, 4)
		ctx, admin := t.Context(), s.admin()
		id := s.request()
		_, err := s.app.Requests.SendMessage(ctx, s.asks, id, request.TextBody{Text: exchange.Some("Is the okapi well?")})
		s.must(err)
		_, err = s.app.Requests.UpdateRequest(ctx, admin, id,
			request.Patch{Status: exchange.Some(request.Cancelled)}, nil)
		s.must(err)
		look := func(when string, member, other int64) {
			t.Helper()
			for who, want := range map[string]int64{"member": member, "other": other, "requester": 1} {
				if got := s.found(s.person(who), "HeLa okapi"); got != want {
					t.Errorf("%s: %s finds %d, want %d", when, who, got, want)
				}
			}
		}
		look("before", 1, 0)
		_, err = s.app.Materials.UpdateMaterial(ctx, admin, s.material,
			material.Patch{Organization: exchange.Some(exchange.Ref(s.labs[1]))}, nil)
		s.must(err)
		look("after", 0, 1)
	})
}

// TestRequestSearch_OfAMemberOfManyLabsFindsTheSame checks that it finds what the list shows, though the index does not
// narrow the search.
func TestRequestSearch_OfAMemberOfManyLabsFindsTheSame(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newSearching(t, db, 5)
		s.request()
		who := s.person("member")
		for i := range int64(100) {
			who.Organizations = append(who.Organizations, 1000+i)
		}
		stranger := s.person("other")
		stranger.Organizations = append(who.Organizations[2:], stranger.Organizations...)
		for name, c := range map[string]struct {
			who  exchange.Actor
			want int64
		}{"member": {who, 1}, "stranger": {stranger, 0}} {
			if got := s.found(c.who, "hela"); got != c.want {
				t.Errorf("%s finds %d, want %d", name, got, c.want)
			}
		}
	})
}
