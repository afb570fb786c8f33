package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// Sorted returns the sorted keys of a map.
func Sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// ImportMaterials is the kind of job that imports many materials, one after the other, each in a step. For about a day
// it retries a source that is down.
var ImportMaterials = job.Kind[material.BatchImportOptions]{Name: "materials.import", MaxAttempts: 36, Heavy: true}

// Imports enqueues a job that imports materials, or previews the imports. Whoever may import one may import many;
// malformed identifiers are refused at once.
func (a Materials) Imports(ctx context.Context, who exchange.Actor, n material.BatchImportBody) (j exchange.Job,
	err error) {
	order, err := n.Check()
	if err != nil {
		return j, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		first := order.Orders[0] // organization and grant are the same for all
		asAdmin, err := a.mayImport(ctx, tx, who, first)
		if err == nil && asAdmin {
			err = tx.Audit.Insert(ctx, core.ActorID(who), exchange.MaterialImport,
				core.Object("organization", first.OrganizationID), true, nil)
		}
		if err != nil {
			return err
		}
		id, err := ImportMaterials.Enqueue(ctx, tx, order, job.EnqueueOptions{User: core.ActorID(who)})
		if err != nil {
			return err
		}
		j, err = tx.Jobs.Get(ctx, id)
		return err
	})
	return j, err
}

// imports is an ImportMaterials job while it runs.
type imports struct {
	a        Materials
	run      *job.Run
	order    material.BatchImportOptions
	outcomes []*material.ImportOutcome // for each identifier; nil: none yet
}

// maxUnanswered is how many identifiers in a row a source may leave unanswered before it counts as down. A single one
// may be too much for the source, and must not hold up the others.
const maxUnanswered = 2

// ImportMaterials is the handler of ImportMaterials. If a source is down, it continues with the others and is retried
// for the rest.
func (a Materials) ImportMaterials(ctx context.Context, r *job.Run, order material.BatchImportOptions) error {
	m := &imports{a: a, run: r, order: order, outcomes: make([]*material.ImportOutcome, len(order.Orders))}
	if err := r.Resume(&m.outcomes); err != nil {
		return err
	}
	if r.Progress().Total == 0 {
		err := r.Step(ctx, func(context.Context, store.Conn) (exchange.Progress, any, error) {
			return m.progress(0), m.outcomes, nil
		})
		if err != nil {
			return err
		}
	}
	unanswered, down := map[string]int{}, error(nil)
	for i, o := range order.Orders {
		if m.outcomes[i] != nil || unanswered[o.Source] == maxUnanswered {
			continue
		}
		err := m.one(ctx, i)
		switch {
		case err == nil:
			unanswered[o.Source] = 0
		case isDown(err):
			down = err
			unanswered[o.Source]++
		default:
			return err
		}
	}
	if down != nil {
		return down
	}
	return r.Finish(ctx, func(context.Context, store.Conn) (any, error) {
		result := material.BatchImportResult{Preview: order.Preview}
		for _, o := range m.outcomes {
			result.Add(*o)
		}
		return result, nil
	})
}

// isDown reports whether a source gave no answer but may answer later.
func isDown(err error) bool {
	e, ok := errors.AsType[*exchange.Error](err)
	return ok && e.Code == exchange.Unavailable && e.Details["source"] != nil
}

