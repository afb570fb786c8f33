package institutions

import (
	"context"
	"slices"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Office is an institution as its page shows it, with what the visitor may do.
type Office struct {
	party.Institution
	Masters  []MasterView
	Labs     []LabView
	Own      []party.Affiliation // the visitor's own
	Claims   []Claim             // of affiliation, for officers
	Register party.Register      // for officers
	ToSign   int64               // letters that wait for their official, for officers
	actions  []exchange.Action
}

// May reports whether the visitor may do an action.
func (o Office) May(action exchange.Action) bool { return slices.Contains(o.actions, action) }

// MasterView is the entry of a master agreement, and whether it is to be checked again.
type MasterView struct {
	party.Master
	NeedsCheck   bool
	Counterparty string
}

// LabView is a lab of an institution.
type LabView struct {
	party.Lab
	Name  string
	Owner bool // the visitor owns the lab
}

// Claim is an affiliation with the name of its person.
type Claim struct {
	party.Affiliation
	Name, Registry string
}

// Office reads an institution with what the visitor may see of it.
func (a Institutions) Office(ctx context.Context, who exchange.Actor, id int64) (o Office, err error) {
	c := a.DB.Read()
	if o.Institution, err = c.Institutions.Get(ctx, id); err != nil {
		return o, err
	}
	k, err := callerOf(ctx, c, who, o.Institution)
	if err != nil {
		return o, err
	}
	for action, rel := range map[exchange.Action]exchange.Relation{exchange.InstitutionUpdate: k.relations,
		exchange.InstitutionConfirm: k.officer(), exchange.AuthorityRead: k.officer(),
		exchange.AuthorityWrite: k.officer(), exchange.MasterWrite: k.officer()} {
		if ok, _ := a.Policy().Can(action, rel); ok {
			o.actions = append(o.actions, action)
		}
	}
	if o.Masters, err = mastersOf(ctx, c, o.Institution); err != nil {
		return o, err
	}
	if o.Labs, err = labsOf(ctx, c, who, id); err != nil || who.Anonymous() {
		return o, err
	}
	own, err := c.Institutions.Affiliations.List(ctx, id, who.ID, core.Everything)
	if o.Own = own.Items; err != nil || !o.May(exchange.AuthorityRead) {
		return o, err
	}
	if o.Register, err = c.Institutions.Register(ctx, id); err != nil {
		return o, err
	}
	if o.Claims, err = claimsOf(ctx, c, id); err != nil {
		return o, err
	}
	counts, err := c.Agreements.DeskCounts(ctx, id)
	o.ToSign = counts[letter.OnUs]
	return o, err
}

func mastersOf(ctx context.Context, c store.Conn, i party.Institution) (views []MasterView, err error) {
	list, err := c.Institutions.Masters.Of(ctx, i.ID)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, m := range list {
		if m.Counterparty != nil {
			ids = append(ids, *m.Counterparty)
		}
	}
	names, err := c.Institutions.Names(ctx, ids)
	for _, m := range list {
		v := MasterView{Master: m, NeedsCheck: i.NeedsCheck(m, c.Now)}
		if m.Counterparty != nil {
			v.Counterparty = names[*m.Counterparty]
		}
		views = append(views, v)
	}
	return views, err
}

func labsOf(ctx context.Context, c store.Conn, who exchange.Actor, id int64) (views []LabView, err error) {
	list, err := c.Institutions.Labs.Of(ctx, id)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, l := range list {
		ids = append(ids, l.Organization)
	}
	named, err := c.Organizations.ByIDs(ctx, ids)
	names := map[int64]string{}
	for _, o := range named {
		names[o.ID] = o.Name
	}
	for _, l := range list {
		views = append(views, LabView{l, names[l.Organization], slices.Contains(who.Owns, l.Organization)})
	}
	return views, err
}

func claimsOf(ctx context.Context, c store.Conn, id int64) (claims []Claim, err error) {
	list, err := c.Institutions.Affiliations.Of(ctx, id)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for _, one := range list {
		ids = append(ids, one.Person)
	}
	users, err := peopleByID(ctx, c, ids)
	for _, one := range list {
		u := users[one.Person]
		claims = append(claims, Claim{one, u.Name(), u.RegistryID})
	}
	return claims, err
}

func peopleByID(ctx context.Context, c store.Conn, ids []uuid.UUID) (map[uuid.UUID]person.User, error) {
	list, err := c.Users.ByIDs(ctx, ids)
	users := map[uuid.UUID]person.User{}
	for _, u := range list {
		users[u.ID] = u
	}
	return users, err
}

// Person returns the user whom the identity provider knows by an id, such as an ORCID iD; "" is nobody.
func (a Institutions) Person(ctx context.Context, registryID string) (uuid.UUID, error) {
	if registryID == "" {
		return uuid.Nil, nil
	}
	u, err := a.DB.Read().Users.ByRegistryID(ctx, registryID)
	if exchange.CodeOf(err) == exchange.NotFound {
		err = exchange.Errorf(exchange.InvalidInput, "must be the id of somebody with an account here; leave it empty "+
			"for a person without one")
	}
	return u.ID, err
}

// Signers returns who may sign an act for an institution on a day, by name.
func (a Institutions) Signers(ctx context.Context, o Office, act party.Act, day exchange.Date) ([]Signer, error) {
	list := o.Register.MaySign(act, day)
	var ids []uuid.UUID
	for _, s := range list {
		ids = append(ids, s.Person.User)
		if s.For != nil {
			ids = append(ids, s.For.User)
		}
	}
	users, err := peopleByID(ctx, a.DB.Read(), ids)
	var signers []Signer
	for _, s := range list {
		one := Signer{Signer: s, Name: nameOf(users, s.Person)}
		if s.For != nil {
			one.Represents = nameOf(users, *s.For)
		}
		signers = append(signers, one)
	}
	return signers, err
}

// Signer is who may sign, with the names of the person and of whom they represent.
type Signer struct {
	party.Signer
	Name, Represents string
}

// Holders returns the names of all who hold an authority or stand in, by their ids.
func (a Institutions) Holders(ctx context.Context, o Office) (map[uuid.UUID]person.User, error) {
	var ids []uuid.UUID
	for _, x := range o.Register.Authorities {
		ids = append(ids, x.Holder.User)
	}
	for _, x := range o.Register.StandIns {
		ids = append(ids, x.Person.User)
	}
	return peopleByID(ctx, a.DB.Read(), ids)
}

// nameOf returns the name of a user, or that of somebody without an account.
func nameOf(users map[uuid.UUID]person.User, p party.Person) string {
	if u, known := users[p.User]; known {
		return u.Name()
	}
	return p.Name
}
