package account

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/app/labs"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/identity"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Signed is the result of a login.
type Signed struct {
	User    uuid.UUID
	Token   string // shown only this once; only its hash is stored
	Expires time.Time
	New     bool // this call registered the user
	// Instead of all else: the person is known to their provider, and which account is theirs is not known yet. It is
	// what SignIns.Link takes.
	Unlinked string
}

// tokenPrefix marks our tokens, so that leaked ones are recognised (contract.md section 3).
const tokenPrefix = "alq_"

// Login exchanges an authorization code for a token. It registers unknown people if registration is open to them.
func (a Accounts) Login(ctx context.Context, r person.Registration) (Signed, error) {
	if a.isCallback(r.OriginURL) {
		return Signed{}, exchange.Errorf(exchange.InvalidCode,
			"This code was issued to the sign-in page of this installation, and only that page may use it. Ask the "+
				"identity provider for a code with your own redirect address.")
	}
	proof := identity.Proof{Verifier: r.CodeVerifier.Or("")}
	return a.login(ctx, r, proof, func(p identity.Person) (Signed, error) {
		s, err := a.SignIn(ctx, p, r)
		if err == nil && s.Unlinked != "" {
			err = exchange.Errorf(exchange.RegistrationClosed, "This sign-in is linked to no account. Sign in with it "+
				"once at %s/signin, and link it there.", a.PublicURL)
		}
		return s, err
	})
}

// login is Login for the person whom signIn signs in.
func (a Accounts) login(ctx context.Context, r person.Registration, proof identity.Proof,
	signIn func(identity.Person) (Signed, error)) (Signed, error) {
	code, origin, err := r.Check()
	if err != nil {
		return Signed{}, err
	}
	provider, err := a.provider(r.Provider.Or(""))
	if err != nil {
		return Signed{}, err
	}
	if r.Invitation.Set {
		if err := labs.New(a.Core).Acceptable(ctx, r.Invitation.Value); err != nil {
			return Signed{}, err
		}
	}
	person, err := provider.Exchange(ctx, code, origin, proof)
	if err != nil {
		a.RecordRefusal(exchange.Actor{}, exchange.Login, "somebody", err)
		return Signed{}, err
	}
	signed, err := signIn(person)
	if exchange.CodeOf(err) == exchange.Conflict { // the same new person signed in twice at the same time
		signed, err = signIn(person)
	}
	if err != nil {
		a.RecordRefusal(exchange.Actor{}, exchange.Login, core.Object("registry id", person.RegistryID), err)
	}
	return signed, err
}

// SignIn creates a token for a person verified by the identity provider. From r it takes what new users say about
// themselves, and the invitation that they accept.
func (a Accounts) SignIn(ctx context.Context, user identity.Person, r person.Registration) (Signed, error) {
	return a.signIn(ctx, user, r, person.Token{Kind: person.APIToken}, "")
}

// SignInBrowser is SignIn for a browser: it begins a session in place of the browser's earlier one.
func (a Accounts) SignInBrowser(ctx context.Context, user identity.Person, r person.Registration, b Browser) (Signed,
	error) {
	return a.signIn(ctx, user, r, person.Token{Kind: person.SessionToken, Name: b.Name}, b.Session)
}

// newSecret returns the secret of a new token.
func newSecret() string { return tokenPrefix + rand.Text() + rand.Text() } // 2 x 130 bits

// signIn is SignIn; t describes the token, ends is the secret of a session that ends by this ("": none).
func (a Accounts) signIn(ctx context.Context, person identity.Person, r person.Registration, t person.Token,
	ends string) (Signed, error) {
	secret := newSecret()
	var s Signed
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		u, err := a.whose(ctx, tx, person, r.Names(), &s)
		if err != nil || s.Unlinked != "" {
			return err
		}
		if r.Invitation.Set {
			if err := labs.AcceptInvitationOnSignIn(ctx, tx, u, r.Invitation.Value); err != nil {
				return err
			}
		}
		if ends != "" {
			if err := tx.Tokens.DeleteSession(ctx, core.Hash(ends)); err != nil {
				return err
			}
		}
		s.User, s.Token, s.Expires = u.ID, secret, tx.Now.Add(a.TokenLifetime)
		t.UserID, t.ExpiresAt, t.Issuer = u.ID, s.Expires, person.Issuer
		if t.ID, err = tx.Tokens.Insert(ctx, t, core.Hash(secret)); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, &u.ID, exchange.Login, core.Object("user", u.ID), false,
			map[string]any{"token": t.ID, "kind": t.Kind})
	})
	return s, err
}

