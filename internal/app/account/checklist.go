package account

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
)

// Checklist is what someone new and their new lab have done so far; nil if they are not new or have done everything.
type Checklist struct {
	Requester *person.Begun
	Lab       *lab.Begun
}

// Checklist reads the checklists of a visitor. The organization that everyone has from the beginning counts as a lab
// once something was done in it.
func (a Accounts) Checklist(ctx context.Context, who core.Visitor) (list Checklist, err error) {
	if _, err := a.Can(who.Actor, exchange.UserReadPrivate, who.ToUser(who.ID)); err != nil {
		return list, err
	}
	c := a.DB.Read()
	since := c.Now.Add(-person.NewFor)
	if who.User.CreatedAt.After(since) {
		b, err := c.Users.Begun(ctx, who.ID)
		if err != nil {
			return list, err
		}
		if b.Email = who.User.Email != ""; !b.Done() {
			list.Requester = &b
		}
	}
	if len(who.Owns) == 0 {
		return list, nil
	}
	labs, err := c.Organizations.BegunSince(ctx, who.ID, since)
	for _, b := range labs {
		founded := !b.Lab.CreatedAt.Equal(who.User.CreatedAt)
		if !b.Done() && (founded || b.Started()) {
			list.Lab = &b
			break
		}
	}
	return list, err
}
