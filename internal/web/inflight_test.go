package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/app/core"
	"aliquot/internal/store/storetest"
)

// endsIn has do run once, right before a request that has the context opens its first transaction.
type endsIn struct {
	context.Context
	do func()
}

func (c *endsIn) Value(key any) any {
	if do := c.do; do != nil && fmt.Sprintf("%T", key) == "sqldb.inTx" {
		c.do = nil
		do()
	}
	return c.Context.Value(key)
}

// kept are forms that come again with what was typed, and say that they were refused.
var kept = map[string]bool{"POST /catalog/{id}/edit": true}

// own are forms by which people change what is theirs, whatever lab they are in.
var own = map[string]bool{"POST /labs/{id}/grants": true}

// TestAccess_LostDuringAFormChangesNothing: who visits was known when they came, and was signed out, or lost
// their labs and their being an admin, before the form took effect. Whoever did that is asked to sign in, or told that
// they may not as a stranger is.
func TestAccess_LostDuringAFormChangesNothing(t *testing.T) {
	t.Parallel()
	for _, row := range access {
		if !strings.HasPrefix(row.pattern, "POST ") {
			continue // a page that is only read is shown to whom its visitor was
		}
		t.Run(row.pattern+" "+row.path, func(t *testing.T) {
			t.Parallel()
			row.fly(t, "DELETE FROM tokens WHERE hash = $1", "in")
			if stranger := strings.Fields(row.want)[1]; stranger == "403" && !own[row.pattern] {
				row.fly(t, "UPDATE memberships SET left_at = created_at; UPDATE users SET is_admin = FALSE; UPDATE "+
					"authorities SET holder = NULL; UPDATE "+
					"organizations SET owner_id = (SELECT id FROM users ORDER BY id LIMIT 1)", stranger)
			}
		})
	}
}

// fly sends a form as a role that may, for whom end is run before the first transaction.
func (row asked) fly(t *testing.T, end, want string) {
	t.Helper()
	wants, at := strings.Fields(row.want), 0
	for i, role := range roles { // rather who is no admin, whose looking is noted in a transaction of its own
		if may := wants[i] < "400"; may && (want == "in" || role.name != "requester") &&
			(role.name != "admin" || at == 0) {
			at = i
		}
	}
	if at == 0 { // nobody may
		return
	}
	w := watched(t)
	names := w.furnished()
	v := w.as(roles[at].person)
	form, err := url.ParseQuery(names.Replace(row.form))
	w.must(err)
	pool := storetest.SQL(w, w.db)
	var before *snapshot
	ctx := &endsIn{t.Context(), func() {
		for _, query := range strings.Split(end, "; ") {
			args := []any{core.Hash(v.cookies["__Host-session"])}
			if !strings.Contains(query, "$1") {
				args = nil
			}
			_, err := pool.ExecContext(t.Context(), query, args...)
			w.must(err)
		}
		before = w.snapshot()
	}}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://example.org"+names.Replace(row.path),
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a := v.send(r)
	if before == nil {
		return // it opened no transaction
	}
	got := strconv.Itoa(a.status)
	if a.status == http.StatusSeeOther && strings.HasPrefix(a.location, "/signin") {
		got = "in"
	}
	if got != want && !(kept[row.pattern] && got == "422") {
		t.Errorf("%s by %s, in flight: %s, want %s: %.200s", row.pattern, roles[at].name, got, want, a.text("main"))
	}
	if changed := before.changed(); changed != "" {
		t.Errorf("%s by %s, in flight, changed something: %s", row.pattern, roles[at].name, changed)
	}
}
