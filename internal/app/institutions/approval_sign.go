package institutions

import (
	"context"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	passkeys "aliquot/internal/app/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// SignApproval signs the version of a standing approval that the caller saw: signed in, or with what their passkey
// answered to AskApproval. They sign it as an officer, within what they may sign themselves. From then on it signs
// letters.
func (a Institutions) SignApproval(ctx context.Context, who exchange.Actor, id, which int64,
	n approval.SignNew) (signed approval.Approval, err error) {
	if err := n.Validate(true).Err(); err != nil {
		return signed, err
	}
	err = a.Approvals.write(ctx, who, id, func(ctx context.Context, tx store.Conn, who exchange.Actor, k caller) error {
		level := party.SignedIn
		if n.Credential.Set {
			level = party.Passkey
		}
		s, statement, err := a.approvalSigned(ctx, tx, who, k, which, n.Version.Value, level)
		if err != nil {
			return err
		}
		if n.Credential.Set {
			evidence, answered, err := passkeys.New(a.Core).Answer(ctx, tx, who.ID, n.Credential.Value)
			if err != nil {
				return err
			}
			if !answered.Covers(statement.Documents[0]) || answered.Authority != statement.Authority ||
				answered.Role != statement.Role {
				return core.FieldError("credential", "signs something else, or what was changed meanwhile; start again")
			}
			if s.Evidence, err = s.Proof(evidence); err != nil {
				return err
			}
		}
		if err := tx.Final(ctx); err != nil {
			return err
		}
		if err := tx.Institutions.Approvals.Update(ctx, which, s); err != nil {
			return err
		}
		if signed, err = tx.Institutions.Approvals.Get(ctx, id, which); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.ApprovalSign, k.officer(), object(id), signed.ID)
	})
	return signed, err
}

// AskApproval returns what the caller signs with a touch of a passkey, to sign the version of a standing approval that
// they saw. It is checked as at the signature.
func (a Institutions) AskApproval(ctx context.Context, who exchange.Actor, id, which int64,
	n approval.AskNew) (asked passkeys.Asked, err error) {
	if err := n.Validate(true).Err(); err != nil {
		return asked, err
	}
	err = a.Approvals.write(ctx, who, id, func(ctx context.Context, tx store.Conn, who exchange.Actor, k caller) error {
		_, statement, err := a.approvalSigned(ctx, tx, who, k, which, n.Version.Value, party.Passkey)
		if err != nil {
			return err
		}
		asked, err = passkeys.New(a.Core).Ask(ctx, tx, who.ID, statement)
		return err
	})
	return asked, err
}

// approvalSigned returns a version of an approval as it is once the caller has signed it at a level, and what they
// state with that.
func (a Institutions) approvalSigned(ctx context.Context, tx store.Conn, who exchange.Actor, k caller, which,
	version int64, level party.Level) (signed approval.Approval, s signing.Statement, err error) {
	id := k.institution.ID
	if err := a.May(ctx, tx, who, exchange.ApprovalSign, k.officer(), object(id)); err != nil {
		return signed, s, err
	}
	if signed, err = a.Approvals.find(ctx, tx, id, which); err != nil {
		return signed, s, err
	}
	if who.Scope != "" {
		return signed, s, exchange.Errorf(exchange.OutOfScope, "A program’s token cannot sign; sign in to do it (%s).",
			exchange.ApprovalSign)
	}
	authority, err := signsAlone(k, signed, exchange.ApprovalSign)
	if err != nil {
		return signed, s, err
	}
	if !level.Reaches(k.institution.LeastLevel) {
		return signed, s, exchange.Errorf(exchange.LevelTooLow, "%s asks for signatures of the level %s or higher.",
			k.institution.LegalName, k.institution.LeastLevel)
	}
	if err := refers(ctx, a.Core, tx, signed); err != nil {
		return signed, s, err
	}
	u, err := tx.Users.Get(ctx, who.ID)
	if err != nil {
		return signed, s, err
	}
	library, err := a.Library(ctx, tx)
	if err != nil {
		return signed, s, err
	}
	today := exchange.DayOf(tx.Now)
	if signed, err = signed.Sign(version, approval.Signature{Officer: u.ID, Identified: u.RegistryID, Level: level,
		On: today, Texts: library.Texts(signed.Families, today)}); err != nil {
		return signed, s, err
	}
	document, err := signed.Document()
	return signed, signing.Statement{Documents: []signing.Document{document}, Signer: who.ID.String(),
		Role: signed.Role(), Authority: authority.ID}, err
}
