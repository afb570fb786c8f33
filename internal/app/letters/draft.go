package letters

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Draft makes a letter for requests of one requester to one lab. Its institutions are that of the lab today, and that
// of the requester.
func (a Letters) Draft(ctx context.Context, who exchange.Actor, n letter.DraftNew) (v View, err error) {
	if err := n.Validate(true).Err(); err != nil {
		return v, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		l, err := a.draft(ctx, tx, who, n)
		if err != nil {
			return err
		}
		if v, err = a.view(ctx, tx, l); err != nil {
			return err
		}
		rel, err := relations(ctx, tx, who, l)
		if err != nil {
			return err
		}
		return v.readPrecedent(ctx, tx, who, rel)
	})
	return v, err
}

// draft is Draft inside a transaction.
func (a Letters) draft(ctx context.Context, tx store.Conn, who exchange.Actor,
	n letter.DraftNew) (l letter.Agreement, err error) {
	requests, err := lockRequests(ctx, tx, n.IDs())
	if err != nil {
		return l, err
	}
	l = letter.Agreement{State: letter.Draft, MadeBy: who.ID, CreatedAt: tx.Now, UpdatedAt: tx.Now,
		Purpose: n.Purpose.Or(instrument.UsualPurpose), Choice: n.Choice.Value, Typed: n.Fields.Value,
		Requester: requests[0].Requester, Organization: requests[0].Organization}
	lab, err := core.ProviderOf(ctx, tx, l.Organization)
	if err != nil {
		return l, err
	}
	own, err := institutionsOf(ctx, tx, l.Requester)
	if err != nil {
		return l, err
	}
	offices, err := officesOf(ctx, tx, who)
	if err != nil {
		return l, err
	}
	rel := relationsOf(who, offices, l)
	if slices.Contains(offices, lab) || slices.ContainsFunc(own, func(i int64) bool {
		return slices.Contains(offices, i)
	}) {
		rel |= exchange.OfficerOf
	}
	if err := a.May(ctx, tx, who, exchange.AgreementCreate, rel, "agreement"); err != nil {
		return l, err
	}
	if l.Letter.Provider = lab; lab == 0 {
		return l, core.NoProvider(l.Organization)
	}
	if l.Letter.Recipient, err = recipientOf(own, n.Recipient); err != nil {
		return l, err
	}
	if l.Letter.Recipient == lab {
		return l, exchange.Errorf(exchange.Conflict, "Lab and requester are of the same institution, which needs no "+
			"agreement with itself.")
	}
	if err := free(ctx, tx, requests, 0); err != nil {
		return l, err
	}
	m, err := a.drafting(ctx, tx, l, requests)
	if err != nil {
		return l, err
	}
	i, basis, err := m.resolve(l.Purpose, l.Choice, exchange.DayOf(tx.Now))
	if err != nil {
		return l, err
	}
	l.Basis, l.Scientist = basis, m.scientist.ID
	l.Basis.ChoiceReason = n.ChoiceReason("")
	fields, err := m.fields(i, l.Typed, exchange.DayOf(tx.Now))
	if err != nil {
		return l, err
	}
	l.Letter.Instrument = i.ID
	if l.ID, err = tx.Agreements.Insert(ctx, l); err != nil {
		return l, err
	}
	l.Letter = letter.New(letter.Number(l.ID), exchange.DayOf(tx.Now), i, l.Letter.Provider, l.Letter.Recipient,
		lettered(requests), fields)
	if err := tx.Agreements.Join(ctx, l.ID, l.Letter.RequestIDs()); err != nil {
		return l, err
	}
	if l.SHA256, err = tx.Agreements.AddVersion(ctx, l.ID, l.Letter, who.ID); err != nil {
		return l, err
	}
	return l, a.RecordAction(ctx, tx, who, exchange.AgreementCreate, rel, object(l.ID), nil)
}

