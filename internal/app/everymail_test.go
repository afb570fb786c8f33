package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/notifier"
	"aliquot/internal/clamd/clamdtest"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/mail"
	"aliquot/internal/mail/mailtest"
	"aliquot/internal/notice"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
)

// TestMail_EveryKindOfMessageReachesTheServer makes everything happen that people are notified of, by real actions, and
// checks what a real mail server got.
func TestMail_EveryKindOfMessageReachesTheServer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHearing(t, db)
		server := mailtest.Start(t)
		var err error
		h.app.PublicURL = "https://aliquot.example.org"
		h.app.Mail, err = mail.Open(server.URL, "aliquot@example.org", slog.New(slog.DiscardHandler))
		h.must(err)
		h.app.Notice, err = notice.New(h.app.PublicURL)
		h.must(err)
		for name, who := range h.people {
			_, err := h.app.Accounts.UpdateUser(t.Context(), who, who.ID,
				person.UserPatch{Email: exchange.Some(name + "@example.org")}, nil)
			h.must(err)
		}
		h.work(1)

		table := cells(hears)[1:]
		for i, a := range acts {
			column := slices.IndexFunc(table[i][1:], func(cell string) bool { return cell != "-" }) // who may
			h.do(a, actors[column][0][0], actors[column][0][1], table[i][1+column])
		}
		keepFiles(t, h.app)
		execute(t, h.app, h.lab, h.people["admin"], h.people["owner"], h.people["requester"])
		h.told()
		h.wait()
		h.ask("requester", "")
		h.ask("requester", "Why")
		for range 4 { // up to day 28: reminders, and then an escalation
			h.set(h.now.Load().AddDate(0, 0, 7))
			h.remind(1)
		}
		h.membership()
		h.must(db.Tx(t.Context(), h.webhookOff))
		h.save(h.people["stranger"], "zebrafish")
		h.save(h.people["member"], "zebrafish")
		h.list(h.people["owner"], "Zebrafish <1>", nil)
		h.alertOf(1)
		h.wait()
		_, err = h.app.Accounts.UpdateMailSettings(t.Context(), h.people["member"], h.people["member"].ID,
			mailing.Patch{Delivery: exchange.Some("DAILY")}, nil)
		h.must(err)
		h.ask("requester", "Why")
		h.told()
		h.list(h.people["owner"], "Zebrafish <2>", nil)
		h.alertOf(2)
		h.told()
		h.set(h.now.Load().AddDate(0, 0, 1))
		h.wait()
		h.must(db.Tx(t.Context(), h.dutyDue))
		h.permit(h.people["stranger"], "2026-117", 14, nil)
		h.remindOfPermits(1)
		h.must(db.Tx(t.Context(), h.passkeys))
		h.must(db.Tx(t.Context(), h.recordFaulty)) // after which the owner is an admin
		_, err = h.app.Accounts.AskErasure(t.Context(), h.people["owner"], h.people["stranger"].ID,
			person.ErasureNew{Reason: exchange.Some("They asked by letter")})
		h.must(err)
		h.told()
		h.wait() // so that no mail is under way while the virus scanner starts, which takes all of a processor
		h.virus()
		h.wait()
		h.agreements()
		h.wait()
		h.set(h.now.Load().Add(2 * time.Hour)) // of those that are combined, or are tried again
		h.wait()

		for _, kind := range request.EventKinds {
			h.sent("request_events", "event_id", string(kind))
		}
		for _, kind := range notify.AnnouncementKinds {
			h.sent("news", "news_id", string(kind))
		}
		ids := map[string]bool{}
		for _, l := range server.Messages() {
			id := l.Header.Get("Message-Id")
			if ids[id] || id == "" || l.Subject == "" || l.Text == "" || l.HTML == "" ||
				l.From != "aliquot@example.org" {
				t.Errorf("message %q, %q, of %d and %d bytes", id, l.Subject, len(l.Text), len(l.HTML))
			}
			ids[id] = true
		}
		// who is nobody here; who wants digests
		for _, l := range []string{"newcomer@example.org", "member@example.org"} {
			if !slices.ContainsFunc(server.Messages(), func(m mailtest.Letter) bool { return m.To == l }) {
				t.Errorf("nothing came for %s", l)
			}
		}
		for to, text := range map[string]string{"stranger@example.org": "1 material is new in your saved search " +
			"zebrafish.", "member@example.org": "== New in your saved searches =="} {
			if !slices.ContainsFunc(server.Messages(), func(m mailtest.Letter) bool {
				return m.To == to && strings.Contains(m.Text, text) && strings.Contains(m.HTML, "Zebrafish &lt;")
			}) {
				t.Errorf("%s did not get %q", to, text)
			}
		}
		if !slices.ContainsFunc(server.Messages(), func(m mailtest.Letter) bool {
			return m.To == "stranger@example.org" && strings.Contains(m.Subject, "the permit 2026-117 ends soon") &&
				strings.Contains(m.Text, h.app.PublicURL+"/permit#permit-")
		}) {
			t.Error("nothing came about the permit")
		}
		if n := len(server.Messages()); n < 100 {
			t.Errorf("%d messages came", n)
		}
	})
}

