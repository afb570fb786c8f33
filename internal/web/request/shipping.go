package request

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

var shippingPages = []ui.Route{
	ui.Get("/requests/shipping", (*pageRequest).shippingDesk).Private(),
	ui.Post("/requests/shipping", (*pageRequest).shipMany),
}

// shippingPage is the desk from which a lab's parcels leave.
type shippingPage struct {
	ui.Page
	Rows     []deskRow
	OnTheWay []deskRow
	Here     string // the address of the page
	Next     string // that of the next page
	First    string // that of the first page, on all others
	Report   []ui.BulkOutcome
	Done     int
}

// deskRow is a request on the shipping desk.
type deskRow struct {
	ui.RequestRow
	To       []string // the lines of the address; none: it is delivered or picked up
	Paid     string   // who pays for shipping
	Carrier  string
	Tracking string
}

// Sent returns the shipping details of what was sent.
func (r deskRow) Sent() request.Shipment {
	if r.Shipment == nil {
		return request.Shipment{}
	}
	return *r.Shipment
}

// Carriers returns the carriers to choose from; any other may be entered.
func (*shippingPage) Carriers() []string {
	var names []string
	for _, c := range request.Couriers {
		names = append(names, c.Name)
	}
	return append(names, request.PickedUp)
}

// Any reports whether there is anything to ship.
func (p *shippingPage) Any() bool { return len(p.Rows) > 0 }

// deskAddress returns the address of a page of the desk, that of the first one if after is "".
func deskAddress(after string) string {
	if after == "" {
		return "/requests/shipping"
	}
	return "/requests/shipping?" + url.Values{"after": {after}}.Encode()
}

func (v *pageRequest) shippingDesk() (ui.Response, error) {
	p, err := v.shippingPage()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("shipping", p)
}

// shippingPage reads the part of the desk that the query asks for.
func (v *pageRequest) shippingPage() (*shippingPage, error) {
	after := v.URL.Query().Get("after")
	order := ui.RequestOrder(url.Values{"sort": {"due"}, "after": {after}}, new(request.ToShip))
	desk, err := v.App.Requests.ShippingDesk(v.Context(), v.Who.Actor, order)
	if err != nil {
		return nil, err
	}
	p := &shippingPage{Page: ui.Page{Title: "Shipping desk", Section: "requests"}, Here: deskAddress(after)}
	if after != "" {
		p.First = deskAddress("")
	}
	if next := desk.Ready.Next; next != nil {
		p.Next = deskAddress(placeText(*next))
	}
	for _, item := range desk.Ready.Items {
		p.Rows = append(p.Rows, v.deskRow(item))
	}
	for _, item := range desk.OnTheWay {
		p.OnTheWay = append(p.OnTheWay, v.deskRow(item))
	}
	return p, nil
}

// deskRow returns a request with what is known of its parcel.
func (v *pageRequest) deskRow(item transfer.InboxItem) deskRow {
	r := deskRow{RequestRow: v.RequestRow(item), To: addressLines(item.Address),
		Paid: paidBy(item.Payment, item.PaymentNotes)}
	if account, ok := request.ReadCourierAccount(item.PaymentNotes); ok {
		r.Carrier = account.Courier
	}
	if s := item.Shipment; s != nil {
		r.Carrier, r.Tracking = s.Carrier, s.Tracking
	}
	return r
}

