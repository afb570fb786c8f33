package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// bulkRows is a spreadsheet that takes long enough to be killed in.
const bulkRows = 6000

// published are the materials that anybody can see: none that a spreadsheet staged.
const published = "materials WHERE staged_in IS NULL OR staged_in IN (SELECT job_id FROM bulks WHERE stored)"

// TestKill_SpreadsheetIsImportedOnce kills the server while a job stores rows, and
// again while the next run of it does.
func TestKill_SpreadsheetIsImportedOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"all-or-nothing", "valid-rows-only"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			eachKind(t, func(t *testing.T, in installation) {
				p := in.serve(t, "--access", "members", "--rate-limit", "off", "--job-lease", "1s")
				l := p.lab(t)
				job, err := l.stock(mode)
				if err != nil {
					t.Fatal(err)
				}
				for range 3 {
					if err := poll(func() error { return l.begun(job) }); err != nil {
						t.Fatal(err)
					}
					p.kill()
					<-p.ended
					if n := in.count(t, published); mode == "all-or-nothing" && n != 1 && n != bulkRows+1 {
						t.Errorf("a part was stored: %d", n)
					}
					p = in.serve(t, "--access", "members", "--rate-limit", "off", "--job-lease", "1s")
					l.manager.base = p.base
				}
				if err := poll(func() error { return l.stocked(job) }); err != nil {
					t.Error(err)
				}
				if n := in.count(t, "materials"); n != bulkRows+1 {
					t.Errorf("%d materials", n)
				}
				if n := in.count(t, "audit_events WHERE action = 'material.create'"); n != bulkRows+1 {
					t.Errorf("%d versions", n)
				}
			})
		})
	}
}

// stock sends a spreadsheet and gives the path of its job.
func (l lab) stock(mode string) (string, error) {
	var rows strings.Builder
	rows.WriteString("reference,category,title,disease\n")
	for i := range bulkRows {
		fmt.Fprintf(&rows, "LN2-%d,CELL_LINE,HT-29 no. %d,Colon cancer\n", i, i)
	}
	a, err := did(l.manager.send("POST", "/organizations/"+l.id+"/materials/bulk?mode="+mode, "text/csv",
		strings.NewReader(rows.String())))
	if err != nil {
		return "", err
	}
	id, err := a.at("id")
	return "/jobs/" + id, err
}

// state reads a job.
func (l lab) state(job string) (state string, done int, result string, err error) {
	a, err := did(l.manager.call("GET", job, ""))
	if err != nil {
		return "", 0, "", err
	}
	var j struct {
		State    string
		Progress struct{ Done int }
		Result   json.RawMessage
	}
	err = json.Unmarshal(a.body, &j)
	return j.State, j.Progress.Done, string(j.Result), err
}

// begun reports whether a job is over, or at work for a moment.
func (l lab) begun(job string) error {
	state, done, _, err := l.state(job)
	if err == nil && state != "DONE" && (state != "RUNNING" || done == 0) {
		err = fmt.Errorf("%s at %d", state, done)
	}
	time.Sleep(30 * time.Millisecond)
	return err
}

func (l lab) stocked(job string) error {
	state, _, result, err := l.state(job)
	if err == nil && (state != "DONE" || !strings.Contains(result, `"stored":true`)) {
		err = fmt.Errorf("%s: %s", state, result)
	}
	return err
}

// count counts rows behind the program's back.
func (in installation) count(t *testing.T, of string) (n int) {
	t.Helper()
	db, err := in.database()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+of).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
