package transfer

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/insight"
)

// Insights are statistics of a lab's requests over some months, up to the present one.
type Insights struct {
	lab.Organization
	Months    []Month
	Total     request.InsightCounts // over all these months
	Requested []MaterialCount       // the materials requested most
}

// Month is one month, in UTC, with the number of requests in each status at its end.
type Month struct {
	Begins time.Time
	request.InsightCounts
	New, Progress int64
}

// MaterialCount is a material and the number of requests for it.
type MaterialCount struct {
	Material material.Shown
	N        int64
}

// InsightMonths are the periods to choose from, in months.
var InsightMonths = []int{3, 6, 12, 24, 60}

// maxRequested is how many materials insights list.
const maxRequested = 10

// settling is how long after its end a day may still change, by transactions that began in it.
const settling = time.Hour

// Insights returns statistics of a lab's requests over so many months, for materials of a category, or of all ("").
func (a Requests) Insights(ctx context.Context, who exchange.Actor, organization int64, category string,
	months int) (v Insights, err error) {
	if v.Organization, err = a.DB.Read().Organizations.Get(ctx, organization); err != nil {
		return v, err
	}
	if err := a.MayRead(ctx, who, exchange.OrganizationInsights, who.ToOrganization(organization),
		core.Object("insights of organization", organization)); err != nil {
		return v, err
	}
	if v.Months, err = a.months(ctx, organization, category, months); err != nil {
		return v, err
	}
	for _, m := range v.Months {
		v.Total.Add(m.InsightCounts)
	}
	most := request.TopCounts(v.Total.Materials, maxRequested)
	ids := make([]int64, len(most))
	for i, m := range most {
		ids[i] = m.Key
	}
	materials, err := a.DB.Read().Materials.ShownByIDs(ctx, ids)
	known := map[int64]material.Shown{}
	for _, m := range materials {
		known[m.ID] = m
	}
	for _, m := range most {
		v.Requested = append(v.Requested, MaterialCount{known[m.Key], m.N})
	}
	return v, err
}

// months returns the statistics of a lab for each month.
func (a Requests) months(ctx context.Context, organization int64, category string, n int) ([]Month, error) {
	kept, err := a.keepInsights(ctx, organization)
	if err != nil {
		return nil, err
	}
	c := a.DB.Read()
	first := time.Date(c.Now.Year(), c.Now.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, 1-n, 0)
	before, err := c.Insights.StandingBefore(ctx, organization, category, first.Format(time.DateOnly))
	if err != nil {
		return nil, err
	}
	days, err := c.Insights.List(ctx, organization, category, first.Format(time.DateOnly))
	if err != nil {
		return nil, err
	}
	// including this moment
	accounts, err := c.Insights.AccountsWithin(ctx, organization, kept, c.Now.Add(time.Second))
	if err != nil {
		return nil, err
	}
	accounts = slices.DeleteFunc(accounts,
		func(account request.TurnHistory) bool { return category != "" && account.Category != category })
	months := make([]Month, n)
	for i := range months {
		m := &months[i]
		m.Begins = first.AddDate(0, i, 0)
		ends := m.Begins.AddDate(0, 1, 0)
		for len(days) > 0 && days[0].Day < ends.Format(time.DateOnly) {
			m.InsightCounts.Add(days[0].Figures)
			days = days[1:]
		}
		if from := later(m.Begins, kept); from.Before(ends) {
			for _, account := range accounts {
				m.InsightCounts.Within(account, from, ends)
			}
		}
		before.New, before.Progress = before.New+m.InsightCounts.New, before.Progress+m.InsightCounts.Progress
		m.New, m.Progress = before.New, before.Progress
	}
	return months, nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// keepInsights stores the statistics of past days and returns the moment up to which they are stored. The first reader
// of a day stores them for the day before; the very first reader, for all days.
func (a Requests) keepInsights(ctx context.Context, organization int64) (time.Time, error) {
	c := a.DB.Read()
	today := c.Now.Add(-settling).Truncate(24 * time.Hour)
	mark, err := c.Insights.Mark(ctx, organization)
	for err == nil && mark < today.Format(time.DateOnly) {
		mark, err = a.keepMonth(ctx, organization, today)
	}
	return today, err
}

// keepMonth stores the past days of one more month.
func (a Requests) keepMonth(ctx context.Context, organization int64, today time.Time) (mark string, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if mark, err = tx.Insights.MarkForUpdate(ctx, organization); err != nil || mark >= today.Format(time.DateOnly) {
			return err
		}
		from, until := today, today
		first, err := tx.Insights.FirstTurn(ctx, organization)
		switch {
		case exchange.CodeOf(err) == exchange.NotFound || err == nil && !first.Before(today):
		case err != nil:
			return err
		default:
			from = first.Truncate(24 * time.Hour)
			if kept, err := time.Parse(time.DateOnly, mark); err == nil {
				from = later(from, kept)
			}
			if month := from.AddDate(0, 1, 0); month.Before(until) {
				until = month
			}
		}
		mark = until.Format(time.DateOnly)
		if from.Before(until) {
			if err := keepDays(ctx, tx, organization, from, until); err != nil {
				return err
			}
		}
		return tx.Insights.SetMark(ctx, organization, mark)
	})
	return mark, err
}

func keepDays(ctx context.Context, tx store.Conn, organization int64, from, until time.Time) error {
	accounts, err := tx.Insights.AccountsWithin(ctx, organization, from, until)
	if err != nil {
		return err
	}
	type part struct{ day, category string }
	days := map[part]*request.InsightCounts{}
	for _, account := range accounts {
		var last time.Time
		for _, t := range account.Turns {
			if day := t.BeganAt.Truncate(24 * time.Hour); !day.Equal(last) && !day.Before(from) {
				last = day
				p := part{day.Format(time.DateOnly), account.Category}
				if days[p] == nil {
					days[p] = &request.InsightCounts{}
				}
				days[p].Within(account, day, day.AddDate(0, 0, 1))
			}
		}
	}
	var list []insight.Day
	for p, figures := range days {
		list = append(list, insight.Day{Day: p.day, Category: p.category, Figures: *figures})
	}
	return tx.Insights.Insert(ctx, organization, list)
}
