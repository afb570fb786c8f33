package request

import (
	"strconv"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// pace is how long the sides have taken so far.
type pace struct{ Total, Lab, Requester time.Duration }

func paceOf(r transfer.RequestView) pace {
	p := pace{Lab: time.Duration(r.Clock.Sides[request.LabSide]) * time.Second,
		Requester: time.Duration(r.Clock.Sides[request.RequesterSide]) * time.Second}
	now := max(r.Now.Sub(r.Clock.Since), 0)
	switch r.PresentTurn(r.Terms).Side {
	case request.LabSide:
		p.Lab += now
	case request.RequesterSide:
		p.Requester += now
	}
	p.Total = p.Lab + p.Requester
	return p
}

// LabShare returns the lab's percentage of the time, for a drawing.
func (p pace) LabShare() string {
	return strconv.FormatFloat(100*float64(p.Lab)/float64(max(p.Total, 1)), 'f', 1, 64)
}

// RequesterShare returns the requester's percentage.
func (p pace) RequesterShare() string {
	return strconv.FormatFloat(100*float64(p.Requester)/float64(max(p.Total, 1)), 'f', 1, 64)
}

// Took formats a duration, "under a minute" for zero.
func (p pace) Took(d time.Duration) string {
	if text := ui.Span(d); text != "" {
		return text
	}
	return "under a minute"
}

// RemindsAt returns when Aliquot will remind of the present turn, if it will.
func (p *requestPage) RemindsAt() *time.Time {
	if at := p.R.RemindsAt; at != nil && at.After(p.R.Now) {
		return at
	}
	return nil
}

// Reminded returns whom Aliquot reminds.
func (p *requestPage) Reminded() string {
	if p.View.Mine {
		return "you"
	}
	return p.sideName(p.R.PresentTurn(p.R.Terms).Side)
}
