package letters

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// executeRequests adds an executed agreement to requests, which are locked: one event for each, of which people are
// notified once, as of one thing. by signed last; who made the letter adds the document.
func (a Letters) executeRequests(ctx context.Context, tx store.Conn, by, madeBy uuid.UUID,
	list []request.Detail, number string, attachment int64) error {
	var events []request.Event
	for i := range list {
		q := &list[i]
		after, happened, err := q.ExecuteAgreement(by, madeBy, number, attachment, q.Terms, tx.Now)
		if err != nil {
			return err
		}
		if happened, err = a.SaveRequest(ctx, tx, q, after, happened); err != nil {
			return err
		}
		events = append(events, happened...)
	}
	return notifier.NotifyAboutGroup(ctx, tx, list, request.Roles{}, events)
}

// seal stores the PDF of a letter with a seal in the field of each signature, and one of the service. The seal names
// who signed, and which signature is the last is known only in its transaction; the sealer waits at most two seconds
// for a timestamp, and not again for a minute. If the transaction fails, no record names the file, and it is swept.
func (a Letters) seal(ctx context.Context, l letter.Agreement, i instrument.Instrument, signed []signing.Kept,
	now time.Time) (document.Content, error) {
	pdf, err := l.Letter.PDF(i)
	if err != nil {
		return document.Content{}, err
	}
	if a.Sealer != nil {
		reasons := map[string]string{}
		for _, s := range signed {
			reasons[strings.ToLower(s.Role)] = reason(s, s.At)
		}
		if pdf, err = a.Sealer.Seal(pdf, reasons, now); err != nil {
			return document.Content{}, err
		}
	}
	return a.Files.Put(ctx, bytes.NewReader(pdf), int64(len(pdf)))
}

// executedFile is the record of an executed agreement as a file: of the lab, and shared with the requester.
func executedFile(l letter.Agreement, content document.Content, now time.Time) document.Attachment {
	return document.Attachment{Filename: l.Letter.Number + ".pdf", Description: "Executed agreement",
		OwnedByOrg: &l.Organization, OwnedByUser: &l.Requester, OfLab: true, Content: &content, Version: 1,
		CreatedAt: now, UpdatedAt: now}
}

// sealed reads the file of an executed agreement.
func (a Letters) sealed(ctx context.Context, c store.Conn, attachment int64) ([]byte, error) {
	t, err := c.Attachments.Get(ctx, attachment)
	if err != nil {
		return nil, err
	}
	if t.Content == nil || t.ContentDeleted {
		return nil, exchange.Errorf(exchange.NotFound, "The file of this agreement was deleted.")
	}
	f, err := a.Files.Open(ctx, t.Content.Key)
	if err != nil {
		return nil, err
	}
	pdf, err := io.ReadAll(f)
	return pdf, errors.Join(err, f.Close())
}
