package store_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// utc is a filled time as it is read back.
func utc(p *time.Time) *time.Time {
	if p == nil {
		return nil
	}
	return new(p.UTC())
}

// every runs do for each round of filled values; id is 0 in the first, where the row is inserted.
func every[T any](l testLab, do func(ctx context, tx store.Conn, round int, id *T) error) {
	l.t.Helper()
	var id T
	for round := range rounds {
		l.write(func(ctx context, tx store.Conn) error { return do(ctx, tx, round, &id) })
	}
}

func TestUsers_AreReadAsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		for round := range rounds {
			var u person.User
			fill(&u, round)
			u.ID, u.Closed = uuid.New(), false // which only closing an account writes
			l.write(func(ctx context, tx store.Conn) error {
				u.CreatedAt, u.UpdatedAt = tx.Now, tx.Now
				return tx.Users.Insert(ctx, u)
			})
			first := u
			for again := range rounds {
				fill(&u, again)
				u.ID, u.Username, u.RegistryID, u.CreatedAt, u.Closed = first.ID, first.Username, first.RegistryID,
					first.CreatedAt, false
				l.write(func(ctx context, tx store.Conn) error {
					u.UpdatedAt = tx.Now
					return tx.Users.Update(ctx, u)
				})
				got, err := l.db.Read().Users.Get(l.ctx, u.ID)
				code(t, "User", err, "")
				same(t, "User", u, got)
			}
			got, err := l.db.Read().Users.ByRegistryID(l.ctx, u.RegistryID)
			code(t, "UserByRegistryID", err, "")
			same(t, "UserByRegistryID", u, got)
			l.write(func(ctx context, tx store.Conn) error {
				got, err := tx.Users.ForUpdate(ctx, u.ID)
				same(t, "UserForUpdate", u, got)
				return err
			})
		}
	})
}

func TestOrganizations_AreReadAsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		var created time.Time
		every(l, func(ctx context, tx store.Conn, round int, id *int64) (err error) {
			var o lab.Organization
			fill(&o, round)
			o.Owner = l.userIn(tx).ID
			if *id == 0 {
				created = tx.Now
				*id, err = tx.Organizations.Insert(ctx, o)
			} else {
				o.ID = *id
				err = tx.Organizations.Update(ctx, o)
			}
			code(t, "save", err, "")
			o.ID, o.CreatedAt, o.UpdatedAt = *id, created, tx.Now
			got, err := tx.Organizations.Get(ctx, *id)
			same(t, "Organization", o, got)
			code(t, "Organization", err, "")
			got, err = tx.Organizations.ForUpdate(ctx, *id)
			same(t, "OrganizationForUpdate", o, got)
			return err
		})
	})
}

// userIn makes a user in a transaction.
func (l testLab) userIn(tx store.Conn) person.User {
	l.tx = &tx
	return l.user()
}

func TestShippings_AreReadAsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		organization := l.organization(l.user().ID)
		var created time.Time
		every(l, func(ctx context, tx store.Conn, round int, id *int64) (err error) {
			var s lab.Shipping
			fill(&s, round)
			s.OrganizationID = organization
			if *id == 0 {
				created = tx.Now
				*id, err = tx.Shippings.Insert(ctx, s)
			} else {
				s.ID = *id
				err = tx.Shippings.Update(ctx, s)
			}
			code(t, "save", err, "")
			s.ID, s.CreatedAt, s.UpdatedAt = *id, created, tx.Now
			got, err := tx.Shippings.Get(ctx, *id)
			same(t, "Shipping", s, got)
			code(t, "Shipping", err, "")
			got, err = tx.Shippings.ForUpdate(ctx, *id)
			same(t, "ShippingForUpdate", s, got)
			return err
		})
	})
}

