package transfer

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Parcel is a request with what the labels on its parcel show.
type Parcel struct {
	request.Detail
	Now    time.Time
	Item   material.Material
	Lab    string // the lab that sends it
	Sender string // the person who sends it
}

// Parcel reads a request for the person who packs it.
func (a Requests) Parcel(ctx context.Context, who exchange.Actor, id int64) (Parcel, error) {
	q, err := a.DB.Read().Requests.Get(ctx, id)
	if err != nil {
		return Parcel{}, err
	}
	if err := a.MayRead(ctx, who, exchange.RequestShip, q.RelationsOf(who, q.Organization),
		core.Object("request", id)); err != nil {
		return Parcel{}, err
	}
	list, err := a.parcels(ctx, []request.Detail{q})
	if err != nil {
		return Parcel{}, err
	}
	return list[0], nil
}

// Parcels reads requests for the person who packs them, in the order of ids, with a fixed number of statements. It
// leaves out requests that do not exist or that the caller does not pack, and returns their ids as the ones left out.
func (a Requests) Parcels(ctx context.Context, who exchange.Actor, ids []int64) (list []Parcel, left []int64,
	err error) {
	found, err := a.DB.Read().Requests.ByIDs(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	var theirs []request.Detail
	var asAdmin []int64
	for _, id := range ids {
		i := slices.IndexFunc(found, func(q request.Detail) bool { return q.ID == id })
		if i < 0 {
			left = append(left, id)
			continue
		}
		switch admin, err := a.Can(who, exchange.RequestShip,
			found[i].Request.RelationsOf(who, found[i].Organization)); {
		case err != nil:
			left = append(left, id)
			continue
		case admin:
			asAdmin = append(asAdmin, id)
		}
		theirs = append(theirs, found[i])
	}
	if len(asAdmin) > 0 {
		if err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
			for _, id := range asAdmin {
				if err := tx.Audit.Insert(ctx, core.ActorID(who), exchange.RequestShip, core.Object("request", id),
					true, nil); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return nil, nil, err
		}
	}
	list, err = a.parcels(ctx, theirs)
	return list, left, err
}

// parcels adds to requests what their labels show.
func (a Requests) parcels(ctx context.Context, requests []request.Detail) ([]Parcel, error) {
	c := a.DB.Read()
	var materials, labs []int64
	var senders []uuid.UUID
	for _, q := range requests {
		materials, labs, senders = append(materials, q.MaterialID), append(labs, q.Organization),
			append(senders, q.AssignedTo)
	}
	items, err := c.Materials.ShownByIDs(ctx, materials)
	if err != nil {
		return nil, err
	}
	organizations, err := c.Organizations.ByIDs(ctx, labs)
	if err != nil {
		return nil, err
	}
	users, err := c.Users.ByIDs(ctx, senders)
	if err != nil {
		return nil, err
	}
	byID, names, people := map[int64]material.Material{}, map[int64]string{}, map[uuid.UUID]string{}
	for _, m := range items {
		byID[m.ID] = m.Material
	}
	for _, o := range organizations {
		names[o.ID] = o.Name
	}
	for _, u := range users {
		people[u.ID] = u.Name()
	}
	list := make([]Parcel, len(requests))
	for i, q := range requests {
		list[i] = Parcel{Detail: q, Now: c.Now, Item: byID[q.MaterialID], Lab: names[q.Organization],
			Sender: people[q.AssignedTo]}
	}
	return list, nil
}
