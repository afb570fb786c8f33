// Package lettertest has letters for tests.
package lettertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
)

// Instrument returns an instrument of the box.
func Instrument(t testing.TB, id string) instrument.Instrument {
	t.Helper()
	list, err := instrument.Box()
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(list, func(i instrument.Instrument) bool { return i.ID == id })
	if n < 0 {
		t.Fatalf("no instrument %s", id)
	}
	return list[n]
}

// Short returns a letter for one material.
func Short(t testing.TB) (letter.Letter, instrument.Instrument) {
	t.Helper()
	i := Instrument(t, "UBMTA_LETTER")
	return letter.New("A-1", "2026-06-15", i, 1, 2, []letter.Request{{ID: 7, Material: "pUC19", Quantity: "1 vial"}},
		map[string]string{"provider_name": "Aarlund University", "recipient_name": "Berg Institute",
			"recipient_scientist": "Dr. Ines Ortega", "provider_scientist": "Prof. Jon Lind"}), i
}

// Long returns a letter of several pages: twelve clauses, 27 materials, and names in several scripts.
func Long(t testing.TB) (letter.Letter, instrument.Instrument) {
	t.Helper()
	i := Instrument(t, "UBMTA_LETTER")
	var clauses []string
	for n := range 12 {
		clauses = append(clauses, fmt.Sprintf("%d. The Recipient uses the materials for teaching and non-profit "+
			"research only, keeps them in its own laboratories, and returns or destroys what remains when clause %d "+
			"ends.", n+1, n+1))
	}
	i.Template += strings.Join(clauses, "\n") + "\n"
	sum := sha256.Sum256([]byte(i.Template))
	i.SHA256 = hex.EncodeToString(sum[:])
	var requests []letter.Request
	for n := range 27 {
		requests = append(requests, letter.Request{ID: int64(100 + n), Quantity: "2 vials",
			Material: fmt.Sprintf("HEK293 β-catenin reporter, clone %d, with a name that is longer than one line", n)})
	}
	requests[5].Material = "小鼠 Trp53 flox 系統 マウス 생쥐"
	return letter.New("A-2026-17", "2026-06-15", i, 1, 2, requests, map[string]string{
		"provider_name": "Århus Universität für Lebenswissenschaften", "recipient_name": "東京生命科学研究所 (Tokyo)",
		"recipient_scientist": "Dr. Łucja Świątek", "provider_scientist": "Prof. Γιώργος Παπαδόπουλος"}), i
}
