package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestMaterial_IsPublishedInTheFormatThatWasAskedFor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		ada := w.person("ada") // whose lab it is of: it is under embargo
		tomorrow := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
		path := fmt.Sprintf("/materials/%d",
			ada.want(201, "POST", "/materials",
				obj{"category": "CELL_LINE", "title": "HT-29", "organization_id": ada.Lab,
					"embargo_date":    tomorrow,
					"additional_info": strings.Repeat("long ", 500)}.meta(obj{"rrid": "CVCL_0320"})).id())
		address, page := publicURL+path, publicURL+"/catalog"+path[len("/materials"):]
		for query, want := range map[string][3]string{
			"/citation":                 {"application/x-bibtex", "url       = {" + page + "}", "bib"},
			"/citation?format=bibtex":   {"application/x-bibtex", `HT-29 (RRID:CVCL\_0320)`, "bib"},
			"/citation?format=ris":      {"application/x-research-info-systems", "UR  - " + page + "\r\n", "ris"},
			"/citation?format=csl-json": {"application/vnd.citationstyles.csl+json", `"URL":"` + page + `"`, "json"},
			"/jsonld":                   {"application/ld+json", `"@id":"` + address + `"`, "jsonld"},
		} {
			a := ada.want(200, "GET", path+query, nil)
			if a.Header.Get("Content-Type") != want[0] || !strings.Contains(string(a.Raw), want[1]) ||
				a.Header.Get("X-Content-Type-Options") != "nosniff" ||
				a.Header.Get("Content-Disposition") != "attachment; filename=aliquot-"+path[len("/materials/"):]+"."+
					want[2] {
				t.Errorf("%s: %v %s, want %s", query, a.Header, a.Raw, want)
			}
			tag := a.Header.Get("ETag")
			if again := ada.callWith(map[string]string{"If-None-Match": tag}, "GET", path+query,
				nil); again.Status != 304 {
				t.Errorf("%s again: %d", query, again.Status)
			}
			ada.want(200, "PATCH", path, obj{"title": "HT-29, " + query})
			if again := ada.callWith(map[string]string{"If-None-Match": tag}, "GET", path+query,
				nil); again.Status != 200 || again.Header.Get("ETag") == tag {
				t.Errorf("%s after a change: %d with the tag %s", query, again.Status, again.Header.Get("ETag"))
			}
			ada.want(200, "PATCH", path, obj{"title": "HT-29"})
		}
		zipped := ada.callWith(map[string]string{"Accept-Encoding": "gzip"}, "GET", path+"/jsonld", nil)
		if zipped.Header.Get("Content-Encoding") != "gzip" ||
			zipped.Header.Get("Content-Type") != "application/ld+json" {
			t.Errorf("compressed: %v", zipped.Header)
		}
		for _, wrong := range []string{"BibTeX", "", "ris,bibtex", "x"} {
			a := ada.refused(400, "INVALID_INPUT", "GET", path+"/citation?format="+wrong, nil)
			if fault := fmt.Sprint(a.at("fields.format")); !strings.Contains(fault, "bibtex ris csl-json") {
				t.Errorf("format %q: %s", wrong, fault)
			}
		}
		for _, missing := range []string{"/materials/99", "/materials/x", "/materials/0"} {
			ada.refused(404, "NOT_FOUND", "GET", missing+"/citation", nil)
			ada.refused(404, "NOT_FOUND", "GET", missing+"/jsonld", nil)
		}
		var linked struct {
			Offers struct{ AvailabilityStarts string }
		}
		if err := json.Unmarshal(ada.want(200, "GET", path+"/jsonld", nil).Raw, &linked); err != nil ||
			linked.Offers.AvailabilityStarts != tomorrow {
			t.Errorf("under embargo until %s: %+v, %v", tomorrow, linked, err)
		}
	})
}