// alertOf runs alerts until stranger and member have got so many; what one run has locked, another leaves for the next.
func (h *hearing) alertOf(times int) {
	h.Helper()
	jobtest.Poll(h, "both were notified of what is new", func() bool {
		h.alert(1)
		return len(h.alerted(h.people["stranger"])) == times && len(h.alerted(h.people["member"])) == times
	})
}

// membership makes everything happen that people are notified of about lab membership, and about an inquiry.
func (h *hearing) membership() {
	h.Helper()
	ctx, owner, stranger, former := h.Context(), h.people["owner"], h.people["stranger"], h.people["former"]
	asked, err := h.app.Inquiries.Ask(ctx, stranger, h.material, request.TextBody{Text: exchange.Some("Which lot?")})
	h.must(err)
	h.wait()
	_, err = h.app.Inquiries.Answer(ctx, owner, asked.ID, request.TextBody{Text: exchange.Some("Lot 7.")})
	h.must(err)
	_, _, err = h.app.Labs.Invite(ctx, owner, h.lab, lab.InvitationNew{Email: exchange.Some("newcomer@example.org")})
	h.must(err)
	for _, to := range []lab.InvitationStatus{lab.InvitationDeclined, lab.InvitationAccepted} {
		h.set(h.now.Load().Add(time.Hour)) // nobody is invited twice within the pause
		v, _, err := h.app.Labs.Invite(ctx, owner, h.lab,
			lab.InvitationNew{RegistryID: exchange.Some("hears-stranger")})
		h.must(err)
		h.wait()
		_, err = h.app.Labs.Answer(ctx, stranger, stranger.ID, v.ID, to)
		h.must(err)
	}
	for _, to := range []lab.JoinStatus{lab.JoinDeclined, lab.JoinAccepted} {
		h.set(h.now.Load().Add(49 * time.Hour))
		v, _, err := h.app.Labs.AskToJoin(ctx, former, h.lab, lab.JoinNew{Note: exchange.Some("I am back")})
		h.must(err)
		h.wait()
		_, err = h.app.Labs.AnswerJoin(ctx, owner, h.lab, v.ID, to, lab.JoinDecline{})
		h.must(err)
	}
}

// webhookOff announces that a webhook was disabled; the tests of the API make it really happen.
func (h *hearing) webhookOff(ctx context.Context, tx store.Conn) error {
	off := notify.Announcement{Kind: notify.WebhookOff, Organization: h.lab,
		Detail: notify.AnnouncementDetail{Webhook: 1, Reason: "it answered 410 Gone"}}
	var err error
	if off.ID, err = tx.Notifications.InsertAnnouncement(ctx, off); err != nil {
		return err
	}
	if err := tx.Notifications.Announce(ctx, off, h.people["owner"].ID); err != nil {
		return err
	}
	_, err = notifier.RestJob.Enqueue(ctx, tx, notifier.NotifyArgs{Organization: h.lab, Announcement: off.ID}, job.EnqueueOptions{})
	return err
}

// passkeys announces changes of passkeys and of sign-ins; TestPasskey_IsAnnouncedToItsUser and
// TestSignIn_AtAnotherProviderIsLinkedOnce make them.
func (h *hearing) passkeys(ctx context.Context, tx store.Conn) error {
	announce := func(kind notify.AnnouncementKind, by uuid.UUID) error {
		return notifier.NotifyPeople(ctx, tx, notify.Announcement{Kind: kind, Actor: by,
			Detail: notify.AnnouncementDetail{Name: "Laptop"}}, h.people["stranger"].ID)
	}
	owner := h.people["owner"].ID
	return errors.Join(announce(notify.PasskeyAdded, uuid.Nil), announce(notify.PasskeyRemoved, owner),
		announce(notify.SignInLinked, uuid.Nil), announce(notify.SignInUnlinked, owner))
}

