package web

import "strconv"

var undoPages = []page{
	post("/undo/{id}", (*pageRequest).undo),
}

// undo cancels a pending action of the visitor.
func (v *pageRequest) undo() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	d, err := v.app.Undo(v.Context(), v.who.Actor, id)
	if err != nil {
		return response{}, err
	}
	back := "/"
	switch {
	case d.Request != 0:
		back = "/requests/" + strconv.FormatInt(d.Request, 10)
	case d.Material != 0:
		back = "/catalog/" + strconv.FormatInt(d.Material, 10)
	case d.Organization != 0:
		back = "/labs/" + strconv.FormatInt(d.Organization, 10) + "/people"
	}
	return seeOther(back).saying("Undone. No one was notified."), nil
}
