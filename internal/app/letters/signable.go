package letters

import (
	"context"
	"encoding/json"
	"errors"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// signable is a letter with what its signatures are checked against.
type signable struct {
	drafting
	letter     *letter.Agreement
	requests   []request.Detail
	instrument instrument.Instrument
	checks     signing.Agreement
	signatures []signing.Kept // of the newest version
	embargo    error          // why nothing may be sent there today; nil: it may
	binds      error          // why it binds not both institutions today; nil: it does
}

// locked reads what the signatures of a letter, whose row is locked, are checked against. Its requests are locked, and
// both institutions are kept as they are, with who may sign for them, so that all of it holds until commit. Other
// letters of the same institutions do not wait: the row of a new one refers to them already, so that with a lock of its
// own two new letters would wait for each other.
func (a Letters) locked(ctx context.Context, tx store.Conn, l *letter.Agreement) (s signable, err error) {
	requests, err := requestsOf(ctx, tx, *l, l.Letter.RequestIDs())
	if err != nil {
		return s, err
	}
	for _, id := range []int64{l.Letter.Provider, l.Letter.Recipient} {
		if _, err := tx.Institutions.ForShare(ctx, id); err != nil {
			return s, err
		}
	}
	return a.signable(ctx, tx, l, requests)
}

// signable reads what the signatures of a letter for some requests are checked against.
func (a Letters) signable(ctx context.Context, c store.Conn, l *letter.Agreement,
	requests []request.Detail) (s signable, err error) {
	s.letter, s.requests = l, requests
	if s.drafting, err = a.drafting(ctx, c, *l, requests); err != nil {
		return s, err
	}
	if s.instrument, err = a.instrument(ctx, c, l.Letter); err != nil {
		return s, err
	}
	var addresses []*person.Address
	for _, q := range requests {
		addresses = append(addresses, q.Address)
	}
	s.embargo = a.MayGo(ctx, c, l.Requester, addresses...)
	if s.binds = s.embargo; s.binds == nil {
		s.binds = binding(ctx, c, *l, s.drafting)
	}
	if s.binds != nil && exchange.CodeOf(s.binds).ServerFault() {
		return s, s.binds
	}
	s.checks = signing.Agreement{Instrument: s.instrument, Document: signing.DocumentOf(*l),
		Provider:  signing.Side{Institution: s.provider, Scientist: party.Person{User: l.Scientist}},
		Recipient: signing.Side{Institution: s.recipient, Scientist: party.Person{User: l.Requester}}}
	if s.checks.Provider.Register, err = c.Institutions.Register(ctx, s.provider.ID); err != nil {
		return s, err
	}
	if s.checks.Recipient.Register, err = c.Institutions.Register(ctx, s.recipient.ID); err != nil {
		return s, err
	}
	for _, one := range s.materials {
		f := s.facts[one.ID]
		s.checks.Acts = append(s.checks.Acts, party.Act{Family: s.instrument.Family, Category: one.Category,
			Human: f.Human != requirement.NotHuman, BSL: f.BSL.Number()})
	}
	s.signatures, err = newestSignatures(ctx, c, *l)
	s.checks.Signatures = plain(s.signatures)
	return s, err
}

// add keeps a signature, if it counts.
func (s *signable) add(ctx context.Context, tx store.Conn, p Proof) error {
	signer, err := s.checks.Check(p.Document, p.Role, p.Signer, p.Level, exchange.DayOf(tx.Now))
	if err != nil {
		return refusal(err, p.Document)
	}
	evidence, err := json.Marshal(p.Evidence)
	if err != nil {
		return err
	}
	kept := signing.Kept{Agreement: s.letter.ID, Evidence: evidence, Approval: p.Approval,
		Signature: signing.Signature{Document: p.Document, Role: p.Role, Signer: signer, Level: p.Level, At: tx.Now}}
	kept.Signer.Person.Name = p.Signer.Name
	if signer.For != nil {
		if kept.Represents, err = nameOf(ctx, tx, *signer.For); err != nil {
			return err
		}
	}
	if err := tx.Final(ctx); err != nil {
		return err
	}
	if kept.ID, err = tx.Agreements.Sign(ctx, kept); err != nil {
		return err
	}
	s.signatures = append(s.signatures, kept)
	s.checks.Signatures = append(s.checks.Signatures, kept.Signature)
	return nil
}

// complete has standing approvals sign for the officials whose signature they are, and executes the letter once
// everybody has signed it.
func (a Letters) complete(ctx context.Context, tx store.Conn, s *signable) error {
	if err := s.signByApprovals(ctx, tx); err != nil {
		return err
	}
	if s.letter.Waits = s.checks.Unsigned(); len(s.letter.Waits) > 0 {
		return tx.Agreements.SetWaits(ctx, s.letter.ID, s.letter.Waits)
	}
	return a.execute(ctx, tx, s)
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
