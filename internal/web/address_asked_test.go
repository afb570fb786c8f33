package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
)

// unshipped lists a material without shipping requirements, and returns its id.
func (w *world) unshipped(category string) int64 {
	w.Helper()
	m, _, err := w.app.Materials.CreateMaterial(w.Context(), w.as("olivia").actor,
		material.Patch{Category: exchange.Some(category), Title: exchange.Some("Without terms " + category),
			Organization: exchange.Some(exchange.Ref(w.material("HeLa").OrganizationID)),
			Metadata:     exchange.Some(json.RawMessage(`{}`))})
	w.must(err)
	return m.ID
}

func TestRequestForm_AsksWhereToSendWhatIsShippedUnlessTheLabSaysOtherwise(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for category, asks := range map[string]bool{"CELL_LINE": true, "PLASMID": true, "OTHER": true, "DATASET": false,
		"PROTOCOL": false} {
		path := fmt.Sprintf("/catalog/%d", w.unshipped(category))
		v := w.as("new " + category)
		if said := strings.Contains(v.get(path).text("main"), "Delivery address"); said != asks {
			t.Errorf("%s: the page of the material names an address: %v", category, said)
		}
		form := v.get(path + "/request").want(http.StatusOK)
		if form.has(`#request [name="address"]`) != asks {
			t.Errorf("%s: the form asks for an address: %v", category, !asks)
		}
		status := http.StatusSeeOther
		if asks {
			status = http.StatusUnprocessableEntity
		}
		v.post(path+"/request", "once", form.input("once"), "quantity", "1").want(status)
		sent := v.post(path+"/request", "once", form.input("once"), "quantity", "1", "address", "new", "name",
			"Nadia New", "address_line_1", "1 Main St", "locality", "Springfield", "state", "IL", "postal_code", "62701",
			"country", "US")
		if sent.status != http.StatusSeeOther {
			t.Errorf("%s: with an address: %d %s", category, sent.status, sent.text("#errors"))
		}
	}
}

func TestLabels_NeverGoWithoutARecipient(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q, err := w.app.Requests.CreateRequest(w.Context(), w.as("josiah").actor, // as a program may
			request.New{Material: exchange.Some(exchange.Ref(w.unshipped("CELL_LINE")))})
		w.must(err)
		mario := w.as("mario")
		_, err = w.app.Requests.UpdateRequest(w.Context(), mario.actor, q.ID,
			request.Patch{Status: exchange.Some(request.InFulfillment)}, nil)
		w.must(err)
		path := fmt.Sprintf("/requests/%d", q.ID)
		for _, query := range []string{"", "?what=parcel", "?what=slip", "?size=a4"} {
			a := mario.get(path + "/labels" + query).want(http.StatusOK)
			if a.has(".parcel, .slip") || !strings.Contains(a.text(".note.turn"), "no shipping address yet") {
				t.Errorf("%q prints a label without recipient: %s", query, a.text(".paper"))
			}
		}
		if next := mario.get(path).text("#next"); !strings.Contains(next, "Ask where to send it") {
			t.Errorf("the lab is told %q", next)
		}
		if a := w.as("josiah").get(path); !strings.Contains(a.text("#requirement-address"), "Not given yet") ||
			!a.has("#requirement-address details") {
			t.Errorf("the requester cannot add an address: %s", a.text("#requirement-address"))
		}
	})
}