// dutyDue announces to a requester what they owe; TestDuties_FollowFromTheTermsAndCloseTheAgreement makes it really
// happen.
func (h *hearing) dutyDue(ctx context.Context, tx store.Conn) error {
	requester, owner := h.people["stranger"].ID, h.people["owner"].ID
	i := party.NewInstitution(owner)
	i.LegalName, i.Country, i.CreatedAt, i.UpdatedAt = "University", "DE", tx.Now, tx.Now
	institution, err := tx.Institutions.Insert(ctx, i)
	if err != nil {
		return err
	}
	id, err := tx.Agreements.Insert(ctx, letter.Agreement{State: letter.Executed, Requester: requester,
		Organization: h.lab, Scientist: owner, MadeBy: requester,
		Letter: letter.Letter{Provider: institution, Recipient: institution}})
	if err != nil {
		return err
	}
	if err := tx.Duties.Insert(ctx, duty.Of(id, []term.Term{term.Report}, "", tx.Now)); err != nil {
		return err
	}
	owed, err := tx.Duties.Of(ctx, id)
	if err != nil {
		return err
	}
	return notifier.NotifyPeople(ctx, tx, notify.Announcement{Kind: notify.DutyDue, Organization: h.lab,
		Detail: notify.AnnouncementDetail{Agreement: id, Duty: owed[0].ID, Name: letter.Number(id),
			Reason: owed[0].Words()}}, requester)
}

// recordFaulty announces to an admin that the record has faults; TestVerify_OfTheNightNotifiesAdminsOfFaults makes it
// really happen.
func (h *hearing) recordFaulty(ctx context.Context, tx store.Conn) error {
	u, err := tx.Users.ForUpdate(ctx, h.people["owner"].ID)
	if err != nil {
		return err
	}
	u.Admin = true
	if err := tx.Users.Update(ctx, u); err != nil {
		return err
	}
	return notifier.NotifyPeople(ctx, tx, notify.Announcement{Kind: notify.RecordFaulty,
		Detail: notify.AnnouncementDetail{Count: 2, Reason: "request/7, event 3: it was altered"}}, u.ID)
}

// agreements has a letter sent, signed, declined and withdrawn. The owner is an admin by then.
func (h *hearing) agreements() {
	h.Helper()
	owner := h.people["owner"]
	owner.Admin = true
	v := propose(h.T, h.app, h.lab, owner, owner, h.people["stranger"], exchange.Opt[string]{}, func(_, _ int64) {})
	h.wait() // who is asked to sign is mailed only while it can be signed
	v = signIn(h.T, h.app, owner, v, "PROVIDER_SCIENTIST")
	_, err := h.app.Letters.Decline(h.Context(), owner, v.ID, "The quantity is wrong.")
	h.must(err)
	_, err = h.app.Letters.Withdraw(h.Context(), owner, v.ID, "It is not needed.")
	h.must(err)
}

// virus has the requester upload a virus, which a scanner finds.
func (h *hearing) virus() {
	h.Helper()
	h.app.Scanner, h.app.UploadLimit = clamdtest.Start(h.T).Client, 1000
	jobtest.Start(h.T, job.Config{DB: h.db, Handlers: h.app.Senders(), Log: slog.New(slog.DiscardHandler)})
	who := h.people["requester"]
	t, err := h.app.Documents.CreateAttachment(h.Context(), who,
		document.AttachmentPatch{Filename: exchange.Some("protocol.txt")}, nil)
	h.must(err)
	_, err = h.app.Documents.PutContent(h.Context(), who, t.ID, "protocol.txt", strings.NewReader(clamdtest.Eicar), nil)
	h.must(err)
	jobtest.Poll(h.T, "the file is scanned", func() bool {
		t, err = h.app.Documents.Attachment(h.Context(), who, t.ID)
		h.must(err)
		return t.Content.Scan.State == document.Infected
	})
}

// wait waits until no mail is pending.
func (h *hearing) wait() {
	h.Helper()
	jobtest.Poll(h.T, "no mail is under way", func() bool {
		var n int
		h.must(h.sql.QueryRowContext(h.Context(), "SELECT COUNT(*) FROM jobs WHERE (kind = 'tell' OR kind LIKE "+
			"'mail.%') AND (state = 'RUNNING' OR due_at <= $1)",
			*h.now.Load()).Scan(&n))
		return n == 0
	})
}

// sent checks that mail about a kind of event or announcement was sent.
func (h *hearing) sent(table, column, kind string) {
	h.Helper()
	var n int
	h.must(h.sql.QueryRowContext(h.Context(), fmt.Sprintf("SELECT COUNT(*) FROM notifications n JOIN %s e ON e.id = "+
		"n.%s WHERE n.mail = 'SENT' AND e.kind = $1", table, column), kind).Scan(&n))
	if n == 0 {
		h.Errorf("no mail was sent about %s", kind)
	}
}
