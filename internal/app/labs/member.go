package labs

import (
	"context"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
)

// maxCalled is how many people of the same name an error lists.
const maxCalled = 5

// Member returns the one member of labs that a text typed by people names, for forms with too many members to choose
// from: by a registry id, also after the name, or by a name or part of it that no other member has. Otherwise it
// returns an error on "person".
func (a Labs) Member(ctx context.Context, labs []int64, text string) (person.User, error) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return person.User{}, core.FieldError("person", "choose a member of the lab")
	}
	found, err := a.DB.Read().Inbox.PeopleCalled(ctx, labs, text, maxCalled+1)
	if err != nil {
		return person.User{}, err
	}
	var whole, names []string
	at := 0
	for i, u := range found {
		if strings.HasSuffix(text, u.RegistryID) {
			return u, nil
		}
		if exchange.SortKey(u.Name()) == exchange.SortKey(text) {
			whole, at = append(whole, u.RegistryID), i
		}
		names = append(names, u.Name()+", "+u.RegistryID)
	}
	switch {
	case len(found) == 0:
		return person.User{}, core.FieldError("person",
			"no one in the lab matches “%s”: type more of the name, or the ORCID iD", text)
	case len(found) == 1 || len(whole) == 1:
		return found[at], nil
	case len(found) > maxCalled:
		return person.User{}, core.FieldError("person",
			"many people match “%s”: type the full name, or the ORCID iD", text)
	}
	return person.User{}, core.FieldError("person", "several people match “%s”: type the ORCID iD of one of %s", text,
		strings.Join(names, "; "))
}
