package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"aliquot/internal/seal"
)

// mostToExecute is how long a request takes until its agreement is executed, where standing approvals cover it, in
// milliseconds, at the 99th percentile.
const mostToExecute = 1000

// asking is how many requests each client makes of each side.
const asking = 50

// BenchmarkExecuted asks for a material and signs ("ask and sign"), and accepts the request, so that standing approvals
// of both sides and the signature in advance of the lab execute the agreement. It compares that with the same two
// calls about a material that needs no agreement, in the same run. The bar is for one client; the others say what
// happens when several agreements are executed at once.
func BenchmarkExecuted(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		s := w.approved()
		for _, clients := range []int{1, clients} {
			b.Run(fmt.Sprintf("%d-clients", clients), func(b *testing.B) {
				p99 := s.compare(b, clients)
				if clients == 1 && p99 >= mostToExecute {
					b.Errorf("an agreement is executed after %.0f ms, not under %d", p99, mostToExecute)
				}
			})
		}
	})
}

// compare reports how long a request with an agreement takes and one without, asked for in turns; it returns the 99th
// percentile with an agreement.
func (s *approvals) compare(b *testing.B, clients int) float64 {
	var sides [2]tally // with an agreement, and without one
	for range b.N {
		for range asking {
			for side := range sides {
				sides[side].took = append(sides[side].took, s.together(b, clients, side)...)
			}
		}
	}
	for _, side := range sides {
		slices.Sort(side.took)
	}
	b.ReportMetric(sides[1].percentile(50)/sides[0].percentile(50), "ratio")
	b.ReportMetric(sides[0].percentile(50), "p50-ms")
	b.ReportMetric(sides[0].percentile(99), "p99-ms")
	b.ReportMetric(sides[1].percentile(50), "without-p50-ms")
	b.ReportMetric(0, "ns/op") // of all calls together, which says nothing
	return sides[0].percentile(99)
}

// approvals is two institutions whose standing approvals cover plasmids of the lab.
type approvals struct {
	*world
	requester, accepts string   // tokens
	material           [2]int64 // one that needs an agreement, and one that needs none
}

// approved makes what is needed for an agreement that nobody has to be asked about.
func (w *world) approved() *approvals {
	s := &approvals{world: w}
	admin, adminID := w.signIn("admin")
	if err := w.app.Accounts.SetAdmin(w.b.Context(), "admin", true); err != nil {
		w.b.Fatal(err)
	}
	var requesterID, ownerID string
	s.requester, requesterID = w.signIn("scientist")
	s.accepts, ownerID = w.signIn("head")
	lab := w.make(s.accepts, "/v1/organizations", obj{"name": "Plasmids", "owner": ownerID, "members": []string{}})
	year := time.Now().UTC()
	from, until := year.Format(time.DateOnly), year.AddDate(0, 6, 0).Format(time.DateOnly)
	for direction, name := range map[string]string{"PROVIDE": "Provider Institute", "RECEIVE": "Recipient Institute"} {
		at := fmt.Sprintf("/v1/institutions/%d", w.make(admin, "/v1/institutions", obj{"legal_name": name, "country": "GB",
			"confirmed": true, "kind": "NONPROFIT", "kind_evidence": "statute", "kind_since": "1990-01-01"}))
		w.make(admin, at+"/masters", obj{"family": "UBMTA", "version": "1995", "signed_on": "1996-01-01"})
		w.make(admin, at+"/authorities", obj{"position": w.make(admin, at+"/positions", obj{"title": "Director"}),
			"holder": adminID, "direction": "BOTH", "largest_bsl": 2, "from": "2020-01-01"})
		if direction == "PROVIDE" {
			w.make(admin, at+"/labs", obj{"organization": lab, "from": "2020-01-01", "confirmed": true})
		} else {
			w.make(admin, at+"/affiliations", obj{"person": requesterID, "from": "2020-01-01", "confirmed": true})
		}
		approval := w.make(admin, at+"/approvals", obj{"direction": direction, "families": []string{"UBMTA_LETTER"},
			"categories": []string{"PLASMID"}, "from": from, "until": until})
		w.make(admin, fmt.Sprintf("%s/approvals/%d/sign", at, approval), obj{"version": 1})
	}
	var answer any
	w.read(w.request(ours, "PATCH", fmt.Sprintf("/v1/organizations/%d", lab), s.accepts,
		`{"signs_ahead_until": "`+until+`"}`), &answer)
	for side := range s.material {
		s.material[side] = w.make(s.accepts, "/v1/materials", obj{"category": "PLASMID", "title": "pUC19",
			"organization_id": lab, "needs_mta": side == 0})
		w.read(w.request(ours, "PATCH", fmt.Sprintf("/v1/materials/%d/transfer-facts", s.material[side]), s.accepts,
			`{"bsl": "1", "genetically_modified": "NO", "select_agent": "NO", "plant_genetic_resource": "NO",
			"export_class": "NO", "encumbrances": [], "proprietary": "NO"}`), &answer)
	}
	return s
}

// together has so many clients make one request each, and returns how long they took.
func (s *approvals) together(b *testing.B, clients, side int) []time.Duration {
	took := make([]time.Duration, clients)
	var all sync.WaitGroup
	for client := range took {
		all.Go(func() {
			began := time.Now()
			if err := s.transfer(side); err != nil {
				b.Error(err)
			}
			took[client] = time.Since(began)
		})
	}
	all.Wait()
	return took
}

// transfer asks for the material of a side, and accepts the request. With an agreement, that is executed then.
func (s *approvals) transfer(side int) error {
	var q struct {
		ID       int64  `json:"id"`
		Executed *int64 `json:"executed_mta_attachment"`
	}
	for _, call := range []func() *http.Request{
		func() *http.Request {
			return s.request(ours, "POST", "/v1/material-requests", s.requester,
				fmt.Sprintf(`{"material": %d, "quantity": "1 vial", "sign_agreement": %t}`, s.material[side], side == 0))
		},
		func() *http.Request {
			return s.request(ours, "PATCH", fmt.Sprintf("/v1/material-requests/%d", q.ID), s.accepts, approved)
		},
	} {
		var body bytes.Buffer
		if _, err := send(http.DefaultClient, call(), &body); err != nil {
			return err
		}
		if err := json.Unmarshal(body.Bytes(), &q); err != nil {
			return err
		}
	}
	if (q.Executed != nil) != (side == 0) {
		return fmt.Errorf("request %d: the executed agreement is %v", q.ID, q.Executed)
	}
	return nil
}

// sealer seals agreements as aliquot serve does.
func sealer(b *testing.B) *seal.Sealer {
	folder := b.TempDir()
	files := seal.Files{Key: filepath.Join(folder, "seal.key"), Certificate: filepath.Join(folder, "seal.pem"), Made: true}
	key, chain, err := files.Open("localhost", time.Now())
	if err != nil {
		b.Fatal(err)
	}
	return seal.New(key, chain, nil)
}
