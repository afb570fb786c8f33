package store_test

import (
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

func TestActors_AreThoseWithAValidToken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user, admin, other := l.user().ID, l.user(), l.user().ID
		l.write(func(ctx context, tx store.Conn) error {
			admin.Admin = true
			return tx.Users.Update(ctx, admin)
		})
		owned := l.organization(user, other) // an owner need not be a member here
		member := l.organization(other, user, other)
		former := l.organization(other, user, other)
		l.setMembers(former, other)
		l.organization(other, other)
		back := l.organization(other, user)
		l.setMembers(back, other)
		l.setMembers(back, other, user)
		zone := time.FixedZone("", 9*3600)
		l.write(func(ctx context, tx store.Conn) error {
			for hash, token := range map[string]struct {
				user    uuid.UUID
				expires time.Time
			}{
				"living":  {user, start.Add(10 * time.Hour).In(zone)},
				"admin's": {admin.ID, times[1]},
				"expired": {user, start.Add(-time.Hour).In(zone)}, // later as a text than the others
			} {
				if _, err := tx.Tokens.Insert(ctx,
					person.Token{UserID: token.user, Kind: person.APIToken, Name: "n", ExpiresAt: token.expires},
					hash); err != nil {
					return err
				}
			}
			return nil
		})
		actor, err := l.db.Read().Actors.ByToken(l.ctx, "living")
		code(t, "Actor", err, "")
		same(t, "Actor", exchange.Actor{ID: user, Organizations: []int64{member, back}, Owns: []int64{owned},
			TokenID: actor.TokenID, Used: actor.Used}, actor)
		got, err := l.db.Read().Actors.ByToken(l.ctx, "admin's")
		code(t, "Actor", err, "")
		same(t, "an admin without organizations",
			exchange.Actor{ID: admin.ID, Admin: true, TokenID: got.TokenID, Used: got.Used}, got)
		for _, hash := range []string{"expired", "unknown", ""} {
			_, err = l.db.Read().Actors.ByToken(l.ctx, hash)
			code(t, "Actor with the token "+hash, err, exchange.NotFound)
		}

		tokens, err := l.db.Read().Tokens.List(l.ctx, user, exchange.Page{Limit: 5})
		if err != nil || tokens.Total.N != 1 || tokens.Items[0].ID != actor.TokenID || tokens.Items[0].UserID != user ||
			tokens.Items[0].Kind != person.APIToken || tokens.Items[0].Name != "n" {
			t.Fatalf("Tokens = %+v, %v, want the living one", tokens, err)
		}
		same(t, "expires", start.Add(10*time.Hour), tokens.Items[0].ExpiresAt)
		l.write(func(ctx context, tx store.Conn) error { return tx.Tokens.DeleteExpired(ctx) })
		if n, err := store.Values[int64](l.ctx, l.db.Read(), "SELECT COUNT(*) FROM tokens"); err != nil || n[0] != 2 {
			t.Errorf("after DeleteExpiredTokens there are %v, %v, want 2", n, err)
		}
		l.write(func(ctx context, tx store.Conn) error {
			code(t, "DeleteToken of another's", tx.Tokens.Delete(ctx, other, actor.TokenID), exchange.NotFound)
			code(t, "DeleteToken", tx.Tokens.Delete(ctx, user, actor.TokenID), "")
			code(t, "DeleteToken again", tx.Tokens.Delete(ctx, user, actor.TokenID), exchange.NotFound)
			return nil
		})
		_, err = l.db.Read().Actors.ByToken(l.ctx, "living")
		code(t, "Actor with a revoked token", err, exchange.NotFound)
	})
}

func TestTokens_EndAtTheMomentTheyExpire(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		expires := start.Add(time.Hour)
		l.write(func(ctx context, tx store.Conn) error {
			_, err := tx.Tokens.Insert(ctx, person.Token{UserID: user, ExpiresAt: expires}, "h")
			return err
		})
		for now, want := range map[time.Time]exchange.Code{
			expires.Add(-time.Microsecond): "", expires: exchange.NotFound,
			expires.Add(time.Microsecond): exchange.NotFound} {
			c := l.db.Read().At(now)
			_, err := c.Actors.ByToken(l.ctx, "h")
			code(t, "Actor at "+now.String(), err, want)
			part, err := c.Tokens.List(l.ctx, user, exchange.Page{Limit: 1})
			if listed := part.Total.N == 1; listed != (want == "") || err != nil {
				t.Errorf("Tokens at %v: %+v, %v", now, part, err)
			}
		}
	})
}