// Change makes a new version of a letter, which is a draft again; signatures on earlier versions no longer count.
// Without a change there is none. The caller names the version that they saw.
func (a Letters) Change(ctx context.Context, who exchange.Actor, id int64, n letter.VersionNew) (v View, err error) {
	if err := n.Validate(true).Err(); err != nil {
		return v, err
	}
	return a.act(ctx, who, id, func(ctx context.Context, tx store.Conn, l *letter.Agreement) error {
		state, err := l.State.After(letter.Changing)
		if err != nil {
			return err
		}
		if n.Version.Value != int64(l.Letter.Version) {
			return exchange.Errorf(exchange.StaleVersion, "%s has version %d by now; read it again.", l.Letter.Number,
				l.Letter.Version)
		}
		before := *l
		l.Purpose, l.Choice = n.Purpose.Or(l.Purpose), n.Choice.Or(l.Choice)
		l.Typed = maps.Clone(l.Typed)
		if n.Fields.Set {
			l.Typed = n.Fields.Value
		}
		ids := l.Letter.RequestIDs()
		if n.Requests.Set {
			ids = n.IDs()
		}
		if err := a.rewrite(ctx, tx, l, ids, who.ID); err != nil {
			return err
		}
		l.Basis.ChoiceReason = n.ChoiceReason(before.Basis.ChoiceReason)
		if l.SHA256 != before.SHA256 || before.State == letter.Declined {
			l.State, l.Reason, l.SentAt = state, "", nil
		}
		return nil
	})
}

// rewrite makes the letter again from the records as they are now, for some requests: a new version if that differs.
func (a Letters) rewrite(ctx context.Context, tx store.Conn, l *letter.Agreement, ids []int64, by uuid.UUID) error {
	requests, err := requestsOf(ctx, tx, *l, ids)
	if err != nil {
		return err
	}
	if err := free(ctx, tx, requests, l.ID); err != nil {
		return err
	}
	m, err := a.drafting(ctx, tx, *l, requests)
	if err != nil {
		return err
	}
	i, basis, err := m.resolve(l.Purpose, l.Choice, exchange.DayOf(tx.Now))
	if err != nil {
		return err
	}
	fields, err := m.fields(i, l.Typed, exchange.DayOf(tx.Now))
	if err != nil {
		return err
	}
	changed, err := l.Letter.Change(i, lettered(requests), fields)
	if err != nil || changed.Version == l.Letter.Version {
		return err
	}
	if err := tx.Agreements.Leave(ctx, l.Letter.RequestIDs()...); err != nil {
		return err
	}
	if err := tx.Agreements.Join(ctx, l.ID, changed.RequestIDs()); err != nil {
		return err
	}
	l.Letter, l.Basis, l.Scientist = changed, basis, m.scientist.ID
	l.SHA256, err = tx.Agreements.AddVersion(ctx, l.ID, changed, by)
	return err
}

// requestsOf is lockRequests for a letter that there is.
func requestsOf(ctx context.Context, tx store.Conn, l letter.Agreement, ids []int64) ([]request.Detail, error) {
	requests, err := lockRequests(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	if q := requests[0]; q.Requester != l.Requester || q.Organization != l.Organization {
		return nil, exchange.Errorf(exchange.Conflict, "%s is for requests of one requester to one lab; make another "+
			"letter for the others.", l.Letter.Number)
	}
	return requests, nil
}

// lockRequests reads requests of one requester to one lab that a letter can be for, the oldest first, and locks them.
func lockRequests(ctx context.Context, tx store.Conn, ids []int64) ([]request.Detail, error) {
	if err := tx.Requests.Lock(ctx, ids); err != nil {
		return nil, err
	}
	list, err := tx.Requests.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(list, func(q request.Detail) bool { return q.ID == id }) {
			return nil, core.FieldError("requests", "there is no request with the id %d", id)
		}
	}
	for _, q := range list {
		if q.Requester != list[0].Requester || q.Organization != list[0].Organization {
			return nil, exchange.Errorf(exchange.Conflict, "A letter is for requests of one requester to one lab; the "+
				"request %d is of others than %d. Make a letter for each.", q.ID, list[0].ID)
		}
		if !q.TakesAgreement(q.Terms) {
			return nil, exchange.Errorf(exchange.Conflict, "The request %d is closed, was shipped, or has an executed "+
				"agreement; leave it out.", q.ID)
		}
	}
	return list, nil
}