func TestAddresses_AreReadAsWrittenByTheirUser(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user, stranger := l.user().ID, l.user().ID
		var created time.Time
		var last int64
		every(l, func(ctx context, tx store.Conn, round int, id *int64) (err error) {
			var a person.Address
			fill(&a, round)
			a.UserID = user
			if *id == 0 {
				created = tx.Now
				*id, err = tx.Addresses.Insert(ctx, a)
			} else {
				a.ID = *id
				err = tx.Addresses.Update(ctx, a)
			}
			code(t, "save", err, "")
			a.ID, a.CreatedAt, a.UpdatedAt = *id, created, tx.Now
			got, err := tx.Addresses.Get(ctx, user, *id)
			code(t, "Address", err, "")
			same(t, "Address", a, got)
			last = *id
			_, denied := tx.Addresses.Get(ctx, stranger, *id)
			code(t, "a stranger's read", denied, exchange.NotFound)
			code(t, "a stranger's delete", tx.Addresses.Delete(ctx, stranger, *id), exchange.NotFound)
			stolen := a
			stolen.UserID, stolen.Name = stranger, "stolen"
			code(t, "a stranger's update", tx.Addresses.Update(ctx, stolen), "")
			got, err = tx.Addresses.Get(ctx, user, *id)
			same(t, "Address after a stranger's update", a, got)
			return err
		})
		l.write(func(ctx context, tx store.Conn) error { return tx.Addresses.Delete(ctx, user, last) })
		_, err := l.db.Read().Addresses.Get(l.ctx, user, last)
		code(t, "a deleted address", err, exchange.NotFound)
	})
}

func TestMaterials_AreReadAsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		contact := l.user()
		organization := l.organization(contact.ID)
		var shipping int64
		l.write(func(ctx context, tx store.Conn) (err error) {
			shipping, err = tx.Shippings.Insert(ctx, lab.Shipping{OrganizationID: organization})
			return err
		})
		var created time.Time
		every(l, func(ctx context, tx store.Conn, round int, id *int64) (err error) {
			var m material.Material
			fill(&m, round)
			m.OrganizationID, m.ContactID = organization, contact.ID
			if m.ShippingID != nil {
				m.ShippingID = &shipping
			}
			if *id == 0 {
				created = tx.Now
				*id, err = tx.Materials.Insert(ctx, m)
			} else {
				m.ID = *id
				err = tx.Materials.Update(ctx, m)
			}
			code(t, "save", err, "")
			if m.Metadata == nil {
				m.Metadata = []byte{}
			}
			m.ID, m.CreatedAt, m.UpdatedAt = *id, created, tx.Now
			got, err := tx.Materials.Get(ctx, *id)
			same(t, "Material", m, got)
			code(t, "Material", err, "")
			shown, err := tx.Materials.Shown(ctx, *id)
			same(t, "ShownMaterial", material.Shown{Material: m, Contact: contact, Grants: []int64{}},
				shown.Revealed())
			code(t, "ShownMaterial", err, "")
			if m.ImportIdentifier != nil {
				shown, err = tx.Materials.ByImport(ctx, m.ImportSource, *m.ImportIdentifier)
				same(t, "MaterialByImport", m, shown.Revealed().Material)
				code(t, "MaterialByImport", err, "")
			}
			got, err = tx.Materials.ForShare(ctx, *id)
			same(t, "MaterialForShare", m, got)
			code(t, "MaterialForShare", err, "")
			got, err = tx.Materials.ForUpdate(ctx, *id)
			same(t, "MaterialForUpdate", m, got)
			return err
		})
	})
}

func TestMaterials_ShowTheirGrantsInOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user), user, nil)
		want := []int64{5, 7, 1 << 42}
		for _, id := range []int64{7, 1 << 42, 5} {
			l.exec("INSERT INTO grants (id, user_id, title, funder_id, created_at, updated_at, title_sort, "+
				"funder_id_sort) VALUES ($1, $2, $3, $4, $5, $5, '', '')", id, user, odd, "R01", times[0])
			l.exec("INSERT INTO grant_materials (grant_id, material_id, created_at) VALUES ($1, $2, $3)", id, material,
				times[0])
		}
		shown, err := l.db.Read().Materials.Shown(l.ctx, material)
		code(t, "ShownMaterial", err, "")
		same(t, "Grants", want, shown.Grants)
		part, err := l.db.Read().Grants.List(l.ctx, user, exchange.Page{Limit: 1})
		code(t, "Grants", err, "")
		same(t, "Grants", exchange.ListPage[person.Grant]{Items: []person.Grant{{ID: 1 << 42, UserID: user,
			Title: odd, FunderID: "R01",
			CreatedAt: times[0].UTC(), UpdatedAt: times[0].UTC()}}, Total: exchange.Count{N: 3}, Next: &exchange.Position{ID: 1 << 42}},
			part)
	})
}

