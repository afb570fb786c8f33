// Package demo has the sample data of `aliquot serve --demo`: people, labs, well-known real materials, and requests in
// every status. It is created through the use cases of app, at times within the last months, as if people had entered
// it by hand. README.md says where the facts come from.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/identity"
)

//go:embed files
var files embed.FS

// Filled reports whether the sample data are there. The admin's request comes last, so if it is there, everything is.
// After a crash all data are filled in again, some of them twice.
func Filled(ctx context.Context, a *app.App) (bool, error) {
	c := a.DB.Read()
	u, err := c.Users.ByRegistryID(ctx, AdminID)
	if exchange.CodeOf(err) == exchange.NotFound {
		return false, nil
	} else if err != nil {
		return false, err
	}
	own, err := c.Requests.List(ctx, exchange.Page{Limit: 1}, request.Filter{Requester: &u.ID},
		exchange.Actor{ID: u.ID})
	return len(own.Items) > 0, err
}

// Fill creates the sample data, unless they are there.
func Fill(ctx context.Context, a *app.App) error {
	if filled, err := Filled(ctx, a); err != nil || filled {
		return err
	}
	f := filling{ctx: ctx, app: a, actors: map[string]exchange.Actor{}, addresses: map[string]exchange.Ref{},
		materials: map[string]exchange.Ref{}, offices: map[string]int64{},
		institutions: map[string]int64{}}
	clock := a.DB.Clock
	f.today, f.now = clock(), clock()
	a.DB.Clock = func() time.Time { return f.now }
	defer func() { a.DB.Clock = clock }()
	f.goBack(127 * day)
	f.signIn(People())
	f.do("make the admin one", func() error { return a.Accounts.SetAdmin(ctx, AdminID, true) })
	f.goBack(126 * day)
	f.openLabs()
	f.listMaterials()
	f.at(120*day, "register the institutions", f.registerInstitutions)
	f.prepareAgreements()
	f.makeRequests()
	f.makeLetters()
	for ago := 125 * day; ago > 0; ago -= day {
		f.at(ago, "remind", f.remind)
	}
	f.at(6*day, "read the notifications", f.readNotifications)
	f.play()
	f.makeAdminsRequest()
	f.play()
	f.goBack(0)
	f.do("remind", f.remind)
	f.do("send no mail about it", func() error { return a.Notifications.NoMailSoFar(ctx) })
	return f.err
}

// filling is one run of Fill.
type filling struct {
	ctx          context.Context
	app          *app.App
	actors       map[string]exchange.Actor // by registry id
	addresses    map[string]exchange.Ref   // by registry id
	materials    map[string]exchange.Ref   // by title
	institutions map[string]int64          // by name
	offices      map[string]int64          // institutions, by the registry id of an officer
	today        time.Time                 // at which the past ends
	now          time.Time                 // what the clock of the database shows
	steps        []step                    // to be taken, in the order in which they were thought of
	err          error                     // the first; nothing is done after it
}

// step is what a person did some time ago.
type step struct {
	ago  time.Duration
	what string
	do   func() error
}

const (
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * time.Hour
)

// goBack sets the clock to some time ago.
func (f *filling) goBack(ago time.Duration) { f.now = f.today.Add(-ago) }

// at adds a step that is taken some time ago.
func (f *filling) at(ago time.Duration, what string, do func() error) {
	f.steps = append(f.steps, step{ago, what, do})
}

// play takes the steps in the order of time, so that ids grow with time.
func (f *filling) play() {
	slices.SortStableFunc(f.steps, func(a, b step) int { return cmp.Compare(b.ago, a.ago) })
	for _, s := range f.steps {
		f.goBack(s.ago)
		f.do(s.what, s.do)
	}
	f.steps = nil
}

// remind sends the reminders that are due, so that the first worker does not notify anybody of the past.
func (f *filling) remind() error { return f.app.Requests.RemindDue(f.ctx) }