// one imports one identifier, or previews the import. The user may have lost the right to it by now, or lose it while
// the source is queried.
func (m *imports) one(ctx context.Context, i int) error {
	who, err := m.a.DB.Read().Actors.Of(ctx, m.run.User())
	if err != nil {
		return err
	}
	o, outcome := m.order.Orders[i], material.ImportOutcome{}
	if m.order.Preview {
		outcome, err = m.preview(ctx, who, i)
	} else {
		there, existed, failed := m.a.importOne(ctx, who, o,
			func(ctx context.Context, made material.Material) (added material.Shown, err error) {
				err = m.step(ctx, i, func(ctx context.Context, tx store.Conn) (material.ImportOutcome, error) {
					who, err := tx.Actors.Current(ctx, exchange.Actor{ID: m.run.User()})
					if made.ListedBy = m.run.ID(); err == nil {
						added, err = m.a.addImported(ctx, tx, who, o, made)
					}
					return m.outcome(i, material.WasImported, added.Material), err
				})
				return added, err
			})
		if failed == nil && !existed {
			return nil
		}
		outcome, err = m.outcome(i, material.ExistedBefore, there.Material), failed
	}
	if e, ok := errors.AsType[*exchange.Error](err); ok && !e.Code.ServerFault() {
		outcome, err = m.refusal(i, e), nil
	}
	if err != nil {
		return err
	}
	return m.step(ctx, i, func(context.Context, store.Conn) (material.ImportOutcome, error) { return outcome, nil })
}

// preview previews the import of an identifier. If two identifiers name the same material, the second one counts as
// existing.
func (m *imports) preview(ctx context.Context, who exchange.Actor, i int) (material.ImportOutcome, error) {
	if _, err := m.a.mayImport(ctx, m.a.DB.Read(), who, m.order.Orders[i]); err != nil {
		return material.ImportOutcome{}, err
	}
	v, err := m.a.preview(ctx, who, m.order.Orders[i])
	if err != nil {
		return material.ImportOutcome{}, err
	}
	outcome := m.outcome(i, material.WouldImport, v.Material)
	if v.Existing != nil {
		outcome = m.outcome(i, material.ExistedBefore, v.Existing.Material)
	}
	outcome.Warnings = append(outcome.Warnings, v.Warnings...)
	for k, other := range m.outcomes {
		if other != nil && other.Outcome == material.WouldImport && other.Source == outcome.Source &&
			other.Accession == outcome.Accession {
			outcome.Outcome = material.ExistedBefore
			outcome.Warnings = append(outcome.Warnings, fmt.Sprintf("It is the same as identifiers[%d].", k))
		}
	}
	return outcome, nil
}

// outcome returns the result for an identifier with a material, stored or not.
func (m *imports) outcome(i int, word material.ImportStatus, is material.Material) material.ImportOutcome {
	o := m.order.Orders[i]
	out := material.ImportOutcome{Identifier: m.order.Identifiers[i], Outcome: word, Source: o.Source,
		Accession: o.Identifier,
		Organisms: append([]string{}, is.Organisms...), Warnings: []string{}}
	if is.ID != 0 {
		out.Material = &is.ID
	}
	if is.ImportIdentifier != nil {
		out.Accession = *is.ImportIdentifier
	}
	if is.Title != "" {
		out.Title = &is.Title
	}
	return out
}

// refusal returns the result for an identifier that failed.
func (m *imports) refusal(i int, why *exchange.Error) material.ImportOutcome {
	out := m.outcome(i, material.ImportRefused, material.Material{})
	out.Error = &why.Message
	if fields := Sorted(why.Fields); len(fields) > 0 {
		var texts []string
		for _, field := range fields {
			texts = append(texts, why.Fields[field]...)
		}
		out.Field, out.Error = &fields[0], new(strings.Join(texts, "; "))
	}
	return out
}

// step saves the outcome of an identifier in one transaction with the effects of do.
func (m *imports) step(ctx context.Context, i int,
	do func(context.Context, store.Conn) (material.ImportOutcome, error)) error {
	next := slices.Clone(m.outcomes)
	err := m.run.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
		outcome, err := do(ctx, tx)
		next[i] = &outcome
		return m.progress(m.run.Progress().Done + 1), next, err
	})
	if err == nil {
		m.outcomes = next
	}
	return err
}

func (m *imports) progress(done int64) exchange.Progress {
	return exchange.Progress{Done: done, Total: int64(len(m.outcomes)), Note: "asking the sources"}
}
