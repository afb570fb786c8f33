package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

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
}

// tokenPrefix marks our tokens, so that leaked ones are recognised (contract.md section 3).
const tokenPrefix = "alq_"

// Login exchanges an authorization code for a token. It registers unknown people if registration is open to them.
func (a *App) Login(ctx context.Context, r person.Registration) (Signed, error) {
	if a.isCallback(r.OriginURL) {
		return Signed{}, exchange.Errorf(exchange.InvalidCode,
			"This code was issued to the sign-in page of this installation, and only that page may use it. Ask the "+
				"identity provider for a code with your own redirect address.")
	}
	proof := identity.Proof{Verifier: r.CodeVerifier.Or("")}
	return a.login(ctx, r, proof, func(p identity.Person) (Signed, error) { return a.SignIn(ctx, p, r) })
}

// login is Login for the person whom signIn signs in.
func (a *App) login(ctx context.Context, r person.Registration, proof identity.Proof,
	signIn func(identity.Person) (Signed, error)) (Signed, error) {
	code, origin, err := r.Check()
	if err != nil {
		return Signed{}, err
	}
	if a.Identity == nil {
		return Signed{}, exchange.Errorf(exchange.Unavailable,
			"No identity provider is configured; the operator sets --identity.")
	}
	if r.Invitation.Set {
		if err := a.acceptable(ctx, r.Invitation.Value); err != nil {
			return Signed{}, err
		}
	}
	person, err := a.Identity.Exchange(ctx, code, origin, proof)
	if err != nil {
		a.RecordRefusal(exchange.Actor{}, exchange.Login, "somebody", err)
		return Signed{}, err
	}
	signed, err := signIn(person)
	if exchange.CodeOf(err) == exchange.Conflict { // the same new person signed in twice at the same time
		signed, err = signIn(person)
	}
	if err != nil {
		a.RecordRefusal(exchange.Actor{}, exchange.Login, object("registry id", person.RegistryID), err)
	}
	return signed, err
}

// SignIn creates a token for a person verified by the identity provider. From r it takes what new users say about
// themselves, and the invitation that they accept.
func (a *App) SignIn(ctx context.Context, user identity.Person, r person.Registration) (Signed, error) {
	return a.signIn(ctx, user, r, person.Token{Kind: person.APIToken}, "")
}

// SignInBrowser is SignIn for a browser: it begins a session in place of the browser's earlier one.
func (a *App) SignInBrowser(ctx context.Context, user identity.Person, r person.Registration, b Browser) (Signed,
	error) {
	return a.signIn(ctx, user, r, person.Token{Kind: person.SessionToken, Name: b.Name}, b.Session)
}

// newSecret returns the secret of a new token.
func newSecret() string { return tokenPrefix + rand.Text() + rand.Text() } // 2 x 130 bits

// signIn is SignIn; t describes the token, ends is the secret of a session that ends by this ("": none).
func (a *App) signIn(ctx context.Context, person identity.Person, r person.Registration, t person.Token,
	ends string) (Signed, error) {
	secret := newSecret()
	var s Signed
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		u, err := tx.Users.ByRegistryID(ctx, person.RegistryID)
		s.New = exchange.CodeOf(err) == exchange.NotFound
		if s.New {
			u, err = a.register(ctx, tx, person, r.Names())
		}
		if err != nil {
			return err
		}
		if verified := strings.ToLower(person.Email); verified != "" && verified != u.VerifiedEmail {
			if err := tx.Users.VerifyEmail(ctx, u.ID, verified); err != nil {
				return err
			}
		}
		if r.Invitation.Set {
			if err := acceptInvitationOnSignIn(ctx, tx, u, r.Invitation.Value); err != nil {
				return err
			}
		}
		if ends != "" {
			if err := tx.Tokens.DeleteSession(ctx, Hash(ends)); err != nil {
				return err
			}
		}
		s.User, s.Token, s.Expires = u.ID, secret, tx.Now.Add(a.TokenLifetime)
		t.UserID, t.ExpiresAt = u.ID, s.Expires
		if t.ID, err = tx.Tokens.Insert(ctx, t, Hash(secret)); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, &u.ID, exchange.Login, object("user", u.ID), false,
			map[string]any{"token": t.ID, "kind": t.Kind})
	})
	return s, err
}

// register creates a user and their personal organization, so that a single person can list a material at once.
func (a *App) register(ctx context.Context, tx store.Conn, p identity.Person, names person.UserPatch) (person.User,
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
	o, err := makeOrganization(ctx, tx,
		lab.Organization{Name: labName(u), Owner: u.ID, Targets: lab.DefaultTargets}, []uuid.UUID{u.ID})
	if err != nil {
		return u, err
	}
	v := OrganizationView{Organization: o, OwnerUser: u, Members: []person.User{u}}
	return u, recordOrganizationVersion(ctx, tx, exchange.Actor{ID: u.ID}, exchange.OrganizationCreate, false, v)
}

func labName(owner person.User) string { return owner.Name() + " lab" }

func (a *App) mayRegister(p identity.Person) bool {
	return slices.ContainsFunc(a.Registration, func(rule string) bool {
		_, domain, _ := strings.Cut(p.Email, "@")
		return rule == "open" || rule == p.RegistryID || domain != "" && strings.EqualFold(rule, domain)
	})
}

