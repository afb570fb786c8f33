package app_test

import (
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// TestInsights_EqualNaiveCounting runs random histories, in which materials move between labs and
// requests are deleted, while somebody reads insights on some days.
func TestInsights_EqualNaiveCounting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		y := &year{reminding: newReminding(t, db), random: rand.New(rand.NewPCG(3, 5)), lives: map[int64]*life{}}
		y.admin = y.person("admin")
		y.admin.Admin = true
		other, err := y.app.Labs.CreateOrganization(t.Context(), y.member,
			lab.OrganizationPatch{Name: exchange.Some("Other"),
				Owner: exchange.Some(exchange.UserRef(y.member.ID)), Members: exchange.Some([]exchange.UserRef{})})
		y.must(err)
		y.member = y.person("member")
		labs := []int64{y.lab, other.ID}
		for i := range 6 {
			m, _, err := y.app.Materials.CreateMaterial(t.Context(), y.member,
				material.Patch{Category: exchange.Some([]string{"OTHER", "PLASMID", "OTHER"}[i%3]),
					Title:        exchange.Some("HeLa"),
					Organization: exchange.Some(exchange.Ref(labs[i%2])), NeedsAbstract: exchange.Some(i%3 == 0),
					NeedsMTA: exchange.Some(i%2 == 0)})
			y.must(err)
			y.materials = append(y.materials, m.ID)
		}
		for today, began := 0, *y.now.Load(); today < 200; today++ {
			y.set(began.AddDate(0, 0, today).Add(time.Duration(y.random.IntN(14*3600)) * time.Second))
			if len(y.ids) < 40 && y.random.IntN(3) == 0 {
				y.ask()
			}
			for range 6 {
				if y.set(y.now.Load().Add(time.Duration(1+y.random.IntN(500)) * time.Second)); len(y.ids) > 0 {
					y.act(y.ids[y.random.IntN(len(y.ids))])
				}
			}
			switch y.random.IntN(25) {
			case 0:
				y.askForOtherThings()
			case 1: // mostly refused, since no request may be under way
				_, err := y.app.Materials.UpdateMaterial(t.Context(), y.member, y.materials[y.random.IntN(len(y.materials))],
					material.Patch{Organization: exchange.Some(exchange.Ref(labs[y.random.IntN(2)]))}, nil)
				if exchange.CodeOf(err) == exchange.Internal && err != nil {
					t.Fatal(err)
				}
			case 2, 3, 4:
				y.compareInsights(labs[y.random.IntN(2)], y.anyCategory(),
					transfer.InsightMonths[y.random.IntN(len(transfer.InsightMonths))])
			}
		}
		for _, lab := range labs {
			for _, c := range []string{"OTHER", "PLASMID", ""} {
				y.compareInsights(lab, c, 12)
			}
		}
	})
}

// anyCategory returns a random category, or all.
func (y *year) anyCategory() string {
	return []string{"OTHER", "PLASMID", ""}[y.random.IntN(3)]
}

// compareInsights compares insights with what a naive reader of all turns counts.
func (y *year) compareInsights(lab int64, code string, months int) {
	y.Helper()
	got, err := y.app.Requests.Insights(y.Context(), y.member, lab, code, months)
	y.must(err)
	now := *y.now.Load()
	first := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, -months, 0)
	want := make([]transfer.Month, months)
	for i := range want {
		want[i].Begins = first.AddDate(0, i, 0)
		want[i].Stages = map[request.Stage]request.Durations{}
	}
	month := func(at time.Time) *transfer.Month {
		for i := range want {
			if !at.Before(want[i].Begins) && at.Before(want[i].Begins.AddDate(0, 1, 0)) {
				return &want[i]
			}
		}
		return &transfer.Month{}
	}
	list, err := y.db.Read().Requests.List(y.Context(), exchange.Page{}, request.Filter{}, y.admin)
	y.must(err)
	for _, q := range list.Items {
		m, err := y.db.Read().Materials.Get(y.Context(), q.MaterialID)
		y.must(err)
		if q.Organization == lab && (code == "" || code == m.Category) {
			y.count(q, want, month)
		}
	}
	if len(got.Months) != months {
		y.Fatalf("%d months, want %d", len(got.Months), months)
	}
	for i, m := range got.Months {
		if diff := cmp.Diff(tidied(want[i]), tidied(m)); diff != "" {
			y.Fatalf("lab %d, %s, as of %s: %s", lab, m.Begins.Format("2006-01"), now, diff)
		}
	}
	for s, d := range got.Total.Stages {
		for _, p := range []int{50, 90} {
			sorted := slices.Sorted(slices.Values(d))
			k := 0
			for (k+1)*100 < p*len(sorted) {
				k++
			}
			if n, _ := d.Percentile(p); n != sorted[k] {
				y.Fatalf("percentile %d of %s: %d, want %d of %v", p, s, n, sorted[k], sorted)
			}
		}
	}
}

