package letters

import (
	"context"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	passkeys "aliquot/internal/app/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// AskPasskey returns what who signs with one touch of a passkey: letters in one role, by one authority. Each is checked
// as at its signature.
func (a Letters) AskPasskey(ctx context.Context, who exchange.Actor, user uuid.UUID,
	n letter.PasskeyAsk) (asked passkeys.Asked, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.mayTouch(ctx, tx, who, user); err != nil {
			return err
		}
		if err := n.Validate(true).Err(); err != nil {
			return err
		}
		s := signing.Statement{Signer: who.ID.String(), Role: n.Role.Value}
		for i, id := range n.IDs() {
			l, _, err := a.forSignature(ctx, tx, who, id)
			if err != nil {
				return core.Refer(err, "agreements", id)
			}
			if l.State != letter.Sent {
				return notSent(l)
			}
			checked, err := a.locked(ctx, tx, &l)
			if err != nil {
				return err
			}
			c := checked.checks
			signer, err := c.Check(c.Document, s.Role, party.Person{User: who.ID}, party.Passkey,
				exchange.DayOf(tx.Now))
			if err != nil {
				return refusal(err, c.Document)
			}
			if i > 0 && signer.Authority != s.Authority {
				return exchange.Errorf(exchange.Conflict, "You sign %s by another authority than the others; sign it "+
					"by itself.", l.Letter.Number)
			}
			s.Authority, s.Documents = signer.Authority, append(s.Documents, c.Document)
		}
		var err error
		asked, err = passkeys.New(a.Core).Ask(ctx, tx, who.ID, s)
		return err
	})
	return asked, err
}

// forSignature reads a letter that who may sign, which is never by the token of a program, and locks it until commit.
func (a Letters) forSignature(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) (l letter.Agreement,
	rel exchange.Relation, err error) {
	if l, err = tx.Agreements.ForUpdate(ctx, id); err != nil {
		return l, rel, err
	}
	if rel, err = relations(ctx, tx, who, l); err != nil {
		return l, rel, err
	}
	if err := core.Unseen(a.May(ctx, tx, who, exchange.AgreementSign, rel, object(id))); err != nil {
		return l, rel, err
	}
	if who.Scope != "" {
		return l, rel, exchange.Errorf(exchange.OutOfScope, "A program’s token cannot sign; sign in to do it (%s).",
			exchange.AgreementSign)
	}
	return l, rel, nil
}

// mayTouch checks that who may sign as a user with a passkey: themselves, and not by the token of a program.
func (a Letters) mayTouch(ctx context.Context, tx store.Conn, who exchange.Actor, user uuid.UUID) error {
	if who.Admin && who.ID != user {
		return exchange.Errorf(exchange.Forbidden, "You cannot sign for someone else (%s).", exchange.PasskeyUse)
	}
	return a.May(ctx, tx, who, exchange.PasskeyUse, who.ToUser(user), core.Object("user", user))
}

// SignWithPasskey signs the letters of the statement that a browser answers: all of them, or none.
func (a Letters) SignWithPasskey(ctx context.Context, who exchange.Actor, user uuid.UUID,
	n signing.PasskeyAnswer) (signed []letter.Agreement, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		signed = nil
		if err := a.mayTouch(ctx, tx, who, user); err != nil {
			return err
		}
		if err := n.Validate(true).Err(); err != nil {
			return err
		}
		evidence, s, err := passkeys.New(a.Core).Answer(ctx, tx, who.ID, n.Credential.Value)
		if err != nil {
			return err
		}
		u, err := tx.Users.Get(ctx, who.ID)
		if err != nil {
			return err
		}
		for _, d := range s.Documents {
			id, err := letter.ID(d.Letter)
			if err != nil {
				return core.FieldError("credential", "signs %s, not a letter", d.Letter)
			}
			l, rel, err := a.forSignature(ctx, tx, who, id)
			if err != nil {
				return err
			}
			if err := a.Sign(ctx, tx, &l, Proof{Signer: party.Person{User: u.ID, Name: u.Name()}, Role: s.Role,
				Document: d, Level: party.Passkey, Evidence: evidence}); err != nil {
				return err
			}
			if err := a.RecordAction(ctx, tx, who, exchange.AgreementSign, rel, object(id), s.Role); err != nil {
				return err
			}
			signed = append(signed, l)
		}
		return nil
	})
	return signed, err
}