// Hash returns the stored form of a token: its hex SHA-256.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Actor returns the actor who presents a token.
func (a *App) Actor(ctx context.Context, token string) (exchange.Actor, error) {
	who, err := a.DB.Read().Actors.ByToken(ctx, Hash(token))
	if exchange.CodeOf(err) == exchange.NotFound {
		return who, endedToken()
	}
	if err == nil {
		a.useToken(ctx, who)
	}
	return who, err
}

// Logout revokes the token that the caller presented.
func (a *App) Logout(ctx context.Context, who exchange.Actor) error {
	return a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := tx.Tokens.Delete(ctx, who.ID, who.TokenID); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, &who.ID, exchange.Logout, object("user", who.ID), false,
			map[string]any{"token": who.TokenID})
	})
}

// UserView is a user with what belongs to them; Private reports whether it includes what only they and admins may see.
type UserView struct {
	person.User
	Organizations []lab.Organization
	Private       bool
	Addresses     []person.Address
	Assignments   []request.Detail
	Requests      []request.Detail
	Grants        []person.Grant
	Attachments   []AttachmentView
	Invitations   []lab.ShownInvitation
}

// everything is a page without a limit, for lists inside of an object.
var everything exchange.Page

// User reads a user as who may see them.
func (a *App) User(ctx context.Context, who exchange.Actor, id uuid.UUID) (UserView, error) {
	c := a.DB.Read()
	u, err := c.Users.Get(ctx, id)
	if err != nil {
		return UserView{}, err
	}
	return a.userView(ctx, c, who, u)
}

func (a *App) userView(ctx context.Context, c store.Conn, who exchange.Actor, u person.User) (UserView, error) {
	err := a.mayRead(ctx, who, exchange.UserReadPrivate, who.ToUser(u.ID), object("user", u.ID))
	if code := exchange.CodeOf(err); err != nil && code != exchange.Forbidden && code != exchange.OutOfScope {
		return UserView{}, err
	}
	return a.viewUser(ctx, c, who, u, err == nil)
}

func (a *App) viewUser(ctx context.Context, c store.Conn, who exchange.Actor, u person.User, private bool) (UserView,
	error) {
	v := UserView{User: u, Private: private}
	var err error
	if v.Organizations, err = c.Organizations.OfUser(ctx, u.ID); err != nil || !private {
		return v, err
	}
	addresses, err := c.Addresses.List(ctx, u.ID, everything)
	if err != nil {
		return v, err
	}
	// Filter as u themselves would see them: closed requests stay assigned to someone who left the lab and may no
	// longer read them.
	assigned, err := c.Requests.List(ctx, everything, request.Filter{AssignedTo: &u.ID},
		exchange.Actor{ID: u.ID})
	if err != nil {
		return v, err
	}
	made, err := c.Requests.List(ctx, everything, request.Filter{Requester: &u.ID}, exchange.Actor{Admin: true})
	if err != nil {
		return v, err
	}
	grants, err := c.Grants.List(ctx, u.ID, everything)
	if err != nil {
		return v, err
	}
	invitations, err := c.Invitations.For(ctx, u, everything)
	if err != nil {
		return v, err
	}
	v.Addresses, v.Assignments, v.Requests, v.Grants = addresses.Items, assigned.Items, made.Items, grants.Items
	v.Invitations = invitations.Items
	owned, err := c.Attachments.OfUser(ctx, u.ID)
	if err != nil {
		return v, err
	}
	v.Attachments, err = a.viewAttachments(ctx, c, who, owned...)
	return v, err
}

// UpdateUser changes a user's own data.
func (a *App) UpdateUser(ctx context.Context, who exchange.Actor, id uuid.UUID, p person.UserPatch,
	match IfMatch[UserView]) (UserView, error) {
	var u person.User
	err := a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := tx.Users.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := a.may(ctx, tx, who, exchange.UserUpdate, who.ToUser(id), object("user", id)); err != nil {
			return err
		}
		err = match.checkRead(func() (UserView, error) {
			private, _ := a.policy.Can(exchange.UserReadPrivate, who.ToUser(id))
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
		return UserView{}, err
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
	return renamed(ctx, tx, request.Renaming{User: u.ID})
}

// SetAdmin makes the user with a registry id an admin, or no longer one. The operator does this on the command line; it
// is audited without an actor.
func (a *App) SetAdmin(ctx context.Context, registryID string, admin bool) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		u, err := tx.Users.ByRegistryID(ctx, registryID)
		if err != nil || u.Admin == admin {
			return refer(err, "registry_id", registryID)
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
		return tx.Audit.Insert(ctx, nil, exchange.UserUpdate, object("user", u.ID), true,
			map[string]bool{"admin": admin})
	})
}

// GrantAdmins makes those users admins whom the setting names and who have signed in before; the others become admins
// when they register.
func (a *App) GrantAdmins(ctx context.Context) error {
	for _, id := range a.Admins {
		if err := a.SetAdmin(ctx, id, true); err != nil && exchange.CodeOf(err) != exchange.InvalidInput {
			return err
		}
	}
	return nil
}
