package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// takeIn makes a user a member of an organization that is locked, and ends what else asks for that.
func takeIn(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action, o exchange.Organization, user uuid.UUID) error {
	if err := tx.Join(ctx, o.ID, user); err != nil {
		return err
	}
	if err := tx.Settle(ctx, o.ID); err != nil {
		return err
	}
	joined, err := showOrganization(ctx, tx, o)
	if err != nil {
		return err
	}
	return keepOrganization(ctx, tx, who, action, false, joined)
}

// newsOf is news of an invitation.
func newsOf(v exchange.ShownInvitation, kind exchange.NewsKind, actor uuid.UUID) exchange.News {
	return exchange.News{Kind: kind, Actor: actor, Organization: v.OrganizationID, Detail: exchange.NewsDetail{Invitation: v.ID, Role: v.Role}}
}

// newsOfJoin is news of a join request.
func newsOfJoin(j exchange.JoinRequest, kind exchange.NewsKind, actor uuid.UUID) exchange.News {
	return exchange.News{Kind: kind, Actor: actor, Organization: j.OrganizationID,
		Detail: exchange.NewsDetail{JoinRequest: j.ID, Text: j.Note, Reason: j.Reason}}
}

// tellNews tells people of what happened outside of requests. The actor hears nothing of their own act.
func tellNews(ctx context.Context, tx store.Conn, n exchange.News, people ...uuid.UUID) error {
	var err error
	if n.ID, err = tx.InsertNews(ctx, n); err != nil {
		return err
	}
	if err := tx.NotifyOf(ctx, n, people...); err != nil {
		return err
	}
	_, err = Tell.Enqueue(ctx, tx, Telling{Organization: n.Organization, News: n.ID}, job.Order{Turn: n.Actor})
	return err
}