// whose returns whose account a sign-in opens. Whoever is new at the main provider is registered; a sign-in at another
// one that is linked to no account is described in s. Another provider's addresses of mail count for nothing: it could
// claim that any is verified.
func (a Accounts) whose(ctx context.Context, tx store.Conn, p identity.Person, names person.UserPatch,
	s *Signed) (u person.User, err error) {
	if p.Issuer != "" {
		user, err := tx.SignIns.Use(ctx, p.Issuer, p.RegistryID)
		if exchange.CodeOf(err) == exchange.NotFound {
			s.Unlinked, err = unlinked(ctx, tx, p)
			return u, err
		}
		if err != nil {
			return u, err
		}
		if err := a.affiliate(ctx, tx, user, p); err != nil {
			return u, err
		}
		return tx.Users.Get(ctx, user)
	}
	u, err = tx.Users.ByRegistryID(ctx, p.RegistryID)
	s.New = exchange.CodeOf(err) == exchange.NotFound
	if s.New {
		u, err = a.register(ctx, tx, p, names)
	}
	if verified := strings.ToLower(p.Email); err == nil && verified != "" && verified != u.VerifiedEmail {
		err = tx.Users.VerifyEmail(ctx, u.ID, verified)
	}
	return u, err
}

// register creates a user and their personal organization, so that a single person can list a material at once.
func (a Accounts) register(ctx context.Context, tx store.Conn, p identity.Person, names person.UserPatch) (person.User,
	error) {
	if !a.mayRegister(p) {
		return person.User{}, exchange.Errorf(exchange.RegistrationClosed,
			"Registration is closed; ask the operator to add %s.", p.RegistryID)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return person.User{}, err
	}
	u := person.User{
		ID: id, Username: p.RegistryID, RegistryID: p.RegistryID,
		FirstName: p.GivenName, LastName: p.FamilyName, Email: p.Email,
		Admin: slices.Contains(a.Admins, p.RegistryID), CreatedAt: tx.Now, UpdatedAt: tx.Now,
		VerifiedEmail: strings.ToLower(p.Email),
	}
	if u, err = names.Patch(u); err != nil {
		return u, err
	}
	if err := tx.Users.Insert(ctx, u); err != nil {
		return u, err
	}
	o, err := labs.MakeOrganization(ctx, tx,
		lab.Organization{Name: labs.LabName(u), Owner: u.ID, Targets: lab.DefaultTargets}, []uuid.UUID{u.ID})
	if err != nil {
		return u, err
	}
	v := core.OrganizationView{Organization: o, OwnerUser: u, Members: []person.User{u}}
	return u, core.RecordOrganizationVersion(ctx, tx, exchange.Actor{ID: u.ID}, exchange.OrganizationCreate, false, v)
}

func (a Accounts) mayRegister(p identity.Person) bool {
	return slices.ContainsFunc(a.Registration, func(rule string) bool {
		_, domain, _ := strings.Cut(p.Email, "@")
		return rule == "open" || rule == p.RegistryID || domain != "" && strings.EqualFold(rule, domain)
	})
}

// Actor returns the actor who presents a token.
func (a Accounts) Actor(ctx context.Context, token string) (exchange.Actor, error) {
	who, err := a.DB.Read().Actors.ByToken(ctx, core.Hash(token))
	if exchange.CodeOf(err) == exchange.NotFound {
		return who, core.EndedToken()
	}
	if err == nil {
		a.UseToken(ctx, who)
	}
	return who, err
}

// Logout revokes the token that the caller presented.
func (a Accounts) Logout(ctx context.Context, who exchange.Actor) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := tx.Tokens.Delete(ctx, who.ID, who.TokenID); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, &who.ID, exchange.Logout, core.Object("user", who.ID), false,
			map[string]any{"token": who.TokenID})
	})
}

// User reads a user as who may see them.
func (a Accounts) User(ctx context.Context, who exchange.Actor, id uuid.UUID) (core.UserView, error) {
	c := a.DB.Read()
	u, err := c.Users.Get(ctx, id)
	if err != nil {
		return core.UserView{}, err
	}
	return a.userView(ctx, c, who, u)
}