func TestAttachments_AreReadAsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		organization := l.organization(user)
		material := l.material(organization, user, nil)
		var created time.Time
		every(l, func(ctx context, tx store.Conn, round int, id *int64) (err error) {
			var a document.Attachment
			fill(&a, round)
			a.DeletedAt = nil
			if a.OwnedByOrg != nil {
				a.OwnedByOrg = &organization
			}
			if a.OwnedByUser != nil {
				a.OwnedByUser = &user
			}
			if a.SequenceMapFor != nil {
				a.SequenceMapFor = &material
			}
			if *id == 0 {
				created = tx.Now
				*id, err = tx.Attachments.Insert(ctx, a)
			} else {
				a.ID = *id
				err = tx.Attachments.Update(ctx, a)
			}
			code(t, "save", err, "")
			a.ID, a.CreatedAt, a.UpdatedAt = *id, created, tx.Now
			got, err := tx.Attachments.Get(ctx, *id)
			same(t, "Attachment", a, got)
			code(t, "Attachment", err, "")
			got, err = tx.Attachments.ForUpdate(ctx, *id)
			same(t, "AttachmentForUpdate", a, got)
			code(t, "AttachmentForUpdate", err, "")
			known, err := tx.Attachments.ContentKnown(ctx, "no such key")
			if known || err != nil {
				t.Errorf("ContentKnown of no key = %v, %v", known, err)
			}
			if a.Content != nil {
				if known, err = tx.Attachments.ContentKnown(ctx, a.Content.Key); !known {
					t.Errorf("ContentKnown of its key = false")
				}
			}
			return err
		})
	})
}

func TestAttachments_DeletedLeaveTheirContentToCleaning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		deletion := times[0].UTC()
		gone := document.Attachment{Filename: odd, OwnedByUser: &user, DeletedAt: &deletion,
			Content: &document.Content{Key: "k", Size: 1 << 40}}
		id := l.attachment(user, func(a *document.Attachment) { *a = gone })
		kept := l.attachment(user, func(a *document.Attachment) { a.Content = &document.Content{Key: "kept"} })
		l.attachment(user, func(a *document.Attachment) { a.DeletedAt = &deletion }) // without content
		c := l.db.Read()
		_, err := c.Attachments.Get(l.ctx, id)
		code(t, "Attachment", err, exchange.NotFound)
		_, err = c.Attachments.ForUpdate(l.ctx, id)
		code(t, "AttachmentForUpdate", err, exchange.NotFound)
		part, err := c.Attachments.List(l.ctx, exchange.Page{Limit: 5})
		if err != nil || part.Total.N != 1 || part.Items[0].ID != kept {
			t.Errorf("Attachments = %+v, %v", part, err)
		}
		own, err := c.Attachments.OfUser(l.ctx, user)
		if err != nil || len(own) != 1 || own[0].ID != kept {
			t.Errorf("AttachmentsOf = %+v, %v", own, err)
		}
		for before, want := range map[time.Time]int{deletion: 0, deletion.Add(time.Microsecond): 1} {
			list, err := c.Attachments.DeletedContent(l.ctx, before, 5)
			if err != nil || len(list) != want {
				t.Fatalf("DeletedContent before %v = %+v, %v", before, list, err)
			}
			if want == 1 {
				gone.ID, gone.CreatedAt, gone.UpdatedAt = id, list[0].CreatedAt, list[0].UpdatedAt
				same(t, "DeletedContent", gone, list[0])
			}
		}
		for after, want := range map[int64]int{0: 2, id: 1, kept: 0} {
			if list, err := c.Attachments.StoredContent(l.ctx, after, 5); err != nil || len(list) != want {
				t.Errorf("StoredContent after %d = %+v, %v", after, list, err)
			}
		}
	})
}
