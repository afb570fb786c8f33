package api_test

import (
	"fmt"
	"testing"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestRequest_FromMaterialToVerifiedReceipt walks the one journey that the product exists for, from a listed material
// to a verified receipt, and checks at every step whose turn it is and who is notified.
func TestRequest_FromMaterialToVerifiedReceipt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		l := w.lab()
		requester := w.person("requester")
		turn := func(a answer, party string, what ...string) {
			t.Helper()
			if got := fmt.Sprint(a.at("waiting_on.party"), a.at("waiting_on.what")); got != fmt.Sprint(party, what) {
				t.Fatalf("waiting on %s, want %s %v", got, party, what)
			}
		}
		made := requester.want(201, "POST", "/material-requests/", obj{"material": l.material, "quantity": "2 vials"})
		path := fmt.Sprintf("/material-requests/%d", made.id())
		turn(made, "requester", "abstract")
		if made.Body["assigned_to"] != l.assignee.ID.String() || made.Body["status"] != "OPEN" ||
			made.Body["is_active"] != true {
			t.Fatalf("a new request: %s", made.Raw)
		}
		turn(requester.want(200, "PATCH", path, obj{"requester_abstract": "We study why intestinal cells polarise."}),
			"lab", "decision")
		turn(l.member.want(200, "PATCH", path, obj{"status": "APPROVED"}), "requester", "requester_signed_mta", "irb",
			"address", "payment")

		signed := requester.upload("signed.pdf", pdf, obj{"description": "signed by us"})
		irb := requester.upload("irb.pdf", pdf, nil)
		executed := l.member.upload("executed.pdf", pdf, nil)
		address := requester.want(200, "POST", fmt.Sprintf("/users/%s/addresses/", requester.ID),
			obj{"name": "J. Carberry",
				"address_line_1": "1 Waterman St", "locality": "Providence", "country": "US", "saved_for_reuse": true})
		requester.refused(409, "MISSING_REQUIREMENTS", "PATCH", path, obj{"status": "IN_FULFILLMENT"})
		requester.want(200, "PATCH", path, obj{"requester_signed_mta_attachment": signed.id()})
		requester.want(200, "PATCH", path, obj{"irb_attachment": irb.id(), "address": address.id()})
		a := requester.want(200, "PATCH", path,
			obj{"payment_method": "SHIPPING_CODE", "payment_method_notes": "DHL 960412778"})
		turn(a, "lab", "executed_mta")
		l.member.want(200, "POST", path+"/documents/requester_signed_mta/return", obj{"reason": "page 4 is not signed"})
		again := requester.upload("signed-v2.pdf", pdf, nil)
		requester.want(200, "PATCH", path, obj{"requester_signed_mta_attachment": again.id()})
		l.member.want(200, "POST", path+"/documents/requester_signed_mta/accept", nil)
		turn(l.member.want(200, "PATCH", path, obj{"executed_mta_attachment": executed.id()}), "lab", "shipment")
		l.member.want(201, "POST", path+"/messages", obj{"text": "We ship on Monday."})
		requester.want(200, "PATCH", path, obj{"status": "IN_FULFILLMENT"})
		l.member.want(200, "PATCH", path+"/shipment",
			obj{"carrier": "DHL", "tracking": "JD014600003", "conditions": "dry ice"})
		turn(l.member.want(200, "PATCH", path, obj{"status": "FULFILLED"}), "requester", "receipt")
		issue := requester.want(201, "POST", path+"/issues/", obj{"text": "the vials thawed"})
		turn(l.member.want(200, "GET", path, nil), "lab", "issue")
		l.member.want(200, "POST", fmt.Sprintf("%s/issues/%d/close", path, issue.id()), nil)
		end := requester.want(200, "PATCH", path, obj{"status": "VERIFIED_FULFILLED"})
		if end.Body["is_active"] != false || end.Body["waiting_on"] != nil {
			t.Fatalf("at the end: %s", end.Raw)
		}

		// Both sides read every document of the transfer, old versions too.
		for _, doc := range []answer{signed, irb, executed, again} {
			for _, p := range []*testPerson{requester, l.member, l.assignee} {
				p.want(200, "GET", doc.Body["download_url"].(string), nil)
			}
			l.former.refused(403, "FORBIDDEN", "GET", doc.Body["download_url"].(string), nil)
		}
		report, err := w.app.Evidence.Verify(t.Context(), evidence.Verification{Files: true})
		if err != nil || len(report.Faults) > 0 || report.Requests != 1 || report.Files != 4 {
			t.Fatalf("verify: %+v, %v", report, err)
		}
		events := requester.want(200, "GET", path+"/events?limit=200", nil)
		heard := map[*testPerson]int{}
		for _, p := range []*testPerson{requester, l.owner, l.member, l.assignee, l.former} {
			heard[p] = len(p.want(200, "GET", fmt.Sprintf("/users/%s/notifications/?limit=200", p.ID), nil).List)
		}
		if len(events.List) != 20 || heard[l.former] != 0 || heard[l.owner] != heard[l.assignee] ||
			heard[requester] == 0 {
			t.Errorf("%d events; heard: requester %d, owner %d, member %d, assignee %d, former %d", len(events.List),
				heard[requester], heard[l.owner], heard[l.member], heard[l.assignee], heard[l.former])
		}
	})
}
