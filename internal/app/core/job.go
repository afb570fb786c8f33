package core

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// BulkMaterials is the kind of job that imports a spreadsheet of materials. A step handles a part of the rows: its
// results, its effects and the progress of the job are one transaction.
var BulkMaterials = job.Kind[BulkArgs]{Name: "materials.bulk", MaxAttempts: 5, Heavy: true}

// BulkArgs are the arguments of a BulkMaterials job.
type BulkArgs struct {
	Order    material.BulkOptions
	Mapping  map[string]string      // all that the organization has said about its headers so far
	Values   []material.Replacement // cell values that are read as others
	Operator bool                   // it was started on the command line
}

// Job reads a job of who; admins may read any job.
func (a *Core) Job(ctx context.Context, who exchange.Actor, id int64) (exchange.Job, error) {
	j, err := a.DB.Read().Jobs.Get(ctx, id)
	if err != nil {
		return j, err
	}
	rel, err := ToJob(ctx, a.DB.Read(), who, j)
	if err != nil {
		return j, err
	}
	return j, a.MayRead(ctx, who, exchange.JobRead, rel, Object("job", id))
}

// ToJob returns the relations of who to a job. Aliquot's own jobs belong to nobody; a token limited to one lab has only
// the spreadsheets that its user sent for that lab.
func ToJob(ctx context.Context, c store.Conn, who exchange.Actor, j exchange.Job) (exchange.Relation, error) {
	if j.User == nil {
		return who.ToUser(uuid.Nil), nil
	}
	rel := who.ToUser(*j.User)
	if who.Lab == 0 || *j.User != who.ID || j.Kind != BulkMaterials.Name {
		return rel, nil
	}
	b, err := c.Bulk.Get(ctx, j.ID)
	if err == nil && who.MemberOf(b.OrganizationID) {
		rel |= exchange.OwnerOf
	}
	return rel, err
}
