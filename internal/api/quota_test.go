package api_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestQuota_RefusesWhatWouldBeMoreThanAnOwnerMayStore on every way in, with both numbers; what is deleted counts while
// it is kept.
func TestQuota_RefusesWhatWouldBeMoreThanAnOwnerMayStore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorldWith(t, db, func(c *app.Config) {
			c.Access, c.Quotas = exchange.AccessMembers, app.Quotas{User: 2500, Lab: 5000}
		})
		p := w.person("mario")
		text := func(n int) []byte { return []byte(strings.Repeat("a", n)) }
		first := p.upload("a.txt", text(1000), nil)
		if first.Status != 201 {
			t.Fatalf("%d %s", first.Status, first.Raw)
		}
		p.want(204, "DELETE", fmt.Sprintf("/attachments/%d", first.id()), nil)
		if a := p.upload("b.txt", text(1500), nil); a.Status != 201 {
			t.Errorf("just within: %d %s", a.Status, a.Raw)
		}
		refused := func(what string, a answer, used, quota int) {
			t.Helper()
			if a.Status != 413 || a.Body["error_code"] != "QUOTA" || fmt.Sprint(a.Body["quota"]) != fmt.Sprint(quota) || fmt.Sprint(a.Body["used"]) != fmt.Sprint(used) {
				t.Errorf("%s: %d %s, want 413 QUOTA with %d of %d", what, a.Status, a.Raw, used, quota)
			}
		}
		refused("one byte more", p.upload("c.txt", text(1), nil), 2500, 2500)
		record := p.want(201, "POST", "/attachments/", obj{"filename": "d.txt"})
		refused("content of a record", p.send("PUT", record.Body["download_url"].(string), "text/plain", strings.NewReader("a")), 2500, 2500)
		for _, size := range []int{2000, 3000} {
			if a := p.upload("lab.txt", text(size), obj{"owned_by_org": p.Lab}); a.Status != 201 {
				t.Errorf("for the lab: %d %s", a.Status, a.Raw)
			}
		}
		refused("for the lab", p.upload("lab.txt", text(10), obj{"owned_by_org": p.Lab}), 2500, 2500)
	})
}
