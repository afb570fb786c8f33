package api_test

import (
	"crypto/x509"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/pades"
	"aliquot/internal/exchange"
	"aliquot/internal/seal"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestSend_NamesWhatIsMissing of a letter, whose record it comes from and how to enter it, and sends nothing.
func TestSend_NamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.execute("UPDATE users SET first_name = '', last_name = '', username = '' WHERE id = $1", s.requester().ID)
		asked := s.requester().want(201, "POST", "/material-requests", obj{"material": s.plasmid()}).id()
		made := s.requester().want(201, "POST", "/agreements",
			obj{"requests": []int64{asked}, "recipient": s.recipient()})
		path := fmt.Sprintf("/agreements/%d", made.id())
		fields := obj{}
		s.unchanged("an agreement that is not complete", func() {
			a := s.requester().refused(409, "MISSING_FIELDS", "POST", path+"/send", nil)
			missing, _ := a.Body["missing"].([]any)
			if len(missing) == 0 {
				t.Fatalf("it does not say what is missing: %s", a.Raw)
			}
			for _, item := range missing {
				one := item.(map[string]any)
				if one["source"] == "" || one["how"] == "" {
					t.Errorf("nobody learns how to enter %v", one)
				}
				fields[one["field"].(string)] = "Ada Requester"
			}
		})
		s.requester().want(200, "POST", path+"/versions", obj{"version": 1, "fields": fields})
		s.requester().want(200, "POST", path+"/send", nil)
	})
}

// TestExecuted_IsSealedByTheService: in the field of each signature, and in its own.
func TestExecuted_IsSealedByTheService(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		folder := t.TempDir()
		key, chain, err := seal.Files{Key: filepath.Join(folder, "seal.key"),
			Certificate: filepath.Join(folder, "seal.pem"), Made: true}.Open("aliquot.example.org", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		s.app.Sealer = seal.New(key, chain, nil)
		path := s.executed(s.newPlasmid())
		pdf := s.requester().call("GET", path+"/document", nil).Raw
		trust := pades.Trust{Signers: x509.NewCertPool(), Authorities: x509.NewCertPool()}
		trust.Signers.AddCert(chain[0])
		_, seals, err := pades.Verify(pdf, trust)
		if err != nil || len(seals) != 5 || seals[4].Field != letter.SealField {
			t.Fatalf("seals %v: %v", seals, err)
		}
		signers := map[string]bool{}
		for _, one := range seals[:4] {
			signers[one.Field] = true
		}
		if len(signers) != 4 {
			t.Errorf("the fields of the signatures are sealed as %v", signers)
		}
	})
}
