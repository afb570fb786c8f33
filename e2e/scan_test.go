package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/clamd/clamdtest"
	"aliquot/internal/files/filestest"
)

// TestScan_WithTheRealScanner is about an installation whose files clamd examines, in a bucket if there is an S3 server
// to test with: without clamd there is nothing to test, and no test.
func TestScan_WithTheRealScanner(t *testing.T) {
	t.Parallel()
	if !clamdtest.HasReal() {
		return
	}
	scanner := clamdtest.StartReal(t)
	eachKind(t, func(t *testing.T, in installation) {
		if filestest.HasS3() {
			in.sources = append(in.sources, filestest.Environ()...)
			in = in.filesIn(filestest.StartS3(t).Address.String())
		}
		in.sources = append(in.sources, "ALIQUOT_FILES_SCAN="+scanner.Address)
		p := in.serve(t)
		by := p.lab(t).manager
		if err := by.readiness(http.StatusOK, `"ready"`); err != nil {
			t.Error(err)
		}
		clean, infected := "%PDF-1.4\nharmless\n", "%PDF-1.4\n"+clamdtest.Eicar+"\n"
		for name, file := range map[string]struct{ content, state string }{
			"clean.pdf": {clean, "CLEAN"}, "form.pdf": {infected, "INFECTED"}} {
			made, err := did(by.upload(name, []byte(file.content)))
			if err != nil {
				t.Fatal(err)
			}
			if state, err := made.at("scan"); state != "CHECKING" {
				t.Errorf("%s: a new file is %q, %v", name, state, err)
			}
			id, _ := made.at("id")
			if err := by.untilScanned(id, file.state); err != nil {
				t.Fatal(err)
			}
			address, _ := made.at("download_url")
			a, err := by.call("GET", address, "")
			if err != nil || file.state == "CLEAN" && string(a.body) != clean ||
				file.state == "INFECTED" && (a.status != http.StatusConflict || !strings.Contains(string(a.body), "FILE_WITHHELD")) {
				t.Errorf("%s: %d, %v: %s", name, a.status, err, a.body)
			}
			if file.state == "CLEAN" {
				continue
			}
			notified, err := did(by.call("GET", "/users/"+by.id+"/notifications?kind=file_infected", ""))
			if about, _ := notified.at("0.attachment"); err != nil || about != id {
				t.Errorf("whoever uploaded %s is notified of %q, %v", name, about, err)
			}
			listed := fmt.Sprintf("attachment %s, version 1: %q has %s\nIn quarantine: 1.", id, name, clamdtest.Found)
			for _, args := range [][]string{{}, {"--rescan"}} {
				if said := in.works(t, append([]string{"files", "quarantine"}, args...)...); !strings.Contains(said, listed) {
					t.Errorf("the quarantine has\n%s, want\n%s", said, listed)
				}
			}
			if err := by.untilScanned(id, "INFECTED"); err != nil {
				t.Errorf("scanned again: %v", err)
			}
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
		if said := in.works(t, "verify", "--files"); !strings.Contains(said, ": 0 faults") {
			t.Errorf("verify said %s", said)
		}
	})
}

// untilScanned waits until the scan of an attachment is in a state.
func (c client) untilScanned(id, state string) error {
	return poll(func() error {
		a, err := did(c.call("GET", "/attachments/"+id, ""))
		if err != nil {
			return err
		}
		if is, err := a.at("scan"); is != state {
			return fmt.Errorf("the scan of attachment %s is %q, %w, want %s", id, is, err, state)
		}
		return nil
	})
}
