package lab_test

import (
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"

	"github.com/google/uuid"
)

func TestOrganization_IsSignedAheadByItsOwnerForAYearAtMost(t *testing.T) {
	t.Parallel()
	owner := uuid.New()
	for until, valid := range map[exchange.Date]bool{"2026-06-15": false, "2026-06-16": true, "2027-06-16": true,
		"2027-06-17": false, "2020-01-01": false} {
		o := lab.Organization{Owner: owner, SignsAhead: lab.Ahead{Until: &until}}
		signed, err := o.SignAhead("2026-06-15")
		if (err == nil) != valid {
			t.Errorf("until %s: %v", until, err)
		}
		if !valid {
			continue
		}
		for day, want := range map[exchange.Date]bool{"2026-06-14": false, "2026-06-15": true, until: false} {
			if signed.SignedAhead(day) != want {
				t.Errorf("until %s: on %s it counts: %t", until, day, !want)
			}
		}
		if signed.Owner = uuid.New(); signed.SignedAhead("2026-06-15") {
			t.Error("the signature of an earlier owner counts")
		}
	}
	o := lab.Organization{Owner: owner, SignsAhead: lab.Ahead{By: owner, Since: "2026-01-01"}}
	if ended, err := o.SignAhead("2026-06-15"); err != nil || ended.SignsAhead != (lab.Ahead{}) {
		t.Errorf("taken back: %+v, %v", ended.SignsAhead, err)
	}
}