// count adds one request to months.
func (y *year) count(q request.Detail, want []transfer.Month, month func(time.Time) *transfer.Month) {
	part, err := y.app.Requests.Turns(y.Context(), y.admin, q.ID, exchange.Page{})
	y.must(err)
	turns := part.Items
	slices.Reverse(turns)
	m := month(turns[0].BeganAt)
	m.Received++
	if m.Materials == nil {
		m.Materials = map[int64]int64{}
	}
	m.Materials[q.MaterialID]++
	standing := func(t request.TurnRecord) string {
		switch {
		case t.Side == "" && t.Status.Active():
			return "closed"
		case t.Side == "":
			return map[request.Status]string{"VERIFIED_FULFILLED": "completed", "REJECTED": "declined",
				"CANCELLED": "cancelled", "INVALID": "invalid"}[t.Status]
		case t.Status == request.Open:
			return ""
		}
		return "-"
	}
	stage := func(t request.TurnRecord) request.Stage {
		if t.Side == "" {
			return ""
		}
		known := map[string]request.Stage{"decision": "decision", "issue": "problem", "shipment": "shipping",
			"receipt": "receipt", "executed_mta": "countersign"}
		if s := known[t.What[0]]; s != "" {
			return s
		}
		return "documents"
	}
	var spent int64
	for i, t := range turns {
		if t.EndedAt != nil {
			n := t.EndedAt.Unix() - t.BeganAt.Unix()
			m := month(*t.EndedAt)
			if t.Side != "" {
				if m.Sides == nil {
					m.Sides = map[request.Side]int64{}
				}
				m.Sides[t.Side] += n
			}
			spent += n
			if next := stage(turns[i+1]); next != stage(t) {
				if s := stage(t); s != "" && m.Stages != nil {
					m.Stages[s] = append(m.Stages[s], spent)
				}
				spent = 0
			}
		}
		if s := standing(t); i > 0 && len(s) > 1 && s != standing(turns[i-1]) {
			m := month(t.BeganAt)
			if m.Ended == nil {
				m.Ended = map[request.State]int64{}
			}
			if m.Ended[request.State(s)]++; s == "completed" {
				m.Whole = append(m.Whole, t.BeganAt.Unix()-turns[0].BeganAt.Unix())
			}
		}
	}
	for i := range want {
		end := want[i].Begins.AddDate(0, 1, 0)
		for _, t := range turns {
			if t.BeganAt.Before(end) && (t.EndedAt == nil || !t.EndedAt.Before(end)) {
				switch standing(t) {
				case "":
					want[i].New++
				case "-":
					want[i].Progress++
				}
			}
		}
	}
}

// tidied returns a month without what the comparison must ignore: order, and zeros.
func tidied(m transfer.Month) transfer.Month {
	m.InsightCounts.New, m.InsightCounts.Progress, m.Countries = 0, 0, nil
	sorted := map[request.Stage]request.Durations{}
	for s, d := range m.Stages {
		if len(d) > 0 {
			sorted[s] = slices.Sorted(slices.Values(d))
		}
	}
	m.Stages, m.Whole = sorted, append(request.Durations{}, slices.Sorted(slices.Values(m.Whole))...)
	m.Ended, m.Materials, m.Sides = some(m.Ended), some(m.Materials), some(m.Sides)
	return m
}

func some[K comparable](counts map[K]int64) map[K]int64 {
	counts = maps.Clone(counts)
	maps.DeleteFunc(counts, func(_ K, n int64) bool { return n == 0 })
	if len(counts) == 0 {
		return nil
	}
	return counts
}

