package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// alerted returns the announcements about saved searches that somebody got.
func (r *reminding) alerted(who exchange.Actor) (told []notify.AnnouncementDetail) {
	r.Helper()
	kind := notify.NotificationKind(notify.SearchMatched)
	part, err := r.db.Read().Notifications.List(r.Context(), who.ID, notify.NotificationFilter{Kind: &kind},
		exchange.Page{Limit: 10_000})
	r.must(err)
	for _, n := range slices.Backward(part.Items) {
		if n.Category != mailing.SearchNotif ||
			len(n.Announcement.Detail.Materials) != min(notify.MaxNamed, n.Announcement.Detail.Count) {
			r.Errorf("a notification of %s: %+v", n.Category, n.Announcement.Detail)
		}
		told = append(told, n.Announcement.Detail)
	}
	return told
}

// alert runs so many jobs at the same time and returns how many announcements went out.
func (r *reminding) alert(jobs int) (news int64) {
	r.Helper()
	ids := make([]int64, jobs)
	for i := range ids {
		ids[i] = jobtest.Enqueue(r.T, r.db, catalog.Alert, struct{}{}, job.EnqueueOptions{})
	}
	for _, id := range ids {
		var sum catalog.AlertResult
		r.must(json.Unmarshal(jobtest.Wait(r.T, r.db, id, exchange.JobDone).Result, &sum))
		news += sum.Announcements
	}
	return news
}

// list lists a material for somebody of the lab.
func (r *reminding) list(who exchange.Actor, title string, embargo *exchange.Date) int64 {
	r.Helper()
	m, _, err := r.app.Materials.CreateMaterial(r.Context(), who,
		material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some(title),
			Organization: exchange.Some(exchange.Ref(r.lab)),
			EmbargoDate:  exchange.Null[exchange.Date]{Set: true, Value: embargo}})
	r.must(err)
	return m.ID
}

// save saves a search for somebody.
func (r *reminding) save(who exchange.Actor, query string) material.SavedSearch {
	r.Helper()
	s, err := r.app.Materials.CreateSavedSearch(r.Context(), who, who.ID, material.SavedSearchPatch{Search: exchange.Some(query)})
	r.must(err)
	return s
}

func TestAlerts_OneNotificationPerRun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.work(1)
		r.list(r.member, "zebrafish 0", nil)
		s := r.save(r.asks, "zebrafish")
		r.save(r.asks, "mouse")
		r.save(r.member, "zebrafish")
		if n := r.alert(1); n != 0 {
			t.Errorf("%d pieces of news of what was there", n)
		}
		var ids []int64
		for i := range 12 {
			ids = append(ids, r.list(r.member, fmt.Sprint("zebrafish ", i+1), nil))
		}
		if n := r.alert(1); n != 1 {
			t.Errorf("%d pieces of news, want one", n)
		}
		told := r.alerted(r.asks)
		if len(told) != 1 || told[0].SavedSearch != s.ID || told[0].Name != "zebrafish" || told[0].Count != 12 ||
			told[0].Materials[0] != (notify.MaterialPayload{ID: ids[11], Title: "zebrafish 12"}) {
			t.Errorf("told %+v", told)
		}
		if n := r.alert(1); n != 0 || len(r.alerted(r.member)) > 0 {
			t.Errorf("%d pieces of news more; the one who listed them was told %v", n, r.alerted(r.member))
		}
		part, err := r.db.Read().Notifications.List(t.Context(), r.asks.ID, notify.NotificationFilter{},
			exchange.Page{Limit: 1})
		r.must(err)
		const want = "12 materials are new in your saved search zebrafish: zebrafish 12; zebrafish 11; zebrafish 10; " +
			"9 more."
		if got := part.Items[0].Text(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	})
}

// keeping is a saved search as a naive observer knows it. Steps count events.
type keeping struct {
	who    exchange.Actor
	member bool
	query  string
	alerts bool
	since  int
	day    string
	told   []int64
}

// listing is a material as the observer knows it.
type listing struct {
	by             exchange.Actor
	title          string
	embargo        string // "": none
	archived       bool
	listed, opened int // the steps in which it was listed or unarchived, and in which its embargo had ended as well
}

// observer does random actions and works out by counting who has to be notified of what.
type observer struct {
	*reminding
	random   *rand.Rand
	step     int
	people   []exchange.Actor // the first two belong to the lab
	searches map[int64]*keeping
	listings map[int64]*listing
}

func (o *observer) today() string { return o.now.Load().Format(time.DateOnly) }

func anyOf[K int64, V any](random *rand.Rand, all map[K]V) (key K, some bool) {
	var keys []K
	for k := range all {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return 0, false
	}
	slices.Sort(keys)
	return keys[random.IntN(len(keys))], true
}

// alertWords are the words of titles and queries.
var alertWords = []string{"zebrafish", "mouse", "liver", "heart"}

func (o *observer) title() string {
	return alertWords[o.random.IntN(2)] + " " + alertWords[2+o.random.IntN(2)]
}

