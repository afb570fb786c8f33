package core

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// AuditEntry is an audit event with its actor; By is nil if it names nobody.
type AuditEntry struct {
	exchange.AuditEvent
	By *person.User
}

// Version is a version of an object: its state after a change and before it; the latter is nil in the first version.
type Version[T any] struct {
	AuditEntry
	State  T
	Before *T
}

// RecordMaterialVersion saves a changed material as a version. The version has the id of the contact, not the name,
// which is looked up when the version is read.
func RecordMaterialVersion(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action, asAdmin bool,
	m material.Shown) error {
	return tx.Audit.InsertVersions(ctx, ActorID(who), action, []store.Revision{MaterialVersion(m, asAdmin)})
}

// RecordMaterialVersions saves changed materials as versions; asAdmin holds, for each material id, whether the change
// took admin rights.
func RecordMaterialVersions(ctx context.Context, tx store.Conn, who exchange.Actor, asAdmin map[int64]bool) error {
	shown, err := tx.Materials.ShownByIDs(ctx, slices.Sorted(maps.Keys(asAdmin)))
	if err != nil {
		return err
	}
	versions := make([]store.Revision, len(shown))
	for i, m := range shown {
		versions[i] = MaterialVersion(m, asAdmin[m.ID])
	}
	return tx.Audit.InsertVersions(ctx, ActorID(who), exchange.MaterialUpdate, versions)
}

// MaterialVersion returns the version to record of a material; asAdmin: the change took admin rights.
func MaterialVersion(m material.Shown, asAdmin bool) store.Revision {
	m = m.Revealed()
	m.Contact = unnamed(m.Contact)
	return store.Revision{Object: Object("material", m.ID), AsAdmin: asAdmin, State: m}
}

// WithoutAddresses returns a user without the addresses that only they may see.
func WithoutAddresses(u person.User) person.User {
	u.Email, u.VerifiedEmail = "", ""
	return u
}

// unnamed returns a user as versions store them: only the id, so that a closed account leaves no name behind.
func unnamed(u person.User) person.User { return person.User{ID: u.ID} }

// RecordOrganizationVersion saves a changed organization as a version, like recordMaterialVersion.
func RecordOrganizationVersion(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action,
	asAdmin bool, v OrganizationView) error {
	members := make([]person.User, len(v.Members))
	for i, m := range v.Members {
		members[i] = unnamed(m)
	}
	v.Members, v.OwnerUser = members, unnamed(v.OwnerUser)
	return tx.Audit.InsertVersion(ctx, ActorID(who), action, Object("organization", v.ID), asAdmin, v)
}

// ActorID returns the id of an actor; nil for an anonymous caller.
func ActorID(who exchange.Actor) *uuid.UUID {
	if who.Anonymous() {
		return nil
	}
	return &who.ID
}

// MaterialHistory lists the versions of a material.
func (a *Core) MaterialHistory(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[Version[material.Shown]], error) {
	before, err := a.mayReadHistory(ctx, who, id)
	if err != nil {
		return exchange.ListPage[Version[material.Shown]]{}, err
	}
	return versions[material.Shown](ctx, a.DB.Read(), Object("material", id), before, p)
}

// mayReadHistory checks that who may read the versions of a material: all of them if before is 0, or those before the
// version with which it left a lab of theirs.
func (a *Core) mayReadHistory(ctx context.Context, who exchange.Actor, id int64) (before int64, err error) {
	c := a.DB.Read()
	m, err := c.Materials.Get(ctx, id)
	if err != nil {
		return 0, err
	}
	rel := who.ToOrganization(m.OrganizationID)
	if ok, _ := a.policy.Can(exchange.MaterialHistory, rel); !ok && !who.Anonymous() {
		moves, err := c.Materials.MovedFrom(ctx, id, who.Viewer())
		if err != nil {
			return 0, err
		}
		if len(moves) > 0 {
			return moves[0].Version, nil
		}
	}
	if a.Hides(who, m, c.Now) {
		return 0, NoMaterial()
	}
	return 0, a.MayRead(ctx, who, exchange.MaterialHistory, rel, Object("material", id))
}

// OrganizationHistory lists the versions of an organization.
func (a *Core) OrganizationHistory(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[Version[OrganizationView]], error) {
	_, err := a.DB.Read().Organizations.Get(ctx, id)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.OrganizationHistory, who.ToOrganization(id), Object("organization", id))
	}
	if err != nil {
		return exchange.ListPage[Version[OrganizationView]]{}, err
	}
	return versions[OrganizationView](ctx, a.DB.Read(), Object("organization", id), 0, p)
}

func versions[T any](ctx context.Context, c store.Conn, object string, before int64,
	p exchange.Page) (exchange.ListPage[Version[T]], error) {
	kept, err := c.Audit.Versions(ctx, object, before, p)
	if err != nil {
		return exchange.ListPage[Version[T]]{}, err
	}
	list, people := make([]Version[T], len(kept.Items)), []*person.User{}
	for i, v := range kept.Items {
		list[i].AuditEntry.AuditEvent = v.AuditEvent
		if err := json.Unmarshal(v.State, &list[i].State); err != nil {
			return exchange.ListPage[Version[T]]{}, err
		}
		people = append(people, peopleOf(&list[i].State)...)
		if v.Before == nil {
			continue
		}
		if err := json.Unmarshal(v.Before, &list[i].Before); err != nil {
			return exchange.ListPage[Version[T]]{}, err
		}
		people = append(people, peopleOf(list[i].Before)...)
	}
	known, err := namePeople(ctx, c, kept.Items, func(v store.Version) *uuid.UUID { return v.Actor }, people)
	if err != nil {
		return exchange.ListPage[Version[T]]{}, err
	}
	for i, v := range list {
		if v.Actor != nil {
			list[i].By = known[*v.Actor]
		}
	}
	return exchange.ListPage[Version[T]]{Items: list, Total: kept.Total, Next: kept.Next}, nil
}

