package letters

import (
	"context"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Listing is one page of the letters that somebody may see, with what its rows name.
type Listing struct {
	exchange.ListPage[letter.Agreement]
	Institutions map[int64]string // by id: those to filter by, among them the parties of the letters of the page
	Labs         map[int64]string
	Requesters   map[uuid.UUID]person.User
	Forms        map[int64]string // the title of the form of each letter, by the id of the letter
}

// Listing reads one page of the letters that Letters lists. The institutions to filter by are the parties of the newest
// of them.
func (a Letters) Listing(ctx context.Context, who exchange.Actor, by letter.Filter,
	p exchange.Page) (l Listing, err error) {
	c := a.DB.Read()
	viewer, err := a.viewer(ctx, c, who)
	if err != nil {
		return l, err
	}
	if l.ListPage, err = c.Agreements.List(ctx, viewer, by, p); err != nil {
		return l, err
	}
	parties, err := c.Agreements.Parties(ctx, viewer)
	if err != nil {
		return l, err
	}
	return l, a.readNames(ctx, c, &l, parties)
}

// readNames reads the names of institutions, and those that the rows of a listing have.
func (a Letters) readNames(ctx context.Context, c store.Conn, l *Listing, institutions []int64) error {
	library, err := a.Library(ctx, c)
	if err != nil {
		return err
	}
	var labs []int64
	var people []uuid.UUID
	l.Forms = map[int64]string{}
	for _, one := range l.Items {
		labs, people = append(labs, one.Organization), append(people, one.Requester)
		institutions = append(institutions, one.Letter.Provider, one.Letter.Recipient)
		i, err := find(library, one.Letter)
		if err != nil {
			return err
		}
		l.Forms[one.ID] = i.Title
	}
	if l.Institutions, err = c.Institutions.Names(ctx, unique(institutions)); err != nil {
		return err
	}
	if l.Labs, err = labNames(ctx, c, labs); err != nil {
		return err
	}
	l.Requesters, err = usersOf(ctx, c, people)
	return err
}