func TestMembers_ReturnToTheirSwitches(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		a, b, d := l.user(), l.user(), l.user()
		organization, other := l.organization(a.ID), l.organization(a.ID, d.ID)
		is := func(step string, want ...person.User) {
			t.Helper()
			members, err := l.db.Read().Organizations.Members(l.ctx, organization)
			code(t, step, err, "")
			var got []uuid.UUID
			for _, m := range members {
				if m.OrganizationID != organization {
					t.Errorf("%s: a member of %d", step, m.OrganizationID)
				}
				got = append(got, m.User.ID)
			}
			for _, u := range []person.User{a, b, d} {
				in := slices.Contains(want, u)
				if slices.Contains(got, u.ID) != in {
					t.Errorf("%s: members %v, want %v", step, got, want)
				}
				if is, err := l.db.Read().Organizations.IsMember(l.ctx, organization, u.ID); is != in || err != nil {
					t.Errorf("%s: IsMember = %v, %v, want %v", step, is, err, in)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s: %d members, want %d", step, len(got), len(want))
			}
		}
		settings := func(u person.User) lab.Membership {
			t.Helper()
			part, err := l.db.Read().Memberships.List(l.ctx, u.ID, exchange.Page{Limit: 9})
			code(t, "Memberships", err, "")
			for _, m := range part.Items {
				if m.OrganizationID == organization {
					return m
				}
			}
			return lab.Membership{}
		}
		is("at first")
		if left := l.setMembers(organization, b.ID); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
		is("b joined", b)
		joined := settings(b)
		same(t, "the switches of a new member", lab.AllOn, joined.Switches)
		if joined.LeftAt != nil || joined.UserID != b.ID || !joined.CreatedAt.Equal(joined.UpdatedAt) {
			t.Errorf("a new membership: %+v", joined)
		}
		for i := range 5 {
			s := lab.Switches{NewRequest: i == 0, StatusChange: i == 1, Decision: i == 2, Assigned: i == 3,
				Reminder: i == 4}
			l.write(func(ctx context, tx store.Conn) error { return tx.Memberships.UpdateSwitches(ctx, joined.ID, s) })
			same(t, "Switches", s, settings(b).Switches)
		}
		before := settings(b)
		if left := l.setMembers(organization, b.ID, a.ID, a.ID); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
		is("a joined", b, a)
		same(t, "the membership of one who stayed", before, settings(b))
		same(t, "who left", []uuid.UUID{b.ID}, l.setMembers(organization, a.ID))
		is("b left", a)
		same(t, "the settings of one who left", lab.Membership{}, settings(b))
		hidden, err := l.db.Read().Memberships.Get(l.ctx, joined.ID)
		if err != nil || hidden.LeftAt == nil || hidden.Switches != before.Switches {
			t.Errorf("the record of one who left: %+v, %v", hidden, err)
		}
		l.setMembers(organization, b.ID, a.ID)
		is("b came back", b, a)
		came := settings(b)
		if came.ID != joined.ID || came.Switches != before.Switches || !came.CreatedAt.Equal(joined.CreatedAt) ||
			!came.UpdatedAt.After(before.UpdatedAt) {
			t.Errorf("came back to %+v, left %+v", came, before)
		}
		if left := l.setMembers(organization); len(left) != 2 {
			t.Errorf("all left: %v", left)
		}
		is("nobody")
		if is, err := l.db.Read().Organizations.IsMember(l.ctx, other, d.ID); !is || err != nil {
			t.Errorf("a member of another organization left: %v", err)
		}
	})
}

func TestUsers_ListsMayBeLong(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		organization := l.organization(l.user().ID)
		users := make([]uuid.UUID, 10_000) // maxMembers
		for i := range users {
			users[i] = uuid.New()
		}
		var known []uuid.UUID
		l.write(func(ctx context, tx store.Conn) error {
			in := l
			in.tx = &tx
			for i := 0; i < len(users); i += 20 {
				users[i] = in.user().ID
				known = append(known, users[i])
			}
			return nil
		})
		l.setMembers(organization, users...) // those who do not exist are passed over
		members, err := l.db.Read().Organizations.Members(l.ctx, organization)
		if err != nil || len(members) != len(known) {
			t.Errorf("%d members, %v, want %d", len(members), err, len(known))
		}
		slices.SortFunc(known, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		found, err := l.db.Read().Users.ByIDs(l.ctx, users)
		code(t, "Users", err, "")
		var got []uuid.UUID
		for _, u := range found {
			got = append(got, u.ID)
		}
		same(t, "Users", known, got)
		if left := l.setMembers(organization, known[0]); len(left) != len(known)-1 {
			t.Errorf("%d left, want all but one of %d", len(left), len(known))
		}
	})
}

func TestMembers_OfSeveralOrganizationsAreInOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		a, b := l.user(), l.user()
		first, second, third := l.organization(a.ID, a.ID), l.organization(a.ID, b.ID), l.organization(a.ID, a.ID)
		l.setMembers(first, a.ID, b.ID)
		got, err := l.db.Read().Organizations.Members(l.ctx, third, first)
		code(t, "Members", err, "")
		same(t, "Members", []store.Member{{OrganizationID: first, User: a}, {OrganizationID: first, User: b},
			{OrganizationID: third, User: a}}, got)
		if got, err := l.db.Read().Organizations.Members(l.ctx); len(got) != 0 || err != nil {
			t.Errorf("Members of none = %v, %v", got, err)
		}
		of, err := l.db.Read().Organizations.OfUser(l.ctx, b.ID)
		if err != nil || len(of) != 2 || of[0].ID != first || of[1].ID != second {
			t.Errorf("OrganizationsOf = %+v, %v", of, err)
		}
		l.setMembers(second)
		if of, err = l.db.Read().Organizations.OfUser(l.ctx, b.ID); err != nil || len(of) != 1 {
			t.Errorf("OrganizationsOf a former member = %+v, %v", of, err)
		}
	})
}

func TestUsers_ReadsThoseThatExist(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		all := []person.User{l.user(), l.user(), l.user()}
		l.write(func(ctx context, tx store.Conn) error {
			all[1].Admin, all[1].UpdatedAt = true, tx.Now
			return tx.Users.Update(ctx, all[1])
		})
		admins, err := l.db.Read().Users.Admins(l.ctx)
		code(t, "Admins", err, "")
		same(t, "Admins", []person.User{all[1]}, admins)
		want := slices.Clone(all)
		slices.SortFunc(want, func(a, b person.User) int { return slices.Compare(a.ID[:], b.ID[:]) })
		got, err := l.db.Read().Users.ByIDs(l.ctx, []uuid.UUID{all[0].ID, uuid.New(), all[1].ID, all[2].ID, all[0].ID})
		code(t, "Users", err, "")
		same(t, "Users", want, got)
		if got, err := l.db.Read().Users.ByIDs(l.ctx, nil); len(got) != 0 || err != nil {
			t.Errorf("Users of none = %v, %v", got, err)
		}
	})
}