// TestGrantReport_LinkOpensItUntilItExpires also checks that the link of one grant opens no other, and that the
// report has nothing under embargo.
func TestGrantReport_LinkOpensItUntilItExpires(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx := t.Context()
		g, err := r.app.Grants.CreateGrant(ctx, r.member,
			person.GrantPatch{Title: exchange.Some("Wnt"), FunderID: exchange.Some("EX-1")})
		r.must(err)
		hidden, _, err := r.app.Materials.CreateMaterial(ctx, r.member,
			material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("Secret"),
				Organization: exchange.Some(exchange.Ref(r.lab)),
				EmbargoDate:  exchange.NullOf(exchange.Date("2027-01-01"))})
		r.must(err)
		for _, m := range []int64{r.material, hidden.ID} {
			_, _, err = r.app.Grants.Fund(ctx, r.member, g.ID, material.FundingBody{Material: exchange.Some(exchange.Ref(m))})
			r.must(err)
		}
		r.request()
		link := person.GrantLinkNew{Note: exchange.Some("funder"), Days: exchange.Some(30)}
		if _, _, err := r.app.Grants.ShareGrant(ctx, r.off, g.ID, link); exchange.CodeOf(err) != exchange.Forbidden {
			t.Errorf("a member of the lab who does not own the grant: %v", err)
		}
		address, made, err := r.app.Grants.ShareGrant(ctx, r.member, g.ID, link)
		r.must(err)
		key := keyOf(t, address)
		report, _, err := r.app.Grants.SharedReport(ctx, exchange.Actor{}, g.ID, key)
		r.must(err)
		if len(report.Materials) != 1 || report.Requests != 1 || report.Completed != 0 || len(report.Labs) != 1 ||
			report.Labs[0].Materials != 1 {
			t.Errorf("%+v", report)
		}
		own, err := r.app.Grants.GrantPage(ctx, r.member, g.ID)
		r.must(err)
		if len(own.Materials) != 2 || len(own.Links) != 1 || own.Links[0].ID != made.ID {
			t.Errorf("%+v", own)
		}
		refused := func(what string, grant int64, key string) {
			t.Helper()
			if _, _, err := r.app.Grants.SharedReport(ctx, exchange.Actor{}, grant,
				key); exchange.CodeOf(err) != exchange.NotFound {
				t.Errorf("%s: %v", what, err)
			}
		}
		second, err := r.app.Grants.CreateGrant(ctx, r.member,
			person.GrantPatch{Title: exchange.Some("Other"), FunderID: exchange.Some("EX-2")})
		r.must(err)
		refused("another grant", second.ID, key)
		refused("another key", g.ID, key+"x")
		refused("no key", g.ID, "")
		now := *r.now.Load()
		r.set(now.AddDate(0, 0, 31))
		refused("over", g.ID, key)
		r.set(now)
		if err := r.app.Grants.RevokeGrantLink(ctx, r.off, g.ID, made.ID); exchange.CodeOf(err) != exchange.Forbidden {
			t.Errorf("revoked by another: %v", err)
		}
		r.must(r.app.Grants.RevokeGrantLink(ctx, r.member, g.ID, made.ID))
		refused("revoked", g.ID, key)
	})
}

// TestMembers_LeaveAndTheOwnerStays also checks that the requests of the former member go to the owner.
func TestMembers_LeaveAndTheOwnerStays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx := t.Context()
		id := r.request()
		_, err := r.app.Requests.UpdateRequest(ctx, r.member, id,
			request.Patch{AssignedTo: exchange.Some(exchange.UserRef(r.off.ID))}, nil)
		r.must(err)
		if err := r.app.Labs.Leave(ctx, r.member, r.lab); exchange.CodeOf(err) != exchange.Conflict {
			t.Errorf("the owner: %v", err)
		}
		if err := r.app.Labs.Leave(ctx, r.asks, r.lab); exchange.CodeOf(err) != exchange.Forbidden {
			t.Errorf("a stranger: %v", err)
		}
		r.must(r.app.Labs.Leave(ctx, r.off, r.lab))
		if r.person("off").MemberOf(r.lab) {
			t.Error("still a member")
		}
		q, err := r.app.Requests.Request(ctx, r.member, id)
		r.must(err)
		if q.AssignedTo != r.member.ID {
			t.Errorf("assigned to %s", q.AssignedTo)
		}
	})
}

func keyOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("key") == "" {
		t.Fatalf("%s %v", address, err)
	}
	return u.Query().Get("key")
}
