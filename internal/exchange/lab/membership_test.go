package lab_test

import (
	"testing"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
)

func TestSwitches_ExistForEveryCategoryAndStartOn(t *testing.T) {
	t.Parallel()
	for category, off := range map[mailing.Category]string{
		"new_request_notif": "new_request_notif", "change_in_request_status_notif": "change_in_request_status_notif",
		"request_approval_determined_notif": "request_approval_determined_notif",
		"request_assigned_notif":            "request_assigned_notif", "reminder_notif": "reminder_notif",
	} {
		if !lab.AllOn.On(category) {
			t.Errorf("%s: got off, want on at the start", category)
		}
		s := exchangetest.Body[lab.SwitchesPatch](t, `{"`+off+`": false, "id": 9}`).Patch(lab.AllOn)
		if s.On(category) {
			t.Errorf("%s: got on after %s was sent as false", category, off)
		}
		if s == (lab.Switches{}) || exchangetest.Body[lab.SwitchesPatch](t, `{}`).Patch(s) != s {
			t.Errorf("%s: got %+v, want the other switches kept", category, s)
		}
		if exchangetest.Body[lab.SwitchesPatch](t, `{"`+off+`": true}`).Patch(s) != lab.AllOn {
			t.Errorf("%s: cannot be switched on again", category)
		}
	}
	if lab.AllOn.On("weather") {
		t.Error("got an unknown category on")
	}
}
