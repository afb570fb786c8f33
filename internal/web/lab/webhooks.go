package lab

import (
	"fmt"
	"slices"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/web/ui"
)

type labWebhooksPage struct {
	labPage
	Webhooks []notify.Webhook
	Form     notify.Webhook
	All      bool // of the form: all event types
	Types    []notify.EventType
	Made     *notify.Webhook // the new webhook, whose secret is shown this once
}

// Chosen reports whether the form has an event type ticked.
func (p *labWebhooksPage) Chosen(t notify.EventType) bool { return slices.Contains(p.Form.Events, t) }

func (v *pageRequest) readWebhooks() (*labWebhooksPage, error) {
	base, err := v.readLab("webhooks", "Webhooks")
	if err != nil {
		return nil, err
	}
	p := &labWebhooksPage{labPage: base, All: true, Types: notify.EventTypes}
	list, err := v.App.Webhooks.List(v.Context(), v.Who.Actor, base.Lab.ID,
		exchange.Page{Limit: notify.MaxWebhooks})
	p.Webhooks = list.Items
	return p, err
}

func (v *pageRequest) labWebhooks() (ui.Response, error) {
	p, err := v.readWebhooks()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab-webhooks", p)
}

// webhookForm returns the webhook that the form describes, and the values as typed.
func (v *pageRequest) webhookForm() (patch notify.WebhookPatch, typed notify.Webhook, everything bool) {
	typed.URL, typed.Description = v.PostFormValue("url"), v.PostFormValue("description")
	patch.URL, patch.Description = exchange.Some(typed.URL), exchange.Some(typed.Description)
	names := exchange.Names(v.PostForm["events"])
	for _, name := range names {
		typed.Events = append(typed.Events, notify.EventType(name))
	}
	if everything = v.PostFormValue("all") != ""; everything {
		patch.Events = exchange.Cleared[exchange.Names]()
	} else {
		patch.Events = exchange.NullOf(names)
	}
	return patch, typed, everything
}

// makeWebhook creates a webhook, and shows its secret, which no other page does.
func (v *pageRequest) makeWebhook() (ui.Response, error) {
	lab, err := v.labFor(exchange.WebhookWrite)
	if err != nil {
		return ui.Response{}, err
	}
	patch, typed, everything := v.webhookForm()
	made, err := v.App.Webhooks.Create(v.Context(), v.Who.Actor, lab, patch)
	text, refused := refusal(err)
	if err != nil && !refused {
		return ui.Response{}, err
	}
	p, failed := v.readWebhooks()
	if failed != nil {
		return ui.Response{}, failed
	}
	if err == nil {
		p.Made = &made
		return secretly(ui.Show("lab-webhooks", p))
	}
	p.Form, p.All = typed, everything
	if p.Errors, refused = ui.FieldErrorsIn(err); !refused {
		p.Errors = ui.FieldErrors{"url": {text}}
	}
	return ui.Invalid("lab-webhooks", p)
}

// secretly marks a response with a secret, so that nothing stores it.
func secretly(r ui.Response, err error) (ui.Response, error) {
	r.Private = true
	return r, err
}

type labWebhookPage struct {
	labWebhooksPage
	Webhook    notify.Webhook
	Deliveries []notify.WebhookDelivery
	Total      exchange.Count
	Links      links
	State      string
	States     []notify.DeliveryState
	Delivery   *notify.WebhookDelivery // the delivery shown with its attempts
	Attempts   []notify.Attempt
}

