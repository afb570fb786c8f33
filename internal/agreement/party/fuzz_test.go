package party_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"aliquot/internal/agreement/party"

	"github.com/google/uuid"
)

// FuzzPatch_SendingBackWhatItMadeChangesNothing, of every kind of object and whatever its body holds.
func FuzzPatch_SendingBackWhatItMadeChangesNothing(f *testing.F) {
	for _, body := range []string{
		`{"legal_name": "Aarlund University", "country": "Denmark", "ror": "05dxps055", "mail_domains": ["A.example"]}`,
		`{"position": 1, "name": "Ada", "mail": "ada@example.edu", "direction": "BOTH", "from": "2026-01-01"}`,
		`{"authority": 1, "person": "01890000-0000-7000-8000-000000000006", "from": "2026-01-01", "until": "2026-02-01"}`,
		`{"family": "ubmta", "standing": "BILATERAL", "counterparty": 7, "signed_on": "1995-06-01"}`,
		`{"title": "Director", "from": null}`, `{"organization": 7, "confirmed": true}`, `{"expires": "2026-01-01"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var values map[string]any
		if json.Unmarshal(raw, &values) != nil {
			return
		}
		again(t, party.NewInstitution(uuid.Max), values)
		again(t, party.Lab{}, values)
		again(t, party.Affiliation{}, values)
		again(t, party.Position{}, values)
		again(t, party.Authority{LargestBSL: 1}, values)
		again(t, party.StandIn{}, values)
		again(t, party.Master{Standing: party.Signed}, values)
	})
}

// again applies the values of the fields that an object has, and then what it became.
func again[T party.Described[T]](t *testing.T, o T, values map[string]any) {
	t.Helper()
	var p party.Patch[T]
	for name, value := range values {
		if p.Others()[name] != nil && p.Set(name, value) != nil {
			return
		}
	}
	once, err := p.Patch(o)
	if err != nil {
		return
	}
	var back party.Patch[T]
	for _, d := range o.Table() {
		if slot := back.Others()[d.Name]; slot != nil && d.Text(&once) != uuid.Nil.String() { // nobody is left out
			d.Send(&once, slot)
		}
	}
	twice, err := back.Patch(once)
	if err != nil || !reflect.DeepEqual(once, twice) {
		t.Fatalf("%+v became %+v, %v", once, twice, err)
	}
}