// peopleOf returns the users that the state of a version names by their ids.
func peopleOf(state any) (list []*person.User) {
	switch s := state.(type) {
	case *material.Shown:
		return []*person.User{&s.Contact}
	case *OrganizationView:
		for i := range s.Members {
			list = append(list, &s.Members[i])
		}
		return append(list, &s.OwnerUser)
	}
	return nil
}

// namePeople fills in the present names of people known by their ids, without the addresses that only they may see. It
// also returns the actors; all are read in one query.
func namePeople[T any](ctx context.Context, c store.Conn, done []T, actor func(T) *uuid.UUID,
	people []*person.User) (map[uuid.UUID]*person.User, error) {
	var ids []uuid.UUID
	for _, d := range done {
		if by := actor(d); by != nil {
			ids = append(ids, *by)
		}
	}
	for _, p := range people {
		ids = append(ids, p.ID)
	}
	users, err := c.Users.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	known := map[uuid.UUID]*person.User{}
	for i, u := range users {
		known[u.ID] = &users[i]
	}
	for _, p := range people {
		if u := known[p.ID]; u != nil {
			*p = WithoutAddresses(*u)
		}
	}
	return known, nil
}

// Audit lists the audit log; for admins. Reading it is audited too.
func (a *Core) Audit(ctx context.Context, who exchange.Actor, p exchange.Page,
	f exchange.AuditFilter) (exchange.ListPage[AuditEntry], error) {
	if err := a.MayRead(ctx, who, exchange.AuditRead, who.ToUser(who.ID), "audit events"); err != nil {
		return exchange.ListPage[AuditEntry]{}, err
	}
	if err := a.saveRefusals(ctx); err != nil {
		return exchange.ListPage[AuditEntry]{}, err
	}
	part, err := a.DB.Read().Audit.List(ctx, p, f)
	if err != nil {
		return exchange.ListPage[AuditEntry]{}, err
	}
	list, err := withActors(ctx, a.DB.Read(), part.Items)
	return exchange.ListPage[AuditEntry]{Items: list, Total: part.Total, Next: part.Next}, err
}

// withActors adds their actors to audit events, in one query for all.
func withActors(ctx context.Context, c store.Conn, acts []exchange.AuditEvent) ([]AuditEntry, error) {
	known, err := namePeople(ctx, c, acts, func(act exchange.AuditEvent) *uuid.UUID { return act.Actor }, nil)
	if err != nil {
		return nil, err
	}
	list := make([]AuditEntry, len(acts))
	for i, act := range acts {
		list[i].AuditEvent = act
		if act.Actor != nil {
			list[i].By = known[*act.Actor]
		}
	}
	return list, nil
}

// MaterialVersion reads the state of a material in one version.
func (a *Core) MaterialVersion(ctx context.Context, who exchange.Actor, id, version int64) (m material.Shown,
	err error) {
	before, err := a.mayReadHistory(ctx, who, id)
	if err == nil && before != 0 && version >= before {
		err = NoMaterial()
	}
	if err != nil {
		return m, err
	}
	state, err := a.DB.Read().Audit.VersionState(ctx, Object("material", id), version)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(state, &m); err != nil {
		return m, err
	}
	_, err = namePeople(ctx, a.DB.Read(), nil, func(exchange.AuditEvent) *uuid.UUID { return nil }, peopleOf(&m))
	return m, err
}

// NamesInVersions is the job that removes people's names from versions saved before versions stored only ids.
var NamesInVersions = job.Kind[struct{}]{Name: "versions.names"}

// versionsAtOnce is how many versions one transaction rewrites.
const versionsAtOnce = 200

// NamesInVersions is the handler of NamesInVersions jobs.
func (a *Core) NamesInVersions(ctx context.Context, r *job.Run, _ struct{}) error {
	after := int64(0)
	if err := r.Resume(&after); err != nil {
		return err
	}
	for more := true; more; {
		err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			last, n, err := tx.Audit.RewriteVersions(ctx, after, versionsAtOnce, withoutNames)
			more, after = n == versionsAtOnce, last
			return exchange.Progress{Done: r.Progress().Done + int64(n), Note: "taking names from the history"}, after,
				err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// withoutNames returns the state of a version with people's ids in place of their names.
func withoutNames(state string) (string, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(state), &fields); err != nil {
		return "", err
	}
	for _, name := range []string{"Contact", "OwnerUser", "Members"} {
		var people []person.User
		single := name != "Members"
		switch raw, there := fields[name]; {
		case !there:
			continue
		case single:
			people = make([]person.User, 1)
			if err := json.Unmarshal(raw, &people[0]); err != nil {
				return "", err
			}
		default:
			if err := json.Unmarshal(raw, &people); err != nil {
				return "", err
			}
		}
		for i, u := range people {
			people[i] = unnamed(u)
		}
		raw, err := json.Marshal(people)
		if err != nil {
			return "", err
		}
		if single {
			raw = raw[1 : len(raw)-1]
		}
		fields[name] = raw
	}
	raw, err := json.Marshal(fields)
	return string(raw), err
}
