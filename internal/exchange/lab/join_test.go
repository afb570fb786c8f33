package lab_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
)

func TestJoinRequest_Transitions(t *testing.T) {
	t.Parallel()
	for _, status := range lab.JoinStatuses {
		for _, to := range lab.JoinStatuses[1:] {
			j, err := lab.JoinRequest{Status: status}.Answer(to, "why", invitedAt)
			switch {
			case status == to && (err != nil || j.AnsweredAt != nil):
				t.Errorf("%s again: %+v, %v", to, j, err)
			case status == lab.JoinPending &&
				(err != nil || j.Status != to || j.AnsweredAt == nil || j.Reason != "why"):
				t.Errorf("%s: %+v, %v", to, j, err)
			case status != to && status != lab.JoinPending && exchange.CodeOf(err) != exchange.Conflict:
				t.Errorf("%s after %s: %v", to, status, err)
			}
		}
		j := lab.JoinRequest{Status: status, CreatedAt: invitedAt}
		if early := j.Again(invitedAt.Add(23 * time.Hour)); (early == nil) != (status == lab.JoinAccepted) ||
			j.Again(invitedAt.Add(24*time.Hour)) != nil {
			t.Errorf("again after %s: %v", status, early)
		}
	}
}
