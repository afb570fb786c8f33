package api_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"aliquot/internal/app"
	"aliquot/internal/app/core"
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
			c.Access, c.Quotas = exchange.AccessMembers, core.Quotas{User: 2500, Lab: 5000}
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
			if a.Status != 413 || a.Body["error_code"] != "QUOTA" || fmt.Sprint(a.Body["quota"]) != fmt.Sprint(quota) ||
				fmt.Sprint(a.Body["used"]) != fmt.Sprint(used) {
				t.Errorf("%s: %d %s, want 413 QUOTA with %d of %d", what, a.Status, a.Raw, used, quota)
			}
		}
		refused("one byte more", p.upload("c.txt", text(1), nil), 2500, 2500)
		record := p.want(201, "POST", "/attachments/", obj{"filename": "d.txt"})
		refused("content of a record",
			p.send("PUT", record.Body["download_url"].(string), "text/plain", strings.NewReader("a")), 2500, 2500)
		for _, size := range []int{2000, 3000} {
			if a := p.upload("lab.txt", text(size), obj{"owned_by_org": p.Lab}); a.Status != 201 {
				t.Errorf("for the lab: %d %s", a.Status, a.Raw)
			}
		}
		refused("for the lab", p.upload("lab.txt", text(10), obj{"owned_by_org": p.Lab}), 2500, 2500)
	})
}

// TestQuota_UploadsAtOnceDoNotPassTogether, of files and of spreadsheets for the same lab.
func TestQuota_UploadsAtOnceDoNotPassTogether(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorldWith(t, db, func(c *app.Config) {
			c.Access, c.Quotas = exchange.AccessMembers, core.Quotas{User: 1, Lab: 2500}
		})
		p := w.person("mario")
		sheet := func(size int) string {
			return "title,category\n" + strings.Repeat("x", size-len("title,category\n")-len(",OTHER\n")) + ",OTHER\n"
		}
		var wait sync.WaitGroup
		var made, over atomic.Int64
		for i := range 10 {
			wait.Go(func() {
				var a answer
				if i%2 == 0 {
					a = p.upload("a.txt", []byte(strings.Repeat("a", 600)), obj{"owned_by_org": p.Lab})
				} else {
					a = p.send("POST", fmt.Sprintf("/organizations/%d/materials/bulk?mode=dry-run", p.Lab), "text/csv",
						strings.NewReader(sheet(600)))
				}
				switch {
				case a.Status == 201 || a.Status == 202:
					made.Add(1)
				case a.Status == 413 && a.Body["error_code"] == "QUOTA":
					over.Add(1)
				default:
					t.Errorf("%d %s", a.Status, a.Raw)
				}
			})
		}
		wait.Wait()
		if made.Load() != 4 || over.Load() != 6 {
			t.Errorf("%d were taken and %d refused, want 4 and 6", made.Load(), over.Load())
		}
		a := p.want(200, "GET", fmt.Sprintf("/organizations/%d/storage", p.Lab), nil)
		if fmt.Sprint(a.Body["used"]) != "2400" || fmt.Sprint(a.Body["quota"]) != "2500" {
			t.Errorf("got %s", a.Raw)
		}
	})
}

// TestQuota_ASpreadsheetThatIsRefusedCountsForNobody and one that is taken for the lab.
func TestQuota_ASpreadsheetThatIsRefusedCountsForNobody(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorldWith(t, db, func(c *app.Config) {
			c.Access, c.Quotas = exchange.AccessMembers, core.Quotas{User: 1, Lab: 500}
		})
		p := w.person("mario")
		bulk := func(text string) answer {
			return p.send("POST", fmt.Sprintf("/organizations/%d/materials/bulk", p.Lab), "text/csv",
				strings.NewReader(text))
		}
		used := func() string {
			a := p.want(200, "GET", fmt.Sprintf("/organizations/%d/storage", p.Lab), nil)
			return fmt.Sprint(a.Body["used"], " ", a.Body["spreadsheets"])
		}
		if a := bulk("nothing that we know\nx\n"); a.Status != 400 || used() != "0 0" {
			t.Errorf("%d %s; %s bytes", a.Status, a.Raw, used())
		}
		if a := bulk("title,category\nHeLa,OTHER\n"); a.Status != 202 || used() != "26 26" {
			t.Errorf("%d %s; %s bytes", a.Status, a.Raw, used())
		}
		a := bulk("title,category\n" + strings.Repeat("x", 480) + ",OTHER\n")
		if a.Status != 413 || a.Body["error_code"] != "QUOTA" || fmt.Sprint(a.Body["used"]) != "26" ||
			used() != "26 26" {
			t.Errorf("%d %s; %s bytes", a.Status, a.Raw, used())
		}
	})
}

// TestQuota_ADocumentThatBecomesTheLabsNeedsRoomThere when a material shows it as its MTA, and when it is submitted as
// the executed one; nothing changes where there is none.
func TestQuota_ADocumentThatBecomesTheLabsNeedsRoomThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorldWith(t, db, func(c *app.Config) {
			c.Access, c.Quotas = exchange.AccessMembers, core.Quotas{User: 5000, Lab: 1000}
		})
		p := w.person("mario")
		if a := p.upload("lab.txt", []byte(strings.Repeat("a", 600)), obj{"owned_by_org": p.Lab}); a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Raw)
		}
		material := fmt.Sprintf("/materials/%d",
			p.want(201, "POST", "/materials", obj{"category": "OTHER", "title": "HeLa", "organization": p.Lab}).id())
		own := p.upload("mta.txt", []byte(strings.Repeat("b", 500)), nil)
		used := func() string {
			user := p.want(200, "GET", fmt.Sprintf("/users/%s/storage", p.ID), nil)
			lab := p.want(200, "GET", fmt.Sprintf("/organizations/%d/storage", p.Lab), nil)
			return fmt.Sprint(user.Body["used"], " ", lab.Body["used"])
		}
		a := p.call("PATCH", material, obj{"mta_attachment": own.id()})
		if a.Status != 413 || a.Body["error_code"] != "QUOTA" || fmt.Sprint(a.Body["used"]) != "600" ||
			used() != "500 600" {
			t.Errorf("%d %s; %s bytes", a.Status, a.Raw, used())
		}
		small := p.upload("small.txt", []byte(strings.Repeat("c", 400)), nil)
		p.want(200, "PATCH", material, obj{"mta_attachment": small.id()})
		if got := used(); got != "500 1000" {
			t.Errorf("%s bytes", got)
		}
		request := fmt.Sprintf("/material-requests/%d", w.person("josiah").want(201, "POST", "/material-requests",
			obj{"material": p.want(201, "POST", "/materials", obj{"category": "OTHER", "title": "HT-29",
				"organization": p.Lab}).id()}).id())
		a = p.call("PATCH", request, obj{"executed_mta_attachment": own.id()})
		if a.Status != 413 || a.Body["error_code"] != "QUOTA" || used() != "500 1000" {
			t.Errorf("an executed MTA: %d %s; %s bytes", a.Status, a.Raw, used())
		}
		s := p.want(200, "GET", fmt.Sprintf("/organizations/%d/storage", p.Lab), nil)
		if largest := s.Body["largest"].([]any); len(largest) != 2 ||
			largest[0].(map[string]any)["filename"] != "lab.txt" ||
			fmt.Sprint(largest[1].(map[string]any)["bytes"]) != "400" {
			t.Errorf("got %s", s.Raw)
		}
	})
}
