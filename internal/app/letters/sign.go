package letters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Proof is a signature whose making was verified: of whom, in which role, on what, and how that is known.
type Proof struct {
	Signer   party.Person // the user, or somebody without an account
	Role     string
	Document signing.Document
	Level    party.Level
	Evidence any // as JSON
}

// SignIn signs a letter as the caller, who is signed in.
func (a Letters) SignIn(ctx context.Context, who exchange.Actor, id int64, n letter.SignatureNew) (v View, err error) {
	if err := n.Validate(true).Err(); err != nil {
		return v, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		l, err := tx.Agreements.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		rel, err := relations(ctx, tx, who, l)
		if err != nil {
			return err
		}
		if err := hidden(a.May(ctx, tx, who, exchange.AgreementSign, rel, object(id))); err != nil {
			return err
		}
		if who.Scope != "" {
			return exchange.Errorf(exchange.OutOfScope, "A program’s token cannot sign; sign in to do it (%s).",
				exchange.AgreementSign)
		}
		u, err := tx.Users.Get(ctx, who.ID)
		if err != nil {
			return err
		}
		document := signing.Document{Letter: l.Letter.Number, Version: int(n.Version.Value), SHA256: n.SHA256.Value}
		evidence := map[string]string{"identified": u.RegistryID, "intent": Intent(document, n.Role.Value)}
		if err := a.Sign(ctx, tx, &l, Proof{party.Person{User: u.ID, Name: u.Name()}, n.Role.Value, document,
			party.SignedIn, evidence}); err != nil {
			return err
		}
		if err := a.RecordAction(ctx, tx, who, exchange.AgreementSign, rel, object(id), n.Role.Value); err != nil {
			return err
		}
		v, err = a.view(ctx, tx, l)
		return err
	})
	return v, err
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
	return fmt.Sprintf("I sign version %d of %s, SHA-256 %s, as %s.", d.Version, d.Letter, d.SHA256, role)
}

// Sign adds a verified signature to a letter, whose row is locked, if it counts: of the newest version of a letter that
// was sent, at the level that is asked for, by somebody with the authority, while institution, instrument and master
// agreements hold today. The last one executes the letter. Whoever calls it has checked how the signature was made.
func (a Letters) Sign(ctx context.Context, tx store.Conn, l *letter.Agreement, p Proof) error {
	if l.State != letter.Sent {
		return exchange.Errorf(exchange.Conflict, "%s is %s; only a letter that was sent is signed.", l.Letter.Number,
			l.State)
	}
	requests, err := requestsOf(ctx, tx, *l, l.Letter.RequestIDs())
	if err != nil {
		return err
	}
	m, err := a.drafting(ctx, tx, *l, requests)
	if err != nil {
		return err
	}
	i, err := a.instrument(ctx, tx, l.Letter)
	if err != nil {
		return err
	}
	c, err := check(ctx, tx, *l, m, i, p.Role)
	if err != nil {
		return err
	}
	signer, err := c.Check(p.Document, p.Role, p.Signer, p.Level, exchange.DayOf(tx.Now))
	if err != nil {
		return refusal(err, p.Document)
	}
	if err := m.still(*l, i, exchange.DayOf(tx.Now)); err != nil {
		return err
	}
	evidence, err := json.Marshal(p.Evidence)
	if err != nil {
		return err
	}
	s := signing.Kept{Agreement: l.ID, Evidence: evidence, Signature: signing.Signature{Document: p.Document,
		Role: p.Role, Signer: signer, Level: p.Level, At: tx.Now}}
	s.Signer.Person.Name = p.Signer.Name
	if signer.For != nil {
		if s.Represents, err = nameOf(ctx, tx, *signer.For); err != nil {
			return err
		}
	}
	if s.ID, err = tx.Agreements.Sign(ctx, s); err != nil {
		return err
	}
	c.Signatures = append(c.Signatures, s.Signature)
	if l.Waits = c.Unsigned(); len(l.Waits) > 0 {
		return tx.Agreements.SetWaits(ctx, l.ID, l.Waits)
	}
	return a.execute(ctx, tx, l, m, i, requests)
}

