package request_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange/request"
)

func TestPace_IsTheMedianOfTheLabsRequests(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const day = int64(24 * 60 * 60)
	received := func(lab, decision, documents, packing, received int64) request.Timed {
		return request.Timed{Organization: lab, Status: request.Verified, CreatedAt: made, Clock: request.Clock{
			Since: made.Add(time.Duration(received*day) * time.Second),
			Stages: map[request.Status]int64{request.Open: decision * day, request.Approved: documents * day,
				request.InFulfillment: packing * day},
		}}
	}
	rejected := request.Timed{Organization: 7, Status: request.Rejected, CreatedAt: made,
		Clock: request.Clock{Stages: map[request.Status]int64{request.Open: 30 * day}}}
	paces := request.Paces([]request.Timed{received(7, 1, 2, 3, 10), received(7, 2, 2, 3, 20),
		received(7, 3, 2, 3, 30), received(8, 9, 9, 9, 90), rejected})
	days := func(n int64) time.Duration { return time.Duration(n*day) * time.Second }
	if p := paces[7]; p.Decided != 4 || p.Received != 3 || p.Decision != days(2) || p.Receipt != days(20) ||
		p.Documents != days(4) || p.Sent != days(7) || !p.Decides() || !p.Receives() {
		t.Errorf("%+v", p)
	}
	if p := paces[8]; p.Decides() || p.Receives() {
		t.Errorf("one request is shown: %+v", p)
	}
	if p := paces[0]; p.Decided != 5 || p.Received != 4 || p.Decision != days(3) {
		t.Errorf("%+v", p)
	}
	if p := request.Paces(nil)[0]; p.Decides() {
		t.Errorf("%+v", p)
	}
}
