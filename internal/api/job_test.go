package api_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// newJob enqueues a job that no worker takes.
func (s *scene) newJob(o job.EnqueueOptions) int64 {
	s.t.Helper()
	return jobtest.Enqueue(s.t, s.db, job.Kind[obj]{Name: "test"}, obj{}, o)
}

func TestJobs_AreListedToTheirOwnersAndAllToAdmins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		requester, admin := s.requester(), s.people["admin"]
		first, second := s.newJob(job.EnqueueOptions{User: &requester.ID}),
			s.newJob(job.EnqueueOptions{User: &requester.ID})
		other := jobtest.Enqueue(t, db, job.Kind[obj]{Name: "other"}, obj{}, job.EnqueueOptions{User: &s.member.ID})
		own := s.newJob(job.EnqueueOptions{}) // Aliquot's
		requester.want(200, "POST", fmt.Sprintf("/jobs/%d/cancel", first), nil)
		for _, c := range []struct {
			by   *testPerson
			path string
			want []int64
		}{
			{requester, "/jobs", []int64{second, first}},
			{requester, "/jobs?all=false&kind=test", []int64{second, first}},
			{requester, "/jobs?state=CANCELLED", []int64{first}},
			{requester, "/jobs?kind=other", nil},
			{requester, "/jobs?limit=1", []int64{second}},
			{admin, "/jobs", nil},
			{admin, "/jobs?all=true&limit=4", []int64{own, other, second, first}},
			{admin, "/jobs?all=true&state=READY&kind=test", []int64{own, second}},
		} {
			if got := idsOf(c.by.want(200, "GET", c.path, nil).List); !slices.Equal(got, c.want) {
				t.Errorf("%s by %s: %v, want %v", c.path, c.by.name, got, c.want)
			}
		}
		if got := s.audits("jobs"); len(got) != 2 || got[0] != "admin:admin job.list-all" {
			t.Errorf("audit events of the lists: %v", got)
		}
		requester.refused(403, "FORBIDDEN", "GET", "/jobs?all=true", nil)
		for _, query := range []string{"state=done", "state=", "all=maybe", "kind=%00"} {
			requester.refused(400, "INVALID_INPUT", "GET", "/jobs?"+query, nil)
		}
	})
}

func TestJob_ShowsProgressAndResult(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		requester := s.requester()
		kind, stepped, goOn := job.Kind[obj]{Name: "test", MaxAttempts: 1}, make(chan struct{}), make(chan struct{})
		jobtest.Start(t, job.Config{DB: db,
			Handlers: []job.Handler{kind.Handle(func(ctx context.Context, r *job.Run, args obj) error {
				err := r.Step(ctx, func(context.Context, store.Conn) (exchange.Progress, any, error) {
					return exchange.Progress{Done: 3, Total: 7, Note: "reading line 3"}, nil, nil
				})
				stepped <- struct{}{}
				<-goOn
				if err != nil || args["fail"] == true {
					return exchange.Errorf(exchange.InvalidInput, "Line 4 has no title.")
				}
				return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return obj{"rows": 7}, nil })
			})}})
		for _, fail := range []bool{false, true} {
			id := jobtest.Enqueue(t, db, kind, obj{"fail": fail}, job.EnqueueOptions{User: &requester.ID})
			path := fmt.Sprintf("/jobs/%d", id)
			<-stepped
			a := requester.want(200, "GET", path, nil)
			if a.Body["state"] != "RUNNING" || a.at("progress.done") != 3.0 || a.at("progress.total") != 7.0 ||
				a.at("progress.note") != "reading line 3" {
				t.Errorf("under way: %s", a.Raw)
			}
			goOn <- struct{}{}
			jobtest.Poll(t, "it is over", func() bool {
				a = requester.want(200, "GET", path, nil)
				return a.Body["ended_at"] != nil
			})
			switch {
			case fail && (a.Body["state"] != "FAILED" || a.Body["error"] != "Line 4 has no title." ||
				a.Body["result"] != nil || a.Body["failures"] != 1.0):
				t.Errorf("failed: %s", a.Raw)
			case !fail && (a.Body["state"] != "DONE" || a.Body["error"] != nil || a.at("result.rows") != 7.0):
				t.Errorf("done: %s", a.Raw)
			}
			if !fail {
				requester.refused(409, "CONFLICT", "POST", path+"/cancel", nil)
				s.people["admin"].refused(409, "CONFLICT", "POST", path+"/retry", nil)
				continue
			}
			requester.refused(409, "CONFLICT", "POST", path+"/cancel", nil)
			if a := s.people["admin"].want(200, "POST", path+"/retry", nil); a.Body["state"] != "READY" ||
				a.Body["ended_at"] != nil || a.Body["due_at"] == nil {
				t.Errorf("tried again: %s", a.Raw)
			}
			<-stepped
			goOn <- struct{}{}
			if got := s.audits(fmt.Sprintf("job %d", id)); !slices.Equal(got, []string{"admin:admin job.retry"}) {
				t.Errorf("audit events: %v", got)
			}
		}
	})
}

func TestJob_CancelTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/jobs/%d", s.newJob(job.EnqueueOptions{User: &s.requester().ID}))
		first := s.requester().want(200, "POST", path+"/cancel", nil)
		again := s.requester().want(200, "POST", path+"/cancel", nil)
		if first.Body["state"] != "CANCELLED" || first.Body["due_at"] != nil || string(first.Raw) != string(again.Raw) {
			t.Errorf("%s, then %s", first.Raw, again.Raw)
		}
		for _, id := range []string{"0", "x", "99"} {
			s.requester().refused(404, "NOT_FOUND", "GET", "/jobs/"+id, nil)
			s.people["admin"].refused(404, "NOT_FOUND", "POST", "/jobs/"+id+"/retry", nil)
		}
	})
}