// shipMany marks the selected requests as shipped, each with its own carrier and tracking number, and reports those
// that it failed for; or it shows their labels.
func (v *pageRequest) shipMany() (ui.Response, error) {
	ids := ui.ChosenIDs(v.PostForm)
	problems := ui.FieldErrors{}
	switch do := v.PostFormValue("do"); {
	case len(ids) == 0:
		problems["id"] = []string{"Select at least one request."}
	case len(ids) > ui.MaxInBulk:
		problems["id"] = []string{"Select at most " + strconv.Itoa(ui.MaxInBulk) + " requests."}
	case do == "labels":
		return ui.SeeOther("/requests/labels?" + chosenAgain(ids).Encode()), nil
	case do != "ship":
		problems["id"] = []string{"Choose an action."}
	default:
		if left := v.trackedOnly(ids); len(left) > 0 {
			problems["id"] = []string{"Select " + strings.Join(left, ", ") + " as well, or clear the tracking number."}
		}
	}
	var report []ui.BulkOutcome
	for _, id := range ids {
		if len(problems) > 0 {
			break
		}
		if err := v.shipOne(id); err != nil {
			why, isRefusal := ui.WhyRefused(err)
			if !isRefusal {
				return ui.Response{}, err
			}
			v.NoteRefusal(err)
			report = append(report, ui.BulkOutcome{ID: id, Why: why})
		}
	}
	done := len(ids) - len(report)
	if len(problems) == 0 && len(report) == 0 {
		return ui.SeeOther(deskAddress(v.URL.Query().Get("after"))).Saying(ui.Plural(done, "request") +
			" will be marked as shipped in 10 seconds. Until then you can undo each."), nil
	}
	p, err := v.shippingPage()
	if err != nil {
		return ui.Response{}, err
	}
	p.Errors, p.Report, p.Done = problems, report, done
	v.typedAgain(p, ids)
	return ui.Invalid("shipping", p)
}

// trackedOnly returns the requests that have a tracking number in the form and are not selected.
func (v *pageRequest) trackedOnly(ids []int64) (names []string) {
	for field, values := range v.PostForm {
		text, is := strings.CutPrefix(field, "tracking-")
		id := ui.ParseID(text)
		if is && id != nil && !slices.Contains(ids, *id) &&
			strings.TrimSpace(values[0]) != v.PostFormValue("was-"+text) {
			names = append(names, "request "+text)
		}
	}
	slices.Sort(names)
	return names
}

// shipOne marks a request as shipped, if it is ready for that, after the time in which it can be undone.
func (v *pageRequest) shipOne(id int64) error {
	ready := func(q request.Detail) error {
		turn := request.WaitingOn(q.Terms, q.Targets, q.Request)
		if turn == nil || turn.What[0] != request.StepShipment {
			return exchange.Errorf(exchange.Conflict, "It is not ready to ship; its status is “%s”.",
				request.StatusName(q.Status))
		}
		return nil
	}
	q, err := v.App.Requests.Request(v.Context(), v.Who.Actor, id)
	if err == nil {
		err = ready(q)
	}
	if err != nil {
		return err
	}
	d := transfer.PendingAction{Request: id, Status: request.Fulfilled, From: q.Status}
	carrier, tracking := v.PostFormValue("carrier-"+number(id)), v.PostFormValue("tracking-"+number(id))
	if carrier != "" || tracking != "" || q.Shipment != nil {
		var now request.Shipment
		if q.Shipment != nil {
			now = *q.Shipment
		}
		if now.SentAt == nil {
			now.SentAt = new(v.App.DB.Read().Now)
		}
		s, err := request.ShipmentPatch{Carrier: exchange.Some(carrier), Tracking: exchange.Some(tracking)}.Patch(now)
		if err != nil {
			return err
		}
		d.Shipment = &s
	}
	_, err = v.App.Schedule(v.Context(), v.Who.Actor, d, ready)
	return err
}

// typedAgain puts what was typed, selected and refused back into the rows.
func (v *pageRequest) typedAgain(p *shippingPage, ids []int64) {
	for i := range p.Rows {
		r := &p.Rows[i]
		for field, value := range map[string]*string{"carrier-": &r.Carrier, "tracking-": &r.Tracking} {
			if field += number(r.ID); v.PostForm.Has(field) {
				*value = v.PostForm.Get(field)
			}
		}
		r.Checked = len(p.Report) == 0 && slices.Contains(ids, r.ID)
		for j, o := range p.Report {
			if o.ID == r.ID {
				r.Problem, r.Checked, p.Report[j].Name = o.Why, true, r.Material
			}
		}
	}
}