func (o *observer) query() string {
	return []string{"", alertWords[o.random.IntN(4)], alertWords[o.random.IntN(2)] + " " +
		alertWords[2+o.random.IntN(2)]}[o.random.IntN(3)]
}

func (o *observer) embargo() (exchange.Null[exchange.Date], string) {
	if o.random.IntN(2) == 0 {
		return exchange.Cleared[exchange.Date](), ""
	}
	date := o.now.Load().AddDate(0, 0, o.random.IntN(12)-3).Format(time.DateOnly)
	return exchange.NullOf(exchange.Date(date)), date
}

// act does one random action.
func (o *observer) act() {
	o.Helper()
	o.step++
	ctx := o.Context()
	o.set(o.now.Load().Add(time.Second))
	switch o.random.IntN(12) {
	case 0, 1, 2: // list
		by, title := o.people[o.random.IntN(2)], o.title()
		date, day := o.embargo()
		o.listings[o.list(by, title, date.Value)] = &listing{by: by, title: title, embargo: day, listed: o.step,
			opened: o.step}
	case 3, 4: // edit
		id, some := anyOf(o.random, o.listings)
		if !some {
			return
		}
		m := o.listings[id]
		var p material.Patch
		if o.random.IntN(2) == 0 {
			m.title = o.title()
			p.Title = exchange.Some(m.title)
		} else {
			hidden := m.embargo > o.today()
			p.EmbargoDate, m.embargo = o.embargo()
			if hidden && m.embargo <= o.today() {
				m.opened = o.step
			}
		}
		_, err := o.app.Materials.UpdateMaterial(ctx, o.people[o.random.IntN(2)], id, p, nil)
		o.must(err)
	case 5: // archive or unarchive
		id, some := anyOf(o.random, o.listings)
		if !some {
			return
		}
		m := o.listings[id]
		if m.archived {
			m.listed, m.opened = o.step, o.step
		}
		m.archived = !m.archived
		_, err := o.app.Materials.UpdateMaterial(ctx, o.people[0], id,
			material.Patch{Archived: exchange.Some(m.archived)}, nil)
		o.must(err)
	case 6, 7: // save a search
		who := o.random.IntN(len(o.people))
		k := &keeping{who: o.people[who], member: who < 2, query: o.query(), alerts: true, since: o.step,
			day: o.today()}
		o.searches[o.save(k.who, k.query).ID] = k
	case 8: // change one
		id, some := anyOf(o.random, o.searches)
		if !some {
			return
		}
		k := o.searches[id]
		before, p := *k, material.SavedSearchPatch{}
		switch o.random.IntN(3) {
		case 0:
			p.Name = exchange.Some(fmt.Sprint("No. ", o.step))
		case 1:
			k.query = o.query()
			p.Search = exchange.Some(k.query)
		default:
			k.alerts = !k.alerts
			p.Alerts = exchange.Some(k.alerts)
		}
		if k.query != before.query || k.alerts != before.alerts {
			k.since, k.day, k.told = o.step, o.today(), nil
		}
		_, err := o.app.Materials.UpdateSavedSearch(ctx, k.who, k.who.ID, id, p, nil)
		o.must(err)
	case 9: // delete one
		id, some := anyOf(o.random, o.searches)
		if !some || o.random.IntN(3) > 0 {
			return
		}
		o.must(o.app.Materials.DeleteSavedSearch(ctx, o.searches[id].who, o.searches[id].who.ID, id, nil))
		delete(o.searches, id)
	default: // days pass, or the clock is set back
		o.set(o.now.Load().AddDate(0, 0, o.random.IntN(7)-2))
		o.run()
	}
}

// run sends alerts and compares them with the naive count.
func (o *observer) run() {
	o.Helper()
	before := map[string]int{}
	for _, p := range o.people {
		before[p.ID.String()] = len(o.alerted(p))
	}
	o.alert(1 + o.random.IntN(2))
	got, want := map[int64]string{}, map[int64]string{}
	for _, p := range o.people {
		for _, d := range o.alerted(p)[before[p.ID.String()]:] {
			var ids []int64
			for _, m := range d.Materials {
				ids = append(ids, m.ID)
				if m.Title != o.listings[m.ID].title {
					o.Errorf("material %d is told as %q", m.ID, m.Title)
				}
			}
			got[d.SavedSearch] += fmt.Sprintln(d.Count, ids)
		}
	}
	for id, k := range o.searches {
		if ids := o.fresh(k); len(ids) > 0 {
			k.told = append(k.told, ids...)
			want[id] = fmt.Sprintln(len(ids), ids[:min(len(ids), notify.MaxNamed)])
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		o.Fatalf("step %d, %s: told %v, want %v", o.step, o.today(), got, want)
	}
}

// fresh returns what is new in a saved search, newest first.
func (o *observer) fresh(k *keeping) (ids []int64) {
	for id, m := range o.listings {
		hidden := m.embargo > o.today() && !k.member
		fresh := m.listed > k.since || !k.member && (m.opened > k.since || m.embargo > k.day)
		matches := !slices.ContainsFunc(strings.Fields(k.query),
			func(word string) bool { return !strings.Contains(m.title, word) })
		if k.alerts && fresh && matches && !hidden && !m.archived && m.by.ID != k.who.ID &&
			!slices.Contains(k.told, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids
}

func TestAlerts_EqualNaiveCounting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.work(2)
		o := &observer{reminding: r, random: rand.New(rand.NewPCG(6, uint64(len(t.Name())))),
			searches: map[int64]*keeping{}, listings: map[int64]*listing{}}
		o.people = []exchange.Actor{r.member, r.off, r.asks, r.person("another")}
		for range 200 {
			o.act()
		}
		o.run()
	})
}

