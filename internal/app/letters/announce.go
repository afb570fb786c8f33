package letters

import (
	"context"
	"slices"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// announce notifies people, and the webhooks of the lab, of what was done with a letter.
func announce(ctx context.Context, tx store.Conn, l letter.Agreement, n notify.Announcement,
	people ...uuid.UUID) error {
	n.Organization, n.At = l.Organization, tx.Now
	n.Detail.Agreement, n.Detail.Name = l.ID, l.Letter.Number
	n.Detail.Executed = l.State == letter.Executed
	return notifier.NotifyPeople(ctx, tx, n, people...)
}

// scientists returns who signs as a scientist, by role.
func (s *signable) scientists() map[string]uuid.UUID {
	return map[string]uuid.UUID{party.ProviderScientist: s.letter.Scientist,
		party.RecipientScientist: s.letter.Requester}
}

// announceSent asks those for a signature who have an account and may give it today. People without one get a link.
func (s *signable) announceSent(ctx context.Context, tx store.Conn, by uuid.UUID) error {
	var people []uuid.UUID
	for _, role := range s.letter.Waits {
		if id, ok := s.scientists()[role]; ok {
			people = append(people, id)
		}
		for _, p := range s.checks.Officials(role, exchange.DayOf(tx.Now)) {
			if p.User != uuid.Nil {
				people = append(people, p.User)
			}
		}
	}
	return announce(ctx, tx, *s.letter, notify.Announcement{Kind: notify.AgreementSent, Actor: by}, people...)
}

// announceSigned notifies who made the letter, and who has signed it, of a signature: the others are asked for theirs
// already. Of the execution, the scientists are notified by their requests.
func (s *signable) announceSigned(ctx context.Context, tx store.Conn, role string, signer party.Person) error {
	n := notify.Announcement{Kind: notify.AgreementSigned, Actor: signer.User,
		Detail: notify.AnnouncementDetail{As: role}}
	if signer.User == uuid.Nil {
		n.Detail.Person = signer.Name
	}
	people := append(signers(s.signatures), s.letter.MadeBy)
	for role, id := range s.scientists() {
		switch {
		case s.letter.State == letter.Executed:
			people = slices.DeleteFunc(people, func(p uuid.UUID) bool { return p == id })
		case !slices.Contains(s.letter.Waits, role):
			people = append(people, id)
		}
	}
	return announce(ctx, tx, *s.letter, n, people...)
}

// announceEnd notifies all who take part in a letter that was sent that it was declined or withdrawn, with the reason.
func announceEnd(ctx context.Context, tx store.Conn, l letter.Agreement, n notify.Announcement) error {
	if l.SentAt == nil {
		return nil
	}
	signatures, err := newestSignatures(ctx, tx, l)
	if err != nil {
		return err
	}
	n.Detail.Text = l.Reason
	people := append(signers(signatures), l.Requester, l.Scientist, l.MadeBy)
	return announce(ctx, tx, l, n, people...)
}

// signers returns the officials with an account who signed, themselves and not by a standing approval.
func signers(signatures []signing.Kept) (people []uuid.UUID) {
	for _, k := range signatures {
		if party.IsOfficial(k.Role) && k.Approval == nil && k.Signer.Person.User != uuid.Nil {
			people = append(people, k.Signer.Person.User)
		}
	}
	return people
}
