package catalog

import (
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// checklist is what helps a new requester or a new lab to begin.
type checklist struct {
	Key   string // by which it is dismissed
	Title string
	Steps []checkStep
}

type checkStep struct {
	Text, Address string
	Done          bool
}

// Left returns the number of steps that are not done.
func (c checklist) Left() (n int) {
	for _, s := range c.Steps {
		if !s.Done {
			n++
		}
	}
	return n
}

// checklistCookie is the cookie with the keys of the checklists that the visitor dismissed.
const (
	checklistCookie = "__Host-checklists"
	maxDismissed    = 10 // keys in the cookie, the latest
)

func (v *pageRequest) dismissed() []string { return strings.Fields(v.CookieValue(checklistCookie)) }

// checklists returns the checklists of the visitor that have steps left and were not dismissed.
func (v *pageRequest) checklists() ([]checklist, error) {
	begun, err := v.App.Accounts.Checklist(v.Context(), v.Who)
	if err != nil {
		return nil, err
	}
	var lists []checklist
	if b := begun.Requester; b != nil {
		lists = append(lists, checklist{"requester", "Get ready to request materials", []checkStep{
			{"Enter the e-mail address for notifications", "/account", b.Email},
			{"Add the address that materials are sent to", "/account/addresses", b.Address},
			{"Find a material and request it", "/catalog", b.Request},
			{"Save a search, and be notified of new listings", "/catalog", b.Search},
		}})
	}
	if b := begun.Lab; b != nil {
		id := strconv.FormatInt(b.Lab.ID, 10)
		lists = append(lists, checklist{"lab-" + id, "Set up " + b.Lab.Name, []checkStep{
			{"Say how your lab ships and who pays", "/labs/" + id + "/requirements", b.Shipping},
			{"List a material", "/share?lab=" + id, b.Material},
			{"Invite a colleague", "/labs/" + id + "/people", b.Colleague},
		}})
	}
	gone := v.dismissed()
	return slices.DeleteFunc(lists, func(c checklist) bool { return slices.Contains(gone, c.Key) }), nil
}

// dismissChecklist hides a checklist in this browser for as long as there can be one.
func (v *pageRequest) dismissChecklist() (ui.Response, error) {
	key := v.PostFormValue("list")
	id, ofLab := strings.CutPrefix(key, "lab-")
	if key != "requester" && (!ofLab || ui.ParseID(id) == nil) {
		return ui.Response{}, exchange.Errorf(exchange.InvalidInput, "There is no such checklist.")
	}
	gone := append(slices.DeleteFunc(v.dismissed(), func(k string) bool { return k == key }), key)
	gone = gone[max(0, len(gone)-maxDismissed):]
	v.SetCookie(checklistCookie, strings.Join(gone, " "), person.NewFor)
	return ui.SeeOther("/").Saying("Checklist dismissed."), nil
}