// free checks that no request is in another letter. One whose letter was executed may get a new one.
func free(ctx context.Context, tx store.Conn, requests []request.Detail, own int64) error {
	ids := make([]int64, len(requests))
	for i, q := range requests {
		ids[i] = q.ID
	}
	holding, err := tx.Agreements.Holding(ctx, ids)
	if err != nil {
		return err
	}
	for _, in := range holding {
		switch {
		case in.Agreement == own:
		case in.State == letter.Executed:
			if err := tx.Agreements.Leave(ctx, in.Request); err != nil {
				return err
			}
		default:
			return exchange.Errorf(exchange.Conflict, "The request %d is in the letter %s. Withdraw that one, or "+
				"change it.", in.Request, letter.Number(in.Agreement)).With("agreement", in.Agreement)
		}
	}
	return nil
}

// lettered returns the requests as a letter has them.
func lettered(requests []request.Detail) (list []letter.Request) {
	for _, q := range requests {
		list = append(list, letter.Request{ID: q.ID, Material: q.Material, Quantity: q.Quantity})
	}
	return list
}

// institutionsOf returns the institutions that a person is at today, also by their own word alone.
func institutionsOf(ctx context.Context, c store.Conn, person uuid.UUID) ([]int64, error) {
	rows, err := c.Institutions.OfPerson(ctx, person)
	return party.InstitutionsOf(rows, person, exchange.DayOf(c.Now)), err
}

// recipientOf returns the institution that receives: the requester's, or the one of several that the call names.
func recipientOf(own []int64, named exchange.Null[exchange.Ref]) (int64, error) {
	switch {
	case len(own) == 0:
		return 0, exchange.Errorf(exchange.Conflict, "The requester is at no institution. They state it with POST "+
			"/institutions/:id/affiliations, or on the page of the institution.")
	case named.Value != nil && slices.Contains(own, int64(*named.Value)):
		return int64(*named.Value), nil
	case named.Value != nil:
		return 0, core.FieldError("recipient", "must be an institution of the requester: %s", joined(own))
	case len(own) > 1:
		return 0, core.FieldError("recipient", "is required, since the requester is at several institutions: %s",
			joined(own))
	}
	return own[0], nil
}

func joined(ids []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
}

// fields returns the fields of a letter on a day: what people filled in, otherwise what the records say.
func (m drafting) fields(i instrument.Instrument, typed map[string]string,
	today exchange.Date) (map[string]string, error) {
	fields := map[string]string{"provider_name": m.provider.LegalName, "recipient_name": m.recipient.LegalName,
		"provider_address": m.provider.Address, "recipient_address": m.recipient.Address,
		"recipient_scientist": m.requester.Name(), "provider_scientist": m.scientist.Name(),
		letter.EndsOnField: letter.NoEndDay}
	for name, value := range typed {
		known := slices.IndexFunc(i.Fields, func(f instrument.Field) bool {
			return f.Name == name && f.Source != fromRequests
		})
		if known < 0 {
			return nil, core.FieldError("fields", "%q is no field of %s that people fill in", name, i.ID)
		}
		value = exchange.Tidy(value)
		if name == letter.EndsOnField && value != "" {
			if day, err := exchange.ParseDate(value); err != nil || day <= today {
				return nil, core.FieldError("fields", "%q must be a day after today as YYYY-MM-DD, or empty if no day "+
					"is agreed on", name)
			}
		}
		fields[name] = cmp.Or(value, fields[name])
	}
	return fields, nil
}

// fromRequests is the source of the list of materials.
const fromRequests = "REQUESTS"