func (v *pageRequest) readWebhook() (*labWebhookPage, error) {
	base, err := v.readLab("webhooks", "Webhook")
	if err != nil {
		return nil, err
	}
	id, err := v.PathID("webhook")
	if err != nil {
		return nil, err
	}
	p := &labWebhookPage{labWebhooksPage: labWebhooksPage{labPage: base, Types: notify.EventTypes},
		States: notify.DeliveryStates}
	if p.Webhook, err = v.App.Webhooks.Get(v.Context(), v.Who.Actor, base.Lab.ID, id); err != nil {
		return nil, err
	}
	p.Form, p.All = p.Webhook, p.Webhook.Events == nil
	f := notify.DeliveryFilter{}
	if state := notify.DeliveryState(v.URL.Query().Get("state")); slices.Contains(p.States, state) {
		p.State, f.State = string(state), &state
	}
	list, err := v.App.Webhooks.Deliveries(v.Context(), v.Who.Actor, base.Lab.ID, id, v.pageOf(), f)
	if err != nil {
		return nil, err
	}
	p.Deliveries, p.Total, p.Links = list.Items, list.Total, v.linksOf(list.Next)
	if n, err := strconv.ParseInt(v.URL.Query().Get("delivery"), 10, 64); err == nil {
		d, attempts, err := v.App.Webhooks.Delivery(v.Context(), v.Who.Actor, base.Lab.ID, id, n)
		if err != nil {
			return nil, err
		}
		p.Delivery, p.Attempts = &d, attempts
	}
	return p, nil
}

func (v *pageRequest) labWebhook() (ui.Response, error) {
	p, err := v.readWebhook()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab-webhook", p)
}

func (v *pageRequest) webhookOf() (lab, id int64, err error) {
	if lab, err = v.PathID("id"); err == nil {
		id, err = v.PathID("webhook")
	}
	return lab, id, err
}

func (v *pageRequest) saveWebhook() (ui.Response, error) {
	lab, id, err := v.webhookOf()
	if err != nil {
		return ui.Response{}, err
	}
	patch, typed, everything := v.webhookForm()
	_, err = v.App.Webhooks.Update(v.Context(), v.Who.Actor, lab, id, patch, nil)
	if fields, ok := ui.FieldErrorsIn(err); ok {
		p, err := v.readWebhook()
		if err != nil {
			return ui.Response{}, err
		}
		p.Errors, p.Form, p.All = fields, typed, everything
		return ui.Invalid("lab-webhook", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab(fmt.Sprintf("/webhooks/%d", id))).Saying("Webhook saved."), nil
}

// actOnWebhook runs the action of a button of a webhook.
func (v *pageRequest) actOnWebhook() (ui.Response, error) {
	lab, id, err := v.webhookOf()
	if err != nil {
		return ui.Response{}, err
	}
	ctx, who, here := v.Context(), v.Who.Actor, ui.SeeOther(v.lab(fmt.Sprintf("/webhooks/%d", id)))
	switch v.PathValue("act") {
	case "on", "off":
		on := v.PathValue("act") == "on"
		w, err := v.App.Webhooks.Update(ctx, who, lab, id, notify.WebhookPatch{Enabled: exchange.Some(on)},
			nil)
		if w.Enabled {
			return here.Saying("Webhook switched on."), err
		}
		return here.Saying("Webhook switched off. Events that happen while it is off are not sent."), err
	case "rotate":
		w, err := v.App.Webhooks.Rotate(ctx, who, lab, id)
		if err != nil {
			return ui.Response{}, err
		}
		p, err := v.readWebhook()
		if err != nil {
			return ui.Response{}, err
		}
		p.Made = &w
		return secretly(ui.Show("lab-webhook", p))
	case "ping":
		_, err := v.App.Webhooks.Ping(ctx, who, lab, id)
		return here.Saying("A test message is on its way. Reload the page to see the result."), err
	case "delete":
		err := v.App.Webhooks.Delete(ctx, who, lab, id, nil)
		return ui.SeeOther(v.lab("/webhooks")).Saying("Webhook deleted."), err
	}
	return v.Missing()
}

// redeliver sends a message again.
func (v *pageRequest) redeliver() (ui.Response, error) {
	lab, id, err := v.webhookOf()
	if err != nil {
		return ui.Response{}, err
	}
	delivery, err := v.PathID("delivery")
	if err != nil {
		return ui.Response{}, err
	}
	if _, err := v.App.Webhooks.Redeliver(v.Context(), v.Who.Actor, lab, id, delivery); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab(fmt.Sprintf("/webhooks/%d", id))).Saying("The message is being sent again with the same " +
		"id."), nil
}