// readNotifications marks all notifications so far as read.
func (f *filling) readNotifications() error {
	for _, who := range f.actors {
		if err := f.app.Notifications.MarkAllRead(f.ctx, who, who.ID, math.MaxInt64); err != nil {
			return err
		}
	}
	return nil
}

// do runs one step, unless an earlier one failed.
func (f *filling) do(what string, step func() error) {
	if f.err != nil {
		return
	}
	if err := step(); err != nil {
		f.err = fmt.Errorf("fill in the demo: %s: %w", what, err)
	}
}

// signIn registers people, each with an address.
func (f *filling) signIn(people []identity.Person) {
	for _, p := range people {
		f.do("sign in "+p.Name, func() error {
			signed, err := f.app.Accounts.SignIn(f.ctx, p, person.Registration{})
			if err != nil {
				return err
			}
			who, err := f.app.Accounts.Actor(f.ctx, signed.Token)
			if err != nil {
				return err
			}
			// nobody has the secret, and it expires before the present
			if err := f.app.Accounts.Logout(f.ctx, who); err != nil {
				return err
			}
			who.TokenID = 0
			f.actors[p.RegistryID] = who
			address, err := f.app.Documents.CreateAddress(f.ctx, who, signed.User, person.AddressPatch{
				Name:        exchange.Some(p.Name),
				Institution: exchange.Some("Sample University"),
				Line1:       exchange.Some("1 Example Street"),
				Locality:    exchange.Some("Sampletown"),
				PostalCode:  exchange.Some("00000"),
				Country:     exchange.Some("United States"),
				SavedForUse: exchange.Some(true),
			})
			f.addresses[p.RegistryID] = exchange.Ref(address.ID)
			return err
		})
	}
}

// openLabs turns the personal organizations of three people into labs.
func (f *filling) openLabs() {
	f.openLab(owner, "Sample Cell Bank", "Cell lines and patient-derived tumours. Four people with a task each.",
		manager, postdoc, officer)
	f.openLab(neighbour, "Sample Genome Lab", "Plasmids, and strains of mice, fish, flies, worms and yeast.", member)
	f.openLab(holder, "Sample Data Lab", "Data sets and protocols of funded work.")
	for _, r := range []lab.ReplyForm{
		{Title: "Out of stock", Text: "We have none left. We expect new vials in about two months; " +
			"you are welcome to ask again."},
		{Title: "Which passage?", Text: "Do you need a low passage? We have vials of passages 12 and 30."},
	} {
		f.do("keep the reply "+r.Title, func() error {
			return f.app.Labs.SaveReply(f.ctx, f.actors[owner], f.actors[owner].Owns[0], 0, r)
		})
	}
}

func (f *filling) openLab(head, name, description string, members ...string) {
	f.do("open the "+name, func() error {
		labID := f.actors[head].Owns[0]
		patch := lab.OrganizationPatch{Name: exchange.Some(name), Description: exchange.Some(description),
			Members: exchange.Some([]exchange.UserRef{})}
		for _, m := range members {
			patch.Members.Value = append(patch.Members.Value, exchange.UserRef(f.actors[m].ID))
		}
		o, err := f.app.Labs.UpdateOrganization(f.ctx, f.actors[head], labID, patch, nil)
		for _, i := range o.Invitations {
			if err == nil {
				_, err = f.app.Labs.Answer(f.ctx, f.actors[i.RegistryID], f.actors[i.RegistryID].ID, i.ID,
					lab.InvitationAccepted)
			}
		}
		return err
	})
}

// attach stores an embedded file as an attachment of a person.
func (f *filling) attach(by, file string, p document.AttachmentPatch) (exchange.Ref, error) {
	data, err := files.ReadFile("files/" + file)
	if err != nil {
		return 0, err
	}
	content, err := f.app.Documents.Store(f.ctx, f.actors[by], bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	p.Filename = exchange.Some(file)
	t, err := f.app.Documents.CreateAttachment(f.ctx, f.actors[by], p, &content)
	if err != nil {
		f.app.Documents.Discard(f.ctx, content, err)
	}
	return exchange.Ref(t.ID), err
}
