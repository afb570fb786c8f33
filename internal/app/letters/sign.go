package letters

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Proof is a signature whose making was verified: of whom, in which role, on what, and how that is known.
type Proof struct {
	Signer   party.Person // the user, or somebody without an account
	Role     string
	Document signing.Document
	Level    party.Level
	Evidence any                 // as JSON
	Approval *signing.ByApproval // that made it; nil: a person did
}

// SignIn signs a letter as the caller, who is signed in.
func (a Letters) SignIn(ctx context.Context, who exchange.Actor, id int64, n letter.SignatureNew) (v View, err error) {
	if err := n.Validate(true).Err(); err != nil {
		return v, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		l, rel, err := a.forSignature(ctx, tx, who, id)
		if err != nil {
			return err
		}
		document := signing.Document{Letter: l.Letter.Number, Version: int(n.Version.Value), SHA256: n.SHA256.Value}
		if err := a.signIn(ctx, tx, who, &l, rel, n.Role.Value, document); err != nil {
			return err
		}
		if v, err = a.view(ctx, tx, l); err != nil {
			return err
		}
		return v.readPrecedent(ctx, tx, who, rel)
	})
	return v, err
}

// signIn signs a version of a letter, whose row is locked, as the caller, who is signed in.
func (a Letters) signIn(ctx context.Context, tx store.Conn, who exchange.Actor, l *letter.Agreement,
	rel exchange.Relation, role string, d signing.Document) error {
	u, err := tx.Users.Get(ctx, who.ID)
	if err != nil {
		return err
	}
	if err := a.Sign(ctx, tx, l, Proof{Signer: party.Person{User: u.ID, Name: u.Name()}, Role: role, Document: d,
		Level:    party.SignedIn,
		Evidence: map[string]string{"identified": u.RegistryID, "intent": Intent(d, role)}}); err != nil {
		return err
	}
	return a.RecordAction(ctx, tx, who, exchange.AgreementSign, rel, object(l.ID), role)
}

// nameOf returns the name of a user, or that of somebody without an account.
func nameOf(ctx context.Context, c store.Conn, p party.Person) (string, error) {
	if p.User == uuid.Nil {
		return p.Name, nil
	}
	u, err := c.Users.Get(ctx, p.User)
	return u.Name(), err
}

// Intent is what somebody states who signs.
func Intent(d signing.Document, role string) string {
	return fmt.Sprintf("I sign version %d of %s, SHA-256 %s, as %s.", d.Version, d.Letter, d.SHA256,
		party.Label(role))
}

// notSent refuses a signature on a letter that was not sent, or is no longer to be signed.
func notSent(l letter.Agreement) error {
	is := strings.ToLower(string(l.State))
	if l.State == letter.Draft {
		is = "a draft"
	}
	return exchange.Errorf(exchange.Conflict, "%s is %s; only a letter that was sent is signed.", l.Letter.Number, is)
}

// Sign adds a verified signature to a letter, whose row is locked, if it counts: of the newest version of a letter that
// was sent, at the level that is asked for, by somebody with the authority, while institution, instrument and master
// agreements hold today. Officials whose standing approvals cover the letter sign with it. The last signature executes
// the letter. Whoever calls it has checked how the signature was made.
func (a Letters) Sign(ctx context.Context, tx store.Conn, l *letter.Agreement, p Proof) error {
	if l.State != letter.Sent {
		return notSent(*l)
	}
	s, err := a.locked(ctx, tx, l)
	if err != nil {
		return err
	}
	if err := s.add(ctx, tx, p); err != nil {
		return err
	}
	if err := s.still(*l, s.instrument, exchange.DayOf(tx.Now)); err != nil {
		return err
	}
	if err := a.complete(ctx, tx, &s); err != nil {
		return err
	}
	return s.announceSigned(ctx, tx, p.Role, p.Signer)
}

// execute makes a letter that everybody has signed an executed agreement: its sealed PDF becomes a document of each of
// its requests. All of it is part of the transaction of the last signature.
func (a Letters) execute(ctx context.Context, tx store.Conn, s *signable) error {
	if s.binds != nil {
		return s.binds
	}
	l := s.letter
	last := s.signatures[len(s.signatures)-1]
	content, err := a.seal(ctx, *l, s.instrument, s.signatures, tx.Now)
	if err != nil {
		return err
	}
	t := executedFile(*l, content, tx.Now)
	if t.ID, err = tx.Attachments.Insert(ctx, t); err != nil {
		return err
	}
	l.State, l.Attachment, l.EndedAt = letter.Executed, &t.ID, &tx.Now
	if err := tx.Agreements.Update(ctx, *l); err != nil {
		return err
	}
	if err := tx.Duties.Insert(ctx, duty.Of(l.ID, termsOf(s.instrument.Terms), l.Letter.EndsOn(), tx.Now)); err != nil {
		return err
	}
	return a.executeRequests(ctx, tx, last.Signer.Person.User, l.MadeBy, s.requests, l.Letter.Number, t.ID)
}

// binding checks that a letter binds both institutions today: they are confirmed, the lab is of the one that provides,
// and others than the requester know that they are at the other.
func binding(ctx context.Context, c store.Conn, l letter.Agreement, m drafting) error {
	labs, err := c.Institutions.LabsOf(ctx, l.Organization)
	if err != nil {
		return err
	}
	own, err := c.Institutions.OfPerson(ctx, l.Requester)
	if err != nil {
		return err
	}
	return bond{m.provider, m.recipient, m.requester, labs, own}.check(l, exchange.DayOf(c.Now))
}

// bond is what decides whether a letter binds both institutions.
type bond struct {
	provider, recipient party.Institution
	requester           person.User
	labs                []party.Lab         // among them all rows of the lab
	affiliations        []party.Affiliation // among them all of the requester
}

// check returns why the letter does not bind both institutions on a day.
func (b bond) check(l letter.Agreement, day exchange.Date) error {
	for _, i := range []party.Institution{b.provider, b.recipient} {
		if err := mayExecute(i, day); err != nil {
			return err
		}
	}
	if party.InstitutionOf(b.labs, l.Organization, day) != b.provider.ID {
		return exchange.Errorf(exchange.NotInForce, "The lab is not of %s any more; withdraw the letter and make "+
			"another.", b.provider.LegalName)
	}
	if _, confirmed := party.Affiliated(b.affiliations, l.Requester, b.recipient.ID, day); !confirmed {
		return exchange.Errorf(exchange.NotInForce, "That %s is at %s is known from themselves alone; an officer "+
			"confirms it.", b.requester.Name(), b.recipient.LegalName)
	}
	return nil
}

// mayExecute returns why no agreement of an institution is executed on a day.
func mayExecute(i party.Institution, day exchange.Date) error {
	if i.MayExecute(day) {
		return nil
	}
	return exchange.Errorf(exchange.NotInForce, "%s is not confirmed here, or has withdrawn; an admin or one of its "+
		"officers confirms it.", i.LegalName)
}

// reason says in a seal's field who signed, and how that is known.
func reason(s signing.Kept, at time.Time) string {
	text := s.Signer.Person.Name
	if s.Signer.Position.Title != "" {
		text += ", " + s.Signer.Position.Title
	}
	if s.Represents != "" {
		text += ", for " + s.Represents
	}
	if s.Approval != nil {
		text += fmt.Sprintf(", by standing approval %d version %d", s.Approval.ID, s.Approval.Version)
	}
	return fmt.Sprintf("%s, %s, %s", text, at.UTC().Format(time.RFC3339), s.Level)
}
