package e2e

import (
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/importer/sourcetest"
	"aliquot/internal/job/jobtest"
)

// TestKill_EachIdentifierIsImportedOnce: what was imported before a crash is never asked for
// again, and told as imported, not as found there.
func TestKill_EachIdentifierIsImportedOnce(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		const many = 90 // protocols, of which 100 may be asked for in a minute
		in.sources = sourcetest.Start(t).Environment()
		fast := []string{"--rate-limit", "off", "--job-lease", "1s"}
		p := in.serve(t, fast...)
		l := p.lab(t)
		grant, err := id(did(l.manager.call("POST", "/grants/", `{"title": "Protocols", "funder_id": "R01"}`)))
		if err != nil {
			t.Fatal(err)
		}
		identifiers := make([]string, many)
		for i := range identifiers {
			identifiers[i] = fmt.Sprint("protocols.io.p", i+1)
		}
		list, err := json.Marshal(identifiers)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := did(l.manager.call("POST", "/materials/imports",
			fmt.Sprintf(`{"identifiers": %s, "organization_id": %s, "grant_id": %s}`, list, l.id, grant)))
		if err != nil {
			t.Fatal(err)
		}
		var enqueued struct{ ID int64 }
		if err := json.Unmarshal(asked.body, &enqueued); err != nil {
			t.Fatal(err)
		}
		db, done := in.store(t), int64(0)
		for range 3 {
			jobtest.Poll(t, "more is done", func() bool {
				j, err := db.Read().Jobs.Get(t.Context(), enqueued.ID)
				more := j.Progress.Done > done || j.State.Over()
				done = j.Progress.Done
				return err == nil && more
			})
			time.Sleep(time.Duration(mathrand.IntN(int(20 * time.Millisecond)))) // somewhere in the middle
			p.kill()
			<-p.ended
			p = in.serve(t, fast...)
		}
		j := jobtest.Wait(t, db, enqueued.ID, exchange.JobDone)
		var result material.BatchImportResult
		if err := json.Unmarshal(j.Result, &result); err != nil {
			t.Fatal(err)
		}
		if result.Imported != many {
			t.Errorf("%d of %d are imported: %s", result.Imported, many, j.Result)
		}
		t.Logf("it was taken %d times", j.Lease)
		if err := p.stop(); err != nil {
			t.Error(err)
		}
		verified(t, in)
	})
}