// TestAlerts_NameEachMaterialOnceDespiteKilledWorkers has people list materials and save searches while
// three processes alert, each dead to the others again and again: the clock leaps over the ends of their leases.
// Leases of milliseconds would end too, but to renew those of three processes keeps SQLite's writer from all else.
func TestAlerts_NameEachMaterialOnceDespiteKilledWorkers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		start := func(on *store.DB, lease time.Duration) (stop func()) {
			another := r.process(on)
			return jobtest.Start(t, job.Config{DB: on, Handlers: another.Handlers(), Lease: lease, Log: another.Log})
		}
		stops := []func(){start(db, time.Minute)} // is woken at once; the others poll
		for range 2 {
			stops = append(stops, start(storetest.Again(t, db), time.Minute))
		}
		leap := func() { r.set(r.now.Load().Add(2 * time.Minute)) }
		const lists, searches = 30, 8
		var mu sync.Mutex
		seen := map[int64][]int64{} // by saved search: what it found when it was saved
		var wait sync.WaitGroup
		wait.Go(func() {
			for i := range lists {
				r.list(r.member, fmt.Sprint("zebrafish ", i), nil)
				leap()
			}
		})
		wait.Go(func() {
			for i := range lists {
				r.list(r.off, fmt.Sprint("zebrafish ", lists+i), nil)
				leap()
			}
		})
		wait.Go(func() {
			for range searches {
				s := r.save(r.asks, "zebrafish")
				part, err := db.Read().Materials.List(t.Context(), exchange.Page{Limit: 10_000},
					material.Filter{},
					r.asks.ID)
				r.must(err)
				mu.Lock()
				for _, m := range part.Items {
					seen[s.ID] = append(seen[s.ID], m.ID)
				}
				mu.Unlock()
				jobtest.Enqueue(t, db, catalog.Alert, struct{}{}, job.EnqueueOptions{})
				jobtest.Enqueue(t, db, catalog.Alert, struct{}{}, job.EnqueueOptions{})
			}
		})
		wait.Wait()
		raw := storetest.SQL(t, db)
		jobtest.Poll(t, "a worker is dead to another", func() bool {
			leap()
			var most, due int
			r.must(raw.QueryRowContext(t.Context(),
				"SELECT MAX(lease), COUNT(due_at) FROM jobs WHERE kind = 'alert'").Scan(&most, &due))
			if due == 0 {
				jobtest.Enqueue(t, db, catalog.Alert, struct{}{}, job.EnqueueOptions{})
			}
			return most > 1
		})
		for _, stop := range stops {
			stop()
		}
		start(db, 1e6*time.Hour) // completes what the others left
		told := map[int64][]int64{}
		jobtest.Poll(t, "all is told", func() bool {
			r.set(r.now.Load().Add(time.Second)) // failed jobs are retried
			var left, due int
			r.must(raw.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM material_changes) +
				(SELECT COUNT(*) FROM search_matches WHERE NOT told), (SELECT COUNT(*) FROM jobs WHERE kind = 'alert' AND due_at IS NOT NULL)`).Scan(&left, &due))
			if left > 0 && due == 0 {
				jobtest.Enqueue(t, db, catalog.Alert, struct{}{}, job.EnqueueOptions{})
			}
			return left+due == 0
		})
		counts := map[int64]int{}
		for _, d := range r.alerted(r.asks) {
			counts[d.SavedSearch] += d.Count
		}
		rows, err := raw.QueryContext(t.Context(), "SELECT saved_search_id, material_id FROM search_matches ORDER BY "+
			"material_id")
		r.must(err)
		defer rows.Close()
		for rows.Next() {
			var s, m int64
			r.must(rows.Scan(&s, &m))
			told[s] = append(told[s], m)
		}
		r.must(rows.Err())
		for s, found := range seen {
			if counts[s] != len(told[s]) {
				t.Errorf("saved search %d: %d materials were told, %d are noted", s, counts[s], len(told[s]))
			}
			all := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(found), told[s]...))))
			if len(all) != 2*lists+1 { // and that of the lab
				t.Errorf("saved search %d: %d were there, %d were told, together %d", s, len(found), len(told[s]),
					len(all))
			}
		}
	})
}
