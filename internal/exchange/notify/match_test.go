package notify_test

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
)

func TestNews_OfASavedSearchNameTheNewest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count int
		want  string
	}{
		{1, "1 material is new in your saved search HeLa: No. 1."},
		{3, "3 materials are new in your saved search HeLa: No. 1; No. 2; No. 3."},
		{12, "12 materials are new in your saved search HeLa: No. 1; No. 2; No. 3; 9 more."},
	} {
		m := notify.Match{Search: material.SavedSearch{ID: 7, Name: "HeLa"}, Count: c.count}
		for i := range min(c.count, notify.MaxNamed) {
			m.Materials = append(m.Materials, notify.MaterialPayload{Title: fmt.Sprint("No. ", i+1)})
		}
		if got := notify.DescribeAnnouncement(m.Announcement(), "", ""); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	s := mailing.Default(exchangetest.RequesterID)
	s.Delivery = mailing.Daily
	if got := s.MailFor(mailing.SearchNotif, "a@b.org"); got != mailing.ForDigest {
		t.Errorf("mail about a saved search: %s, want it in the digest", got)
	}
}
