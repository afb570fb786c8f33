package browser

import (
	"fmt"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job/jobtest"
)

// undoStates are the pages of an import that can be undone, and of its undo, which leaves a material as it is.
func (s *site) undoStates() []state {
	s.Helper()
	ctx, job := s.Context(), s.id("SELECT id FROM jobs WHERE kind = $1", "materials.bulk")
	jobtest.Wait(s.T, s.db, job, exchange.JobDone)
	s.change("UPDATE jobs SET ended_at = $1 WHERE id = $2", s.app.DB.Read().Now, job)
	s.change("UPDATE materials SET listed_by = NULL WHERE listed_by = $1", job)
	skin, fur := s.newMaterial("Bandicoot skin"), s.newMaterial("Bandicoot fur")
	for _, id := range []exchange.Ref{skin, fur} {
		s.change("UPDATE materials SET listed_by = $1 WHERE id = $2", job, int64(id))
	}
	_, err := s.app.Requests.CreateRequest(ctx, s.actor("josiah"), request.New{Material: exchange.Some(skin)})
	s.must(err)
	undo, err := s.app.Spreadsheets.Undo(ctx, s.actor("olivia"), job)
	s.must(err)
	jobtest.Wait(s.T, s.db, undo.ID, exchange.JobDone)
	return []state{
		{"olivia", fmt.Sprintf("/share/jobs/%d", job), nil, 200},
		{"olivia", fmt.Sprintf("/share/jobs/%d", undo.ID), nil, 200},
	}
}
