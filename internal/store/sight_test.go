package store_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

var errForget = errors.New("forget it")

// check runs test on random rows, which are forgotten afterwards.
func (l testLab) check(t *testing.T, test func(r *rapid.T, l testLab)) {
	t.Helper()
	ctx := t.Context()
	rapid.Check(t, func(r *rapid.T) {
		err := l.db.Tx(ctx, func(ctx context, tx store.Conn) error {
			in := l
			in.ctx, in.tx = ctx, &tx
			test(r, in)
			return errForget
		})
		if !errors.Is(err, errForget) {
			r.Fatalf("transaction: %v", err)
		}
	})
}

// world is some users and organizations, and who is a member now; some were members before.
type world struct {
	users         []uuid.UUID
	organizations []int64
	members       map[int64][]uuid.UUID
}

func (l testLab) world(r *rapid.T) world {
	w := world{members: map[int64][]uuid.UUID{}}
	for range 4 {
		w.users = append(w.users, l.user().ID)
	}
	some := rapid.SliceOfDistinct(rapid.SampledFrom(w.users), func(u uuid.UUID) uuid.UUID { return u })
	for range 3 {
		o := l.organization(w.users[0], some.Draw(r, "members before")...)
		w.organizations = append(w.organizations, o)
		w.members[o] = some.Draw(r, "members")
		l.setMembers(o, w.members[o]...)
	}
	return w
}

func maybe[T any](r *rapid.T, name string, from []T) *T {
	if rapid.Bool().Draw(r, name+" is set") {
		return new(rapid.SampledFrom(from).Draw(r, name))
	}
	return nil
}

func TestMaterials_ShowWhatTheViewerMaySee(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.check(t, func(r *rapid.T, l testLab) {
			w := l.world(r)
			dates := []exchange.Date{"1999-12-31", exchange.Date(l.tx.Now.AddDate(0, 0, -1).Format("2006-01-02")),
				exchange.Date(l.tx.Now.Format("2006-01-02")),
				exchange.Date(l.tx.Now.AddDate(0, 0, 1).Format("2006-01-02")), "2100-01-01"}
			categories := []string{"CELL_LINE", "PLASMID"}
			all := map[int64]material.Material{}
			for range rapid.IntRange(0, 8).Draw(r, "materials") {
				var m material.Material
				id := l.material(rapid.SampledFrom(w.organizations).Draw(r, "organization"), w.users[0],
					func(made *material.Material) {
						made.Category = rapid.SampledFrom(categories).Draw(r, "category")
						made.Archived = rapid.Bool().Draw(r, "archived")
						made.EmbargoDate = maybe(r, "embargo", dates)
						m = *made
					})
				all[id] = m
			}
			viewer := rapid.SampledFrom(append(w.users, uuid.Nil)).Draw(r, "viewer")
			f := material.Filter{Organization: maybe(r, "filter organization", append(w.organizations, 1)),
				Category: maybe(r, "filter category", append(categories, "")),
				Archived: maybe(r, "filter archived", []bool{true, false})}
			want := map[int64]bool{}
			for id, m := range all {
				want[id] = (!m.Embargoed(l.tx.Now) || slices.Contains(w.members[m.OrganizationID], viewer)) &&
					(f.Organization == nil || m.OrganizationID == *f.Organization) &&
					(f.Category == nil || m.Category == *f.Category) &&
					(f.Archived == nil || m.Archived == *f.Archived)
			}
			limit := rapid.IntRange(1, 9).Draw(r, "limit")
			part, err := l.tx.Materials.List(l.ctx, exchange.Page{Limit: limit}, f, viewer)
			shown(r, want, limit, part, err, func(m material.Shown) int64 { return m.ID })
		})
	})
}

func TestRequests_ShowWhatTheViewerMaySee(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.check(t, func(r *rapid.T, l testLab) {
			w := l.world(r)
			var materials []int64
			of := map[int64]int64{}
			for range 3 {
				o := rapid.SampledFrom(w.organizations).Draw(r, "organization")
				m := l.material(o, w.users[0], nil)
				materials, of[m] = append(materials, m), o
			}
			statuses := []request.Status{request.Open, request.Rejected}
			user := rapid.SampledFrom(w.users)
			all := map[int64]request.Request{}
			for range rapid.IntRange(0, 8).Draw(r, "requests") {
				var q request.Request
				id := l.request(rapid.SampledFrom(materials).Draw(r, "material"), user.Draw(r, "requester"),
					user.Draw(r, "assigned"),
					func(made *request.Request) {
						made.Status = rapid.SampledFrom(statuses).Draw(r, "status")
						made.Active = rapid.Bool().Draw(r, "active")
						q = *made
					})
				if rapid.IntRange(0, 4).Draw(r, "deleted") == 0 {
					l.change(id, true, func(context, store.Conn, *request.Detail) error { return nil })
					continue
				}
				all[id] = q
			}
			viewer, everyone := user.Draw(r, "viewer"), rapid.Bool().Draw(r, "everyone")
			f := request.Filter{Material: maybe(r, "filter material", append(materials, 1)),
				Status:     maybe(r, "filter status", []request.Status{request.Open, ""}),
				Active:     maybe(r, "filter active", []bool{true, false}),
				Requester:  maybe(r, "filter requester", append(w.users, uuid.Nil)),
				AssignedTo: maybe(r, "filter assigned", w.users)}
			want := map[int64]bool{}
			for id, q := range all {
				want[id] = (everyone || q.Requester == viewer ||
					slices.Contains(w.members[of[q.MaterialID]], viewer)) &&
					(f.Material == nil || q.MaterialID == *f.Material) && (f.Status == nil || q.Status == *f.Status) &&
					(f.Active == nil || q.Active == *f.Active) && (f.Requester == nil || q.Requester == *f.Requester) &&
					(f.AssignedTo == nil || q.AssignedTo == *f.AssignedTo)
			}
			limit := rapid.IntRange(1, 9).Draw(r, "limit")
			part, err := l.tx.Requests.List(l.ctx, exchange.Page{Limit: limit}, f,
				exchange.Actor{ID: viewer, Admin: everyone})
			shown(r, want, limit, part, err, func(q request.Detail) int64 { return q.ID })
		})
	})
}

// shown compares the first page of a list with the ids that should be in the list.
func shown[T any](r *rapid.T, should map[int64]bool, limit int, part exchange.ListPage[T], err error,
	id func(T) int64) {
	if err != nil {
		r.Fatal(err)
	}
	want := []int64{}
	for id, in := range should {
		if in {
			want = append(want, id)
		}
	}
	slices.SortFunc(want, func(a, b int64) int { return int(b - a) })
	var next *exchange.Position
	total := int64(len(want))
	if len(want) > limit {
		want = want[:limit]
		next = &exchange.Position{ID: want[limit-1]}
	}
	got, _, _, _ := ids(part, nil, id)
	if !slices.Equal(got, want) || part.Total.N != total || !reflect.DeepEqual(part.Next, next) {
		r.Fatalf("shows %v of %d, next %v, want %v of %d, next %v", got, part.Total.N, part.Next, want, total, next)
	}
}