func (a Accounts) userView(ctx context.Context, c store.Conn, who exchange.Actor, u person.User) (core.UserView,
	error) {
	err := a.MayRead(ctx, who, exchange.UserReadPrivate, who.ToUser(u.ID), core.Object("user", u.ID))
	if code := exchange.CodeOf(err); err != nil && code != exchange.Forbidden && code != exchange.OutOfScope {
		return core.UserView{}, err
	}
	return a.viewUser(ctx, c, who, u, err == nil)
}

func (a Accounts) viewUser(ctx context.Context, c store.Conn, who exchange.Actor, u person.User,
	private bool) (core.UserView, error) {
	v := core.UserView{User: u, Private: private}
	var err error
	if v.Organizations, err = c.Organizations.OfUser(ctx, u.ID); err != nil || !private {
		return v, err
	}
	addresses, err := c.Addresses.List(ctx, u.ID, core.Everything)
	if err != nil {
		return v, err
	}
	// Filter as u themselves would see them: closed requests stay assigned to someone who left the lab and may no
	// longer read them.
	assigned, err := c.Requests.List(ctx, core.Everything, request.Filter{AssignedTo: &u.ID},
		exchange.Actor{ID: u.ID})
	if err != nil {
		return v, err
	}
	made, err := c.Requests.List(ctx, core.Everything, request.Filter{Requester: &u.ID}, exchange.Actor{Admin: true})
	if err != nil {
		return v, err
	}
	grants, err := c.Grants.List(ctx, u.ID, core.Everything)
	if err != nil {
		return v, err
	}
	invitations, err := c.Invitations.For(ctx, u, core.Everything)
	if err != nil {
		return v, err
	}
	v.Addresses, v.Assignments, v.Requests, v.Grants = addresses.Items, assigned.Items, made.Items, grants.Items
	v.Invitations = invitations.Items
	owned, err := c.Attachments.OfUser(ctx, u.ID)
	if err != nil {
		return v, err
	}
	v.Attachments, err = documents.New(a.Core).AttachmentViews(ctx, c, who, owned...)
	return v, err
}

// UpdateUser changes a user's own data.
func (a Accounts) UpdateUser(ctx context.Context, who exchange.Actor, id uuid.UUID, p person.UserPatch,
	match core.IfMatch[core.UserView]) (core.UserView, error) {
	var u person.User
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := tx.Users.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.UserUpdate, who.ToUser(id), core.Object("user", id)); err != nil {
			return err
		}
		err = match.CheckRead(func() (core.UserView, error) {
			private, _ := a.Policy().Can(exchange.UserReadPrivate, who.ToUser(id))
			return a.viewUser(ctx, tx, who, old, private)
		})
		if err != nil {
			return err
		}
		if err := old.Present(); err != nil {
			return err
		}
		if u, err = p.Patch(old); err != nil || u == old {
			return err
		}
		u.UpdatedAt = tx.Now
		return saveUser(ctx, tx, old, u)
	})
	if err != nil {
		return core.UserView{}, err
	}
	return a.userView(ctx, a.DB.Read(), who, u)
}

// saveUser saves a changed user, whose name may have changed.
func saveUser(ctx context.Context, tx store.Conn, old, u person.User) error {
	if u == old {
		return nil
	}
	if err := tx.Users.Update(ctx, u); err != nil || u.Name() == old.Name() {
		return err
	}
	return core.Renamed(ctx, tx, request.Renaming{User: u.ID})
}

// SetAdmin makes the user with a registry id an admin, or no longer one. The operator does this on the command line; it
// is audited without an actor.
func (a Accounts) SetAdmin(ctx context.Context, registryID string, admin bool) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		u, err := tx.Users.ByRegistryID(ctx, registryID)
		if err != nil || u.Admin == admin {
			return core.Refer(err, "registry_id", registryID)
		}
		if err := tx.Actors.LockAdmin(ctx, u.ID); err != nil {
			return err
		}
		if u, err = tx.Users.ForUpdate(ctx, u.ID); err != nil {
			return err
		}
		u.Admin = admin
		if err := tx.Users.Update(ctx, u); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, nil, exchange.UserUpdate, core.Object("user", u.ID), true,
			map[string]bool{"admin": admin})
	})
}

// GrantAdmins makes those users admins whom the setting names and who have signed in before; the others become admins
// when they register.
func (a Accounts) GrantAdmins(ctx context.Context) error {
	for _, id := range a.Admins {
		if err := a.SetAdmin(ctx, id, true); err != nil && exchange.CodeOf(err) != exchange.InvalidInput {
			return err
		}
	}
	return nil
}
