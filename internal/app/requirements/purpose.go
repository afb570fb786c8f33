package requirements

import (
	"context"
	"slices"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// Purpose reads what the requester stated of the purpose of a request.
func (a Requirements) Purpose(ctx context.Context, who exchange.Actor, id int64) (p requirement.Purpose, err error) {
	c := a.DB.Read()
	q, err := c.Requests.Get(ctx, id)
	if err != nil {
		return p, err
	}
	if err := a.MayRead(ctx, who, exchange.RequestRead, q.RelationsOf(who, q.Organization),
		core.Object("request", id)); err != nil {
		return p, err
	}
	stated, err := c.Purposes.OfRequests(ctx, id)
	return stated[id], err
}

// StatePurpose changes what the requester states of the purpose of a request that is open.
func (a Requirements) StatePurpose(ctx context.Context, who exchange.Actor, id int64, body requirement.PurposePatch,
	match core.IfMatch[requirement.Purpose]) (p requirement.Purpose, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		q, err := tx.Requests.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.RequestPurpose, q.RelationsOf(who, q.Organization),
			core.Object("request", id)); err != nil {
			return err
		}
		p, err = a.statePurpose(ctx, tx, who, q, body, match)
		return err
	})
	return p, err
}

// statePurpose is StatePurpose by somebody who may, for a request that is locked.
func (a Requirements) statePurpose(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
	body requirement.PurposePatch, match core.IfMatch[requirement.Purpose]) (p requirement.Purpose, err error) {
	stated, err := tx.Purposes.OfRequests(ctx, q.ID)
	if err != nil {
		return p, err
	}
	old := stated[q.ID]
	if err := match.Check(old); err != nil {
		return p, err
	}
	if p, err = body.Patch(old); err != nil || core.Same(p, old) {
		return p, err
	}
	if !q.Active {
		return p, exchange.Errorf(exchange.RequestClosed, "This request is closed, so its purpose stays as it is.")
	}
	if err := tx.Purposes.Save(ctx, q.ID, p); err != nil {
		return p, err
	}
	return p, a.RecordAction(ctx, tx, who, exchange.RequestPurpose, q.RelationsOf(who, q.Organization),
		core.Object("request", q.ID), nil)
}

// Use is whether terms of data use allow what somebody wants materials for.
type Use struct {
	Asked   []string // the fields of the purpose that the terms ask about
	Allowed requirement.Answer
	Limits  []requirement.Limit
}

// UseOf returns whether the terms of materials allow a purpose of who today, before the materials are requested.
func (a Requirements) UseOf(ctx context.Context, who exchange.Actor, p requirement.Purpose,
	materials ...material.Material) (u Use, err error) {
	c := a.DB.Read()
	facts, err := core.FactsOf(ctx, c, materials...)
	if err != nil {
		return u, err
	}
	var terms []datause.Term
	for _, m := range materials {
		for _, term := range facts[m.ID].Uses {
			if !slices.Contains(terms, term) {
				terms = append(terms, term)
			}
		}
	}
	if len(terms) == 0 {
		return Use{Allowed: requirement.Yes}, nil
	}
	_, home, err := core.DestinationOf(ctx, c, who.ID, nil)
	if home.Vouched {
		p = p.By(home.Institution)
	}
	u.Asked = requirement.AskedBy(terms)
	u.Allowed, u.Limits = requirement.Match(terms, p, exchange.DayOf(c.Now))
	return u, err
}
