package transfer

import (
	"context"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Inquiries are the use cases of questions about materials without a request.
type Inquiries struct{ *core.Core }

// Ask asks the lab of a material a question. The contact of the material, or the owner of a lab that they left, is
// notified; every member may answer. Conflict for a material of the caller's own lab, and while the caller waits for
// the answer to another question about it; at most request.MaxInquiries a day.
func (a Inquiries) Ask(ctx context.Context, who exchange.Actor, material int64,
	body request.TextBody) (i request.ShownInquiry, err error) {
	question, err := body.Check()
	if err != nil {
		return i, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.InquiryCreate, who.Relations(),
			core.Object("material", material)); err != nil {
			return err
		}
		if _, err := tx.Users.ForUpdate(ctx, who.ID); err != nil { // locked, or they could ask many at once
			return err
		}
		m, err := tx.Materials.ForShare(ctx, material)
		if err != nil {
			return err
		}
		if err := offered(m, tx.Now); err != nil {
			return err
		}
		if who.MemberOf(m.OrganizationID) {
			return exchange.Errorf(exchange.Conflict, "This material belongs to your own lab.")
		}
		if err := mayAskNow(ctx, tx, who.ID, material); err != nil {
			return err
		}
		contact, err := assignee(ctx, tx, m)
		if err != nil {
			return err
		}
		id, err := tx.Inquiries.Insert(ctx, request.Inquiry{MaterialID: material, OrganizationID: m.OrganizationID,
			UserID: who.ID, Question: question})
		if err != nil {
			return err
		}
		if i, err = tx.Inquiries.Get(ctx, id); err != nil {
			return err
		}
		return notifier.NotifyPeople(ctx, tx, inquiryAnnouncement(i, notify.InquiryMade, who.ID, question), contact)
	})
	return i, err
}

// mayAskNow returns an error that says why a person cannot ask another question about a material now; nil if they can.
func mayAskNow(ctx context.Context, tx store.Conn, user uuid.UUID, material int64) error {
	waits, err := tx.Inquiries.Unanswered(ctx, user, material)
	if err != nil {
		return err
	}
	if waits {
		return exchange.Errorf(exchange.Conflict, "The lab has not answered your last inquiry about this material yet.")
	}
	const day = 24 * time.Hour
	made, err := tx.Inquiries.MadeSince(ctx, user, tx.Now.Add(-day))
	if err != nil || len(made) < request.MaxInquiries {
		return err
	}
	return exchange.NotBefore(made[0].Add(day), tx.Now, "You asked as many questions as one can within a day")
}

func inquiryAnnouncement(i request.ShownInquiry, kind notify.AnnouncementKind, actor uuid.UUID,
	text string) notify.Announcement {
	return notify.Announcement{Kind: kind, Actor: actor, Organization: i.OrganizationID,
		Detail: notify.AnnouncementDetail{Inquiry: i.ID, Name: i.Material, Text: text}}
}

// Inquiry reads one inquiry.
func (a Inquiries) Inquiry(ctx context.Context, who exchange.Actor, id int64) (request.ShownInquiry, error) {
	i, err := a.DB.Read().Inquiries.Get(ctx, id)
	if err != nil {
		return i, err
	}
	return i, a.MayRead(ctx, who, exchange.InquiryRead, i.RelationsOf(who), core.Object("inquiry", id))
}

// Answer answers an inquiry, and notifies the person who asked.
func (a Inquiries) Answer(ctx context.Context, who exchange.Actor, id int64,
	body request.TextBody) (i request.ShownInquiry, err error) {
	answer, err := body.Check()
	if err != nil {
		return i, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if i, err = tx.Inquiries.ForUpdate(ctx, id); err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.InquiryAnswer, i.RelationsOf(who),
			core.Object("inquiry", id)); err != nil {
			return err
		}
		again := i.AnsweredAt != nil
		if i.Inquiry, err = i.Answered(answer, who.ID, tx.Now); err != nil || again {
			return err
		}
		if err := tx.Inquiries.Save(ctx, i.Inquiry); err != nil {
			return err
		}
		return notifier.NotifyPeople(ctx, tx, inquiryAnnouncement(i, notify.InquiryAnswered, who.ID, answer), i.UserID)
	})
	return i, err
}

// InquiriesOf lists the inquiries of a user.
func (a Inquiries) InquiriesOf(ctx context.Context, who exchange.Actor, user uuid.UUID, f request.InquiryFilter,
	p exchange.Page) (exchange.ListPage[request.ShownInquiry], error) {
	if err := a.MayRead(ctx, who, exchange.InquiryRead, who.ToUser(user),
		core.Object("inquiries of", user)); err != nil {
		return exchange.ListPage[request.ShownInquiry]{}, err
	}
	return a.DB.Read().Inquiries.OfUser(ctx, user, f, p)
}

// InquiriesTo lists the inquiries about the materials of an organization.
func (a Inquiries) InquiriesTo(ctx context.Context, who exchange.Actor, organization int64, f request.InquiryFilter,
	p exchange.Page) (exchange.ListPage[request.ShownInquiry], error) {
	c := a.DB.Read()
	_, err := c.Organizations.Get(ctx, organization)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.InquiryRead, who.ToOrganization(organization),
			core.Object("inquiries of organization", organization))
	}
	if err != nil {
		return exchange.ListPage[request.ShownInquiry]{}, err
	}
	return c.Inquiries.OfLab(ctx, organization, f, p)
}

// InquiryInbox lists the inquiries that the caller made, or with ofLabs those about the materials of their labs.
func (a Inquiries) InquiryInbox(ctx context.Context, who exchange.Actor, ofLabs bool, f request.InquiryFilter,
	p exchange.Page) (exchange.ListPage[request.ShownInquiry], error) {
	if !ofLabs {
		return a.InquiriesOf(ctx, who, who.ID, f, p)
	}
	if err := a.MayRead(ctx, who, exchange.InquiryRead, who.ToUser(who.ID), "inquiries"); err != nil {
		return exchange.ListPage[request.ShownInquiry]{}, err
	}
	return a.DB.Read().Inquiries.OfMember(ctx, who.ID, f, p)
}

// ToAnswer counts the inquiries that wait for an answer of the caller's labs, up to 100.
func (a Inquiries) ToAnswer(ctx context.Context, who exchange.Actor) (int64, error) {
	if len(who.Organizations) == 0 {
		return 0, nil
	}
	return a.DB.Read().Inquiries.ToAnswer(ctx, who.ID)
}

// resolveInquiry records that a request was made because of an inquiry, which must be the requester's own, about the
// same material, and without a request.
func resolveInquiry(ctx context.Context, tx store.Conn, id int64, r request.Request) error {
	i, err := tx.Inquiries.ForUpdate(ctx, id)
	if err != nil {
		return core.Refer(err, "inquiry", id)
	}
	switch {
	case i.UserID != r.Requester:
		return core.Refer(core.NoMaterial(), "inquiry", id)
	case i.MaterialID != r.MaterialID:
		return core.FieldError("inquiry", "is about another material")
	case i.RequestID != nil:
		return core.FieldError("inquiry", "already led to request %d", *i.RequestID)
	}
	i.RequestID = &r.ID
	return tx.Inquiries.Save(ctx, i.Inquiry)
}
