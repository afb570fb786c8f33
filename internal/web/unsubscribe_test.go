package web_test

import (
	"testing"

	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web"
)

func TestUnsubscribePage_SaysWhichMailGoesWhere(t *testing.T) {
	t.Parallel()
	ada := person.User{Email: "ada@example.org"}
	for _, c := range []struct {
		category    mailing.Category
		on, changed bool
		want        string
	}{
		{mailing.SearchNotif, true, false, "E-mail about saved searches goes to ada@example.org."},
		{mailing.SearchNotif, true, true, "E-mail about saved searches goes to ada@example.org again."},
		{mailing.SearchNotif, false, true, "E-mail about saved searches no longer goes to ada@example.org."},
		{mailing.SearchNotif, false, false, "E-mail about saved searches does not go to ada@example.org."},
		{"", true, false, "Digests go to ada@example.org."},
		{"", true, true, "Digests go to ada@example.org again."},
		{"", false, true, "Digests no longer go to ada@example.org."},
		{"", false, false, "Digests do not go to ada@example.org."},
	} {
		if got := web.Lead(notifier.Subscription{User: ada, Category: c.category, On: c.on}, c.changed); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	for _, c := range mailing.AllCategories {
		if c.Words() == "" {
			t.Errorf("%s has no words", c)
		}
	}
}
