package seed

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// seats is the number of people for each lab; the last ones are members of none.
const seats = 6

// lab is an organization with its people and what they own.
type laboratory struct {
	lab.Organization
	people    []person.User
	members   []uuid.UUID
	addresses []person.Address
	shipping  lab.Shipping
	papers    []document.Attachment
}

// The documents of a lab and its people: two of each person, then two of the lab.
const (
	papers      = 2*seats + 2
	executedMTA = 2*seats + 1
	blankMTA    = 2*seats + 2
)

// signedMTA and irb return the ids of the documents of a person.
func signedMTA(person int) int64 { return int64(person/seats*papers + person%seats*2 + 1) }
func irb(person int) int64       { return signedMTA(person) + 1 }

// members returns how many people a lab has.
func members(lab int) int { return 2 + lab*7%(seats-2) }

// personID returns the id of a person.
func personID(number int) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "aliquot seed person %d", number))
}

func (m *maker) person(number int) person.User {
	m.of(aPerson, number)
	u := person.User{ID: personID(number), FirstName: m.word("given"), LastName: m.word("family"),
		RegistryID: orcid(number),
		Email:      fmt.Sprintf("person%d@example.org", number+1)}
	u.Username = u.RegistryID
	return u
}

func (m *maker) lab(number int) laboratory {
	var l laboratory
	for i := range seats {
		u := m.person(number*seats + i)
		l.people = append(l.people, u)
		l.papers = append(l.papers, paper("signed-mta.pdf", "Signed by "+u.Name(), &u.ID, nil),
			paper("irb-approval.pdf", "Ethics approval of "+u.Name(), &u.ID, nil))
		if i < members(number) {
			l.members = append(l.members, u.ID)
		}
	}
	id := int64(number + 1)
	l.papers = append(l.papers, paper("executed-mta.pdf", "", nil, &id),
		paper("mta.pdf", "Uniform agreement, to be signed", nil, &id))
	place, owner := m.place(number), l.people[0]
	l.Organization = lab.Organization{ID: id, Owner: owner.ID, Targets: lab.DefaultTargets,
		Name: one(m.dice, owner.LastName+" Lab", owner.LastName+" Group", "Laboratory of "+owner.Name(), place[0]+" "+
			owner.LastName+" Lab") + ", " +
			one(m.dice, "Institute of ", "Department of ", "Centre for ") + one(m.dice, "Cell Biology", "Neuroscience",
			"Immunology", "Cancer Research",
			"Genetics", "Microbiology", "Developmental Biology", "Physiology", "Genomics", "Structural Biology"),
		Description: say("We study {gene} and {gene} in {disease}, mostly by {technique} of {tissue}.",
			func(list string) string { return m.word(list + "s") })}
	l.shipping = shipping(number)
	for i := range seats {
		l.addresses = append(l.addresses, m.address(number*seats+i))
	}
	return l
}

// place draws where a lab is.
func (m *maker) place(lab int) []string {
	m.of(aLab, lab)
	return m.any("places")
}

func shipping(organization int) lab.Shipping {
	return lab.Shipping{OrganizationID: int64(organization + 1), NeedsAddress: organization%4 != 3,
		NeedsPayment:         organization%3 == 0,
		AcceptsShippingCode:  true,
		AcceptsReimbursement: organization%2 == 0, Restrictions: "We ship on Mondays and Tuesdays."}
}

// address returns the one address of a person.
func (m *maker) address(user int) person.Address {
	u, place := m.person(user), m.place(user/seats)
	return person.Address{ID: int64(user + 1), UserID: u.ID, Name: u.Name(), Institution: "University of " +
		place[0],
		Line1: strconv.Itoa(1+user%200) + " University Road", Locality: place[0], Country: place[1],
		PostalCode: place[2], SavedForUse: true}
}

func paper(name, description string, user *uuid.UUID, organization *int64) document.Attachment {
	return document.Attachment{Filename: name, Description: description, OwnedByUser: user, OwnedByOrg: organization,
		OfLab: organization != nil, Version: 1}
}

// keep adds the lab to a new database that has all labs before it, so that their ids are known.
func (l laboratory) keep(ctx context.Context, c store.Conn) error {
	for _, u := range l.people {
		if err := c.Users.Insert(ctx, u); err != nil {
			return err
		}
	}
	id, err := c.Organizations.Insert(ctx, l.Organization)
	if err != nil {
		return err
	}
	if id != l.ID {
		return fmt.Errorf("organization %d was given the id %d", l.ID, id)
	}
	_, err = c.Shippings.Insert(ctx, l.shipping)
	err = errors.Join(err, c.Organizations.Join(ctx, id, l.members...))
	for _, a := range l.addresses {
		_, failed := c.Addresses.Insert(ctx, a)
		err = errors.Join(err, failed)
	}
	for _, p := range l.papers {
		_, failed := c.Attachments.Insert(ctx, p)
		err = errors.Join(err, failed)
	}
	return err
}
