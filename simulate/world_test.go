package simulate

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app"
	"aliquot/internal/app/institutions"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/store"
)

// world is two institutions with an office each, labs of the provider, and scientists of the recipient, who ask for
// materials by the use cases of Aliquot.
type world struct {
	*clock
	t         *testing.T
	ctx       context.Context
	app       *app.App
	admin     exchange.Actor
	provider  side
	recipient side
	groups    map[string]*group // by way
	transfers []*transfer
	owner     map[int64]exchange.Actor // of the lab, by material
}

// group is who takes a way: scientists, and labs with their materials. Each way has its own, so that what one of them
// has signed in advance is only for its own requests.
type group struct {
	scientists, owners []exchange.Actor
	labs               []int64 // one for each owner
	materials          []int64
}

// side is an institution, its officer, and when people work there.
type side struct {
	calendar
	id      int64
	officer exchange.Actor
}

const (
	labsOfGroup         = 4
	materialsOfLab      = 5
	scientistsOfGroup   = 20
	firstDay            = "2026-01-05"
	firstDayOfAuthority = "2024-01-01"
)

func newWorld(t *testing.T, db *store.DB) *world {
	start, err := time.Parse(time.DateOnly, firstDay)
	must(t, err)
	w := &world{clock: newClock(start), t: t, ctx: t.Context(), groups: map[string]*group{},
		owner: map[int64]exchange.Actor{}}
	db.Clock = w.time
	folder, err := files.OpenFolder(t.TempDir())
	must(t, err)
	t.Cleanup(func() { must(t, folder.Close()) })
	w.app = app.New(app.Config{DB: db, Files: folder, Access: exchange.AccessMembers, Registration: []string{"open"},
		Admins: []string{"admin"}, TokenLifetime: 100 * 365 * 24 * time.Hour, UploadLimit: 1 << 20,
		PublicURL: "http://localhost", Log: slog.New(slog.DiscardHandler)})
	w.admin = w.person("admin")
	w.provider = w.institution("Aarlund University", "DK", "Europe/Copenhagen", "2026-04-02", "2026-04-03", "2026-04-06")
	w.recipient = w.institution("Weston University", "US", "America/New_York", "2026-01-19", "2026-05-25", "2026-07-03")
	for _, way := range []string{paperWay, letterWay, standingWay} {
		w.groups[way] = w.group(way)
	}
	w.signAhead(w.groups[standingWay])
	return w
}

// group adds the people and materials of a way.
func (w *world) group(way string) *group {
	g := &group{}
	for n := range labsOfGroup {
		w.addLab(g, "owner "+strconv.Itoa(n)+", "+way)
	}
	for n := range scientistsOfGroup {
		g.scientists = append(g.scientists, w.employ(w.recipient, "scientist "+strconv.Itoa(n)+", "+way))
	}
	return g
}

// employ signs somebody in who is at an institution, as its officer confirms.
func (w *world) employ(s side, name string) exchange.Actor {
	w.t.Helper()
	who := w.person(name)
	register(w, w.app.Institutions.Affiliations, s.officer, s.id,
		fields{"person": who.ID, "from": firstDayOfAuthority, "confirmed": true})
	return who
}

// fields is a body of the API.
type fields = map[string]any

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// person signs somebody in, and returns them with the labs and rights that they have now.
func (w *world) person(name string) exchange.Actor {
	w.t.Helper()
	signed, err := w.app.Accounts.SignIn(w.ctx, identity.Person{RegistryID: name, GivenName: name},
		person.Registration{})
	must(w.t, err)
	who, err := w.app.Accounts.Actor(w.ctx, signed.Token)
	must(w.t, err)
	return who
}

// register adds an entry to an institution.
func register[T party.Described[T]](w *world, to institutions.Entries[T], by exchange.Actor, id int64, body fields) T {
	w.t.Helper()
	patch, err := party.PatchOf[T](body)
	must(w.t, err)
	entry, err := to.Create(w.ctx, by, id, patch)
	must(w.t, err)
	return entry
}

// institution adds one that has signed the UBMTA, with an officer who may sign everything.
func (w *world) institution(name, country, zone string, holidays ...string) side {
	w.t.Helper()
	place, err := time.LoadLocation(zone)
	must(w.t, err)
	body, err := party.PatchOf[party.Institution](fields{"legal_name": name, "country": country, "kind": "NONPROFIT",
		"kind_evidence": "Statute", "kind_since": firstDayOfAuthority, "confirmed": true})
	must(w.t, err)
	i, err := w.app.Institutions.Create(w.ctx, w.admin, body)
	must(w.t, err)
	s := side{calendar: calendar{place, holidays}, id: i.ID, officer: w.person("officer of " + name)}
	position := register(w, w.app.Institutions.Positions, w.admin, i.ID, fields{"title": "Head of agreements"})
	register(w, w.app.Institutions.Authorities, w.admin, i.ID, fields{"position": position.ID,
		"holder": s.officer.ID, "direction": "BOTH", "human": true, "largest_bsl": 3, "delegation": "Statute",
		"from": firstDayOfAuthority})
	register(w, w.app.Institutions.Masters, w.admin, i.ID, fields{"family": "UBMTA", "version": "1995",
		"signed_on": "1995-06-01"})
	return s
}

// addLab adds a lab of the provider with materials that need an agreement. The last has a higher biosafety level.
func (w *world) addLab(g *group, owner string) {
	w.t.Helper()
	who := w.employ(w.provider, owner)
	o, err := w.app.Labs.CreateOrganization(w.ctx, who, lab.OrganizationPatch{Owner: exchange.Some(exchange.UserRef(who.ID)),
		Members: exchange.Some([]exchange.UserRef{})})
	must(w.t, err)
	who = w.person(owner) // with their lab
	entry := register(w, w.app.Institutions.Labs, who, w.provider.id, fields{"organization": o.ID,
		"from": firstDayOfAuthority})
	confirmed, err := party.PatchOf[party.Lab](fields{"confirmed": true})
	must(w.t, err)
	_, err = w.app.Institutions.Labs.Update(w.ctx, w.provider.officer, w.provider.id, entry.ID, confirmed, nil)
	must(w.t, err)
	for n := range materialsOfLab {
		m, _, err := w.app.Materials.CreateMaterial(w.ctx, who, material.Patch{Category: exchange.Some("PLASMID"),
			Title: exchange.Some("pSim " + strconv.Itoa(n)), Organization: exchange.Some(exchange.Ref(o.ID)),
			NeedsMTA: exchange.Some(true)})
		must(w.t, err)
		g.materials = append(g.materials, m.ID)
		w.owner[m.ID] = who
		bsl := "1"
		if n == materialsOfLab-1 {
			bsl = "2"
		}
		w.state(who, m.ID, bsl)
	}
	g.owners, g.labs = append(g.owners, who), append(g.labs, o.ID)
}
