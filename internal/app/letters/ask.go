package letters

import (
	"context"
	"fmt"
	"slices"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// AskAndSign drafts a letter for requests that the caller just made, sends it, and signs it as the caller, who is
// signed in. Where a letter cannot be made, sent or signed, the error says why.
func (a Letters) AskAndSign(ctx context.Context, tx store.Conn, who exchange.Actor, requests []request.Detail) error {
	if who.Scope != "" {
		return exchange.Errorf(exchange.OutOfScope, "A program’s token cannot sign; leave out sign_agreement, or "+
			"sign in (%s).", exchange.AgreementSign)
	}
	own, err := tx.Institutions.OfPerson(ctx, who.ID)
	if err != nil {
		return err
	}
	var n letter.DraftNew
	if home := party.Home(own, exchange.DayOf(tx.Now)); home != 0 {
		n.Recipient = exchange.NullOf(exchange.Ref(home))
	}
	for _, q := range requests {
		n.Requests.Value = append(n.Requests.Value, exchange.Ref(q.ID))
	}
	l, err := a.draft(ctx, tx, who, n)
	if err != nil {
		return err
	}
	if err := a.send(ctx, tx, who.ID, &l); err != nil {
		return err
	}
	if err := tx.Agreements.Update(ctx, l); err != nil {
		return err
	}
	if err := a.RecordAction(ctx, tx, who, exchange.AgreementWrite, exchange.RequesterOf, object(l.ID),
		l.State); err != nil {
		return err
	}
	if !slices.Contains(l.Waits, party.RecipientScientist) { // its form asks no signature of them
		return nil
	}
	return a.signIn(ctx, tx, who, &l, exchange.RequesterOf, party.RecipientScientist, signing.DocumentOf(l))
}

// SignAhead signs a letter in the name of the owner of its lab, who signed in advance, once the lab has accepted all of
// its requests and a standing approval has signed for the institution. Otherwise, and where the signature would not
// count, nothing changes, and the owner signs as usual.
func (a Letters) SignAhead(ctx context.Context, tx store.Conn, id int64) error {
	l, err := tx.Agreements.ForUpdate(ctx, id)
	if err != nil || l.State != letter.Sent {
		return err
	}
	lab, err := tx.Organizations.Get(ctx, l.Organization)
	today := exchange.DayOf(tx.Now)
	if err != nil || !lab.SignedAhead(today) || lab.Owner != l.Scientist {
		return err
	}
	s, err := a.locked(ctx, tx, &l)
	if err != nil {
		return err
	}
	owner := party.Person{User: lab.Owner, Name: s.scientist.Name()}
	_, wrong := s.checks.Check(s.checks.Document, party.ProviderScientist, owner, party.SignedIn, today)
	for _, err := range []error{wrong, s.binds, s.still(l, s.instrument, today)} {
		if err != nil {
			return nil //nolint:nilerr // the owner signs as usual, and is then told why not
		}
	}
	approved := slices.ContainsFunc(s.signatures, func(k signing.Kept) bool {
		return k.Role == party.ProviderOfficial && k.Approval != nil
	})
	if !approved || slices.ContainsFunc(s.requests, func(q request.Detail) bool { return q.Status == request.Open }) {
		return nil
	}
	ahead := lab.SignsAhead
	if err := s.add(ctx, tx, Proof{Signer: owner, Role: party.ProviderScientist,
		Document: s.checks.Document, Level: party.SignedIn,
		Evidence: map[string]string{"signed_ahead_on": string(ahead.Since), "signs_ahead_until": string(*ahead.Until),
			"intent": fmt.Sprintf("Signed in advance on %s, until %s, for what a standing approval of the institution "+
				"covers.", ahead.Since, *ahead.Until)}}); err != nil {
		return err
	}
	if err := a.complete(ctx, tx, &s); err != nil {
		return err
	}
	return s.announceSigned(ctx, tx, party.ProviderScientist, owner)
}

// Askable returns the instrument by which somebody can ask for materials of a lab and sign at once; "": they ask
// first. Both institutions have to be known, that of the requester from others than themselves, and one instrument has
// to be right for all of the materials.
func (a Letters) Askable(ctx context.Context, c store.Conn, who exchange.Actor, organization int64,
	materials []int64) (title string, err error) {
	today := exchange.DayOf(c.Now)
	own, err := c.Institutions.OfPerson(ctx, who.ID)
	if err != nil {
		return "", err
	}
	l := letter.Agreement{Requester: who.ID, Organization: organization}
	l.Letter.Recipient = party.Home(own, today)
	_, confirmed := party.Affiliated(own, who.ID, l.Letter.Recipient, today)
	if l.Letter.Provider, err = core.ProviderOf(ctx, c, organization); err != nil || !confirmed ||
		l.Letter.Provider == 0 || l.Letter.Provider == l.Letter.Recipient {
		return "", err
	}
	var asked []request.Detail
	for _, id := range materials {
		asked = append(asked, request.Detail{Request: request.Request{MaterialID: id}})
	}
	m, err := a.drafting(ctx, c, l, asked)
	if err != nil || !m.provider.MayExecute(today) || !m.recipient.MayExecute(today) ||
		!party.SignedIn.Reaches(m.recipient.LeastLevel) {
		return "", err
	}
	i, _, err := m.resolve(instrument.UsualPurpose, "", today)
	if err != nil || !party.SignedIn.Reaches(party.Level(i.LeastLevel)) ||
		!slices.Contains(i.Signers, party.RecipientScientist) {
		return "", nil //nolint:nilerr // facts are missing, or no instrument is valid; the letter says so
	}
	return i.Title, nil
}
