package letter

import (
	"strconv"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// setDay sets the day on which a duty is due.
func (v *pageRequest) setDay(id int64) (ui.Response, error) {
	p := duty.Patch{DueOn: exchange.Cleared[exchange.Date]()}
	if text := v.PostFormValue("due_on"); text != "" {
		day, err := exchange.ParseDate(text)
		if err != nil {
			return v.refused(id, v.dutyForm(), exchange.FieldErrors{"due_on": {err.Error()}}.Err())
		}
		p.DueOn = exchange.NullOf(day)
	}
	_, err := v.App.Duties.SetDay(v.Context(), v.Who.Actor, id, v.duty(), p, nil)
	return v.done(id, v.dutyForm(), "Day saved.", err)
}

// settle records the evidence that a duty was done.
func (v *pageRequest) settle(id int64) (ui.Response, error) {
	_, err := v.App.Duties.Settle(v.Context(), v.Who.Actor, id, v.duty(), duty.Evidence{Text: v.text("text")})
	return v.done(id, v.dutyForm(), "Evidence recorded.", err)
}

// waive waives a duty.
func (v *pageRequest) waive(id int64) (ui.Response, error) {
	_, err := v.App.Duties.Waive(v.Context(), v.Who.Actor, id, v.duty(), duty.Waiver{Reason: v.text("reason")})
	return v.done(id, v.dutyForm(), "Duty waived.", err)
}

// duty returns the id of the duty that the address names, 0 if it is none.
func (v *pageRequest) duty() int64 {
	id, _ := strconv.ParseInt(v.PathValue("duty"), 10, 64)
	return id
}

// dutyForm is the name of the forms of that duty.
func (v *pageRequest) dutyForm() string { return "duty-" + v.PathValue("duty") }
