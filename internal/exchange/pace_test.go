package exchange_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
)

func TestThePaceOfALabIsTheMedianOfItsRequests(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const day = int64(24 * 60 * 60)
	received := func(lab, decision, documents, packing, received int64) exchange.Timed {
		return exchange.Timed{Organization: lab, Status: exchange.Verified, CreatedAt: made, Clock: exchange.Clock{
			Since: made.Add(time.Duration(received*day) * time.Second),
			Stages: map[exchange.Status]int64{exchange.Open: decision * day, exchange.Approved: documents * day,
				exchange.InFulfillment: packing * day},
		}}
	}
	rejected := exchange.Timed{Organization: 7, Status: exchange.Rejected, CreatedAt: made,
		Clock: exchange.Clock{Stages: map[exchange.Status]int64{exchange.Open: 30 * day}}}
	paces := exchange.Paces([]exchange.Timed{received(7, 1, 2, 3, 10), received(7, 2, 2, 3, 20),
		received(7, 3, 2, 3, 30), received(8, 9, 9, 9, 90), rejected})
	days := func(n int64) time.Duration { return time.Duration(n*day) * time.Second }
	if p := paces[7]; p.Decided != 4 || p.Received != 3 || p.Decision != days(2) || p.Receipt != days(20) ||
		p.Documents != days(4) || p.Sent != days(7) || !p.Decides() || !p.Receives() {
		t.Errorf("%+v", p)
	}
	if p := paces[8]; p.Decides() || p.Receives() {
		t.Errorf("one request is told of: %+v", p)
	}
	if p := paces[0]; p.Decided != 5 || p.Received != 4 || p.Decision != days(3) {
		t.Errorf("%+v", p)
	}
	if p := exchange.Paces(nil)[0]; p.Decides() {
		t.Errorf("%+v", p)
	}
}

func TestWhatIsAlikeIsOfTheSameCategoryAndDiseaseOrSpecies(t *testing.T) {
	t.Parallel()
	m := exchange.Material{Category: "CELL_LINE", Title: "x", Organisms: []string{"Homo sapiens"},
		Metadata: []byte(`{"disease": "Melanoma", "tissue": "Skin"}`)}
	list := exchange.SimilarFilters(m)
	if len(list) != 3 || list[0]["disease"][0] != "Melanoma" || list[1]["organisms"][0] != "Homo sapiens" ||
		list[0]["category"][0] != "CELL_LINE" {
		t.Errorf("%v", list)
	}
	if list := exchange.SimilarFilters(exchange.Material{Category: "OTHER", Metadata: []byte("{}")}); len(list) != 1 ||
		len(list[0]) != 2 {
		t.Errorf("%v", list)
	}
}