// check reads what a signature in a role is checked against. The institution of the role is locked, with who may sign
// for it, so that the authority holds until commit.
func check(ctx context.Context, tx store.Conn, l letter.Agreement, m drafting, i instrument.Instrument,
	role string) (c signing.Agreement, err error) {
	c = against(l, m, i)
	side := &c.Recipient
	if role == "PROVIDER_SCIENTIST" || role == "PROVIDER_OFFICIAL" {
		side = &c.Provider
	}
	if side.Institution, err = tx.Institutions.ForUpdate(ctx, side.Institution.ID); err != nil {
		return c, err
	}
	if side.Register, err = tx.Institutions.Register(ctx, side.Institution.ID); err != nil {
		return c, err
	}
	all, err := tx.Agreements.Signatures(ctx, l.ID)
	c.Signatures = plain(all)
	return c, err
}

// against returns what a signature on a letter is checked against, without registers and signatures.
func against(l letter.Agreement, m drafting, i instrument.Instrument) signing.Agreement {
	c := signing.Agreement{Instrument: i,
		Document:  signing.Document{Letter: l.Letter.Number, Version: l.Letter.Version, SHA256: l.SHA256},
		Provider:  signing.Side{Institution: m.provider, Scientist: party.Person{User: l.Scientist}},
		Recipient: signing.Side{Institution: m.recipient, Scientist: party.Person{User: l.Requester}}}
	for _, one := range m.materials {
		f := m.facts[one.ID]
		c.Acts = append(c.Acts, party.Act{Family: i.Family, Category: one.Category,
			Human: f.Human != requirement.NotHuman, BSL: f.BSL.Number()})
	}
	return c
}

// refusal turns the reason why a signature does not count into the error of the call.
func refusal(err error, d signing.Document) error {
	for why, code := range map[error]exchange.Code{signing.ErrStale: exchange.StaleVersion,
		signing.ErrTwice: exchange.Conflict, signing.ErrInstitution: exchange.NotInForce,
		signing.ErrLevel: exchange.LevelTooLow, signing.ErrNoAuthority: exchange.NoAuthority} {
		if errors.Is(err, why) {
			return exchange.Errorf(code, "%s: %v.", d.Letter, err)
		}
	}
	if errors.Is(err, signing.ErrNoRole) {
		return core.FieldError("role", "is not one in which this letter is signed")
	}
	return err
}

// execute makes a letter that everybody has signed an executed agreement: its sealed PDF becomes a document of each of
// its requests. All of it is part of the transaction of the last signature.
func (a Letters) execute(ctx context.Context, tx store.Conn, l *letter.Agreement, m drafting, i instrument.Instrument,
	requests []request.Detail) error {
	if err := binding(ctx, tx, *l, m); err != nil {
		return err
	}
	all, err := tx.Agreements.Signatures(ctx, l.ID)
	if err != nil {
		return err
	}
	last := all[len(all)-1]
	content, err := a.seal(ctx, *l, i, all, tx.Now)
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
	return transfer.ExecuteAgreement(ctx, transfer.New(a.Core), tx, last.Signer.Person.User, requests, l.Letter.Number,
		t.ID)
}

// binding checks that a letter binds both institutions today: they are confirmed, the lab is of the one that provides,
// and others than the requester know that they are at the other.
func binding(ctx context.Context, tx store.Conn, l letter.Agreement, m drafting) error {
	today := exchange.DayOf(tx.Now)
	for _, i := range []party.Institution{m.provider, m.recipient} {
		if !i.MayExecute(today) {
			return exchange.Errorf(exchange.NotInForce, "%s is not confirmed here, or has withdrawn; an admin or one "+
				"of its officers confirms it.", i.LegalName)
		}
	}
	lab, err := core.ProviderOf(ctx, tx, l.Organization)
	if err != nil {
		return err
	}
	if lab != m.provider.ID {
		return exchange.Errorf(exchange.NotInForce, "The lab is not of %s any more; withdraw the letter and make "+
			"another.",
			m.provider.LegalName)
	}
	own, err := tx.Institutions.OfPerson(ctx, l.Requester)
	if err != nil {
		return err
	}
	if _, confirmed := party.Affiliated(own, l.Requester, m.recipient.ID, today); !confirmed {
		return exchange.Errorf(exchange.NotInForce, "That %s is at %s is known from themselves alone; an officer "+
			"confirms it.", m.requester.Name(), m.recipient.LegalName)
	}
	return nil
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
	return fmt.Sprintf("%s, %s, %s", text, at.UTC().Format(time.RFC3339), s.Level)
}
