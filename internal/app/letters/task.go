package letters

import (
	"context"
	"slices"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Task is a letter that waits for the signature of somebody.
type Task struct {
	letter.Agreement
	NotYet error // what has to be settled before they can sign it; nil: nothing of the institutions
}

// Tasks lists the first letters of Inbox. Whether each can be signed today is known as far as it depends on the
// institutions: that the own one is confirmed and, for the last signature, that the letter binds both. What else may be
// against it, such as a fact that was stated since, its page says.
func (a Letters) Tasks(ctx context.Context, who exchange.Actor, limit int) (tasks exchange.ListPage[Task], err error) {
	c := a.DB.Read()
	inbox, seats, err := a.inbox(ctx, c, who, exchange.Page{Limit: limit})
	tasks.Total, tasks.Next = inbox.Total, inbox.Next
	if err != nil || len(inbox.Items) == 0 {
		return tasks, err
	}
	known, err := readBonds(ctx, c, inbox.Items)
	if err != nil {
		return tasks, err
	}
	for _, l := range inbox.Items {
		tasks.Items = append(tasks.Items, Task{l, known.notYet(l, rolesOf(who.ID, seats, l), exchange.DayOf(c.Now))})
	}
	return tasks, nil
}

// rolesOf returns the unsigned roles of a letter in which a user may sign, as a scientist or from one of their seats.
func rolesOf(user uuid.UUID, seats []party.Seat, l letter.Agreement) []string {
	return slices.DeleteFunc(slices.Clone(l.Waits), func(role string) bool {
		switch role {
		case party.ProviderScientist:
			return l.Scientist != user
		case party.RecipientScientist:
			return l.Requester != user
		case party.ProviderOfficial:
			return !slices.Contains(seats, party.Seat{Institution: l.Letter.Provider, Direction: party.Provide})
		}
		return !slices.Contains(seats, party.Seat{Institution: l.Letter.Recipient, Direction: party.Receive})
	})
}

// bonds is what decides about some letters whether they bind their institutions.
type bonds struct {
	institutions map[int64]party.Institution
	requesters   map[uuid.UUID]person.User
	labs         []party.Lab
	affiliations []party.Affiliation
}

// readBonds reads it with the same number of statements for each number of letters.
func readBonds(ctx context.Context, c store.Conn, list []letter.Agreement) (b bonds, err error) {
	var institutions, labs []int64
	var people []uuid.UUID
	for _, l := range list {
		institutions = append(institutions, l.Letter.Provider, l.Letter.Recipient)
		labs, people = append(labs, l.Organization), append(people, l.Requester)
	}
	if b.institutions, err = c.Institutions.ByIDs(ctx, unique(institutions)); err != nil {
		return b, err
	}
	if b.labs, err = c.Institutions.LabsOf(ctx, unique(labs)...); err != nil {
		return b, err
	}
	if b.affiliations, err = c.Institutions.OfPerson(ctx, people...); err != nil {
		return b, err
	}
	b.requesters, err = usersOf(ctx, c, people)
	return b, err
}

// notYet returns why a letter can be signed in none of some roles on a day.
func (b bonds) notYet(l letter.Agreement, roles []string, day exchange.Date) (err error) {
	of := bond{b.institutions[l.Letter.Provider], b.institutions[l.Letter.Recipient], b.requesters[l.Requester],
		b.labs, b.affiliations}
	if len(l.Waits) == 1 {
		return of.check(l, day)
	}
	for _, role := range roles {
		side := of.recipient
		if party.Provides(role) {
			side = of.provider
		}
		if err = mayExecute(side, day); err == nil {
			return nil
		}
	}
	return err
}

// usersOf reads people by their ids.
func usersOf(ctx context.Context, c store.Conn, ids []uuid.UUID) (map[uuid.UUID]person.User, error) {
	users, err := c.Users.ByIDs(ctx, ids)
	people := map[uuid.UUID]person.User{}
	for _, u := range users {
		people[u.ID] = u
	}
	return people, err
}
