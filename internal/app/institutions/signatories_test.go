package institutions

import (
	"bytes"
	"slices"
	"testing"

	"aliquot/internal/exchange"
)

// FuzzParseSignatories: whatever is sent as a list of signatories, it has rows of its columns or is wrong input.
func FuzzParseSignatories(f *testing.F) {
	for _, list := range []string{
		"institution,family,signed_on\nAarlund University,UBMTA,1995-06-01\n",
		"Institution;Family;Signed on;ROR\r\n\"Aarlund; University\";UBMTA;1995-06-01;05dxps055\r\n",
		"family\tfamily\n", "institution,family,signed_on,\n,,,,,\n", "\ufeffinstitution", "PK\x03\x04", "",
	} {
		f.Add([]byte(list))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		rows, err := parseSignatories(bytes.NewReader(list))
		if err != nil {
			if exchange.CodeOf(err).ServerFault() {
				t.Fatalf("it is the server's fault: %v", err)
			}
			return
		}
		if len(rows) > maxSignatories {
			t.Fatalf("%d rows", len(rows))
		}
		for _, r := range rows {
			for column := range r.cells {
				if !slices.Contains(signatoryColumns, column) {
					t.Fatalf("row %d has the column %q", r.number, column)
				}
			}
		}
	})
}
