package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
)

// notificationSettingsPage is the choice of notifications and mail.
type notificationSettingsPage struct {
	accountPage
	Memberships []app.OwnSwitches
	Mail        exchange.MailSettings
	Saved       bool // the switches were saved by the form just sent
}

// notificationSetting is one row of switches.
type notificationSetting struct {
	Category   exchange.Category
	Text, Help string
}

// Kinds returns the rows of switches.
func (*notificationSettingsPage) Kinds() []notificationSetting {
	return []notificationSetting{
		{exchange.NewRequestNotif, "New request", "A request arrives for the lab"},
		{exchange.StatusNotif, "Request changed", "A document, message or stage changes"},
		{exchange.DecisionNotif, "Accepted or declined", "Someone in the lab decides"},
		{exchange.AssignedNotif, "Assigned to me", "A request becomes yours"},
		{exchange.ReminderNotif, "Reminders", "Something is due or late"},
	}
}

// Categories returns the categories of mail.
func (*notificationSettingsPage) Categories() []exchange.Category { return exchange.MailCategories }

// About reports whether the person wants mail of a category.
func (p *notificationSettingsPage) About(c exchange.Category) bool {
	return slices.Contains(p.Form["about"], string(c))
}

// Days returns the days of the week, beginning with Monday.
func (*notificationSettingsPage) Days() []string {
	return append(slices.Clone(exchange.Weekdays[1:]), exchange.Weekdays[0])
}

// Deliveries returns the ways of receiving mail, with their labels.
func (*notificationSettingsPage) Deliveries() []settingsTab {
	return []settingsTab{{"AT_ONCE", "", "In Aliquot, and by e-mail at once"},
		{"DAILY", "", "In Aliquot, and in a daily e-mail"}, {"WEEKLY", "", "In Aliquot, and in a weekly e-mail"},
		{"NEVER", "", "In Aliquot only"}}
}

// Zones returns the time zones by region.
func (t typed) Zones() []zoneRegion { return regions(t.Val("time_zone")) }

// zoneRegion is a part of the world with its time zones.
type zoneRegion struct {
	Name  string
	Zones []townZone
}

// townZone is a time zone with the town it is named after.
type townZone struct{ Name, Town string }

// regions returns all time zones by region, with more among them even if it is not a known zone.
func regions(more string) []zoneRegion {
	names := exchange.Zones
	if _, err := time.LoadLocation(more); err == nil && more != "" && more != "Local" && !slices.Contains(names, more) {
		names = append(slices.Clone(names), more)
	}
	var list []zoneRegion
	for _, name := range names {
		place, town, split := strings.Cut(name, "/")
		if !split {
			place, town = "World", name
		}
		at := slices.IndexFunc(list, func(r zoneRegion) bool { return r.Name == place })
		if at < 0 {
			at, list = len(list), append(list, zoneRegion{Name: place})
		}
		list[at].Zones = append(list[at].Zones, townZone{name, strings.NewReplacer("_", " ", "/", ", ").Replace(town)})
	}
	return list
}

var mailLabels = map[string]string{"delivery": "how you are told", "time_zone": "Choose your time zone from the list",
	"digest_at":  "the time of the summary",
	"digest_day": "the day of the summary", "quiet_from": "the beginning of quiet hours",
	"quiet_until": "the end of quiet hours"}

func (v *pageRequest) toldPage() (*notificationSettingsPage, error) {
	p := &notificationSettingsPage{accountPage: v.accountPage("notifications", "Notifications")}
	var err error
	if p.Memberships, err = v.app.OwnSwitches(v.Context(), v.who.Actor); err != nil {
		return nil, err
	}
	if p.Mail, err = v.app.MailSettings(v.Context(), v.who.Actor, v.who.ID); err != nil {
		return nil, err
	}
	if p.Form == nil || !p.Form.Has("delivery") {
		p.Form = mailForm(p.Mail)
	}
	return p, nil
}

// mailForm returns a person's mail settings as form values.
func mailForm(s exchange.MailSettings) url.Values {
	form := url.Values{"delivery": {string(s.Delivery)}, "time_zone": {s.TimeZone}, "digest_at": {s.DigestAt.String()},
		"digest_day": {exchange.Weekdays[s.DigestDay]}}
	if s.QuietFrom != nil {
		form["quiet_from"], form["quiet_until"] = []string{s.QuietFrom.String()}, []string{s.QuietUntil.String()}
	}
	for _, c := range exchange.MailCategories {
		if !slices.Contains(s.Muted, c) {
			form.Add("about", string(c))
		}
	}
	return form
}

func (v *pageRequest) told() (response, error) {
	p, err := v.toldPage()
	if err != nil {
		return response{}, err
	}
	return show("account-notifications", p)
}

// saveSwitches stores those switches whose value in the form differs.
func (v *pageRequest) saveSwitches() (response, error) {
	own, err := v.app.OwnSwitches(v.Context(), v.who.Actor)
	if err != nil {
		return response{}, err
	}
	for _, m := range own {
		id := strconv.FormatInt(m.Membership.ID, 10)
		if !slices.Contains(v.PostForm["membership"], id) { // the form does not have it
			continue
		}
		on := func(c exchange.Category) exchange.Opt[bool] {
			return exchange.Some(v.PostForm.Has(id + "." + string(c)))
		}
		p := exchange.SwitchesPatch{NewRequest: on(exchange.NewRequestNotif), StatusChange: on(exchange.StatusNotif),
			Decision: on(exchange.DecisionNotif),
			Assigned: on(exchange.AssignedNotif), Reminder: on(exchange.ReminderNotif)}
		if p.Patch(m.Switches) == m.Switches {
			continue
		}
		if _, err := v.app.UpdateSettings(v.Context(), v.who.Actor, m.Membership.ID, p, nil); err != nil {
			return response{}, err
		}
	}
	if v.Header.Get("HX-Request") == "" {
		return seeOther("/account/notifications").saying("Your switches are saved."), nil
	}
	p, err := v.toldPage()
	if err != nil {
		return response{}, err
	}
	p.Saved = true
	return show("account-notifications", p)
}

// mailPatch returns the mail settings in the form.
func (v *pageRequest) mailPatch() exchange.MailSettingsPatch {
	text := func(name string) exchange.Opt[string] { return exchange.Some(v.PostFormValue(name)) }
	moment := func(name string) exchange.Null[string] {
		if t := v.PostFormValue(name); t != "" {
			return exchange.NullOf(t)
		}
		return exchange.Cleared[string]()
	}
	muted := []exchange.Category{}
	for _, c := range exchange.MailCategories {
		if !slices.Contains(v.PostForm["about"], string(c)) {
			muted = append(muted, c)
		}
	}
	return exchange.MailSettingsPatch{Delivery: text("delivery"), TimeZone: text("time_zone"),
		QuietFrom: moment("quiet_from"), QuietUntil: moment("quiet_until"),
		DigestAt: text("digest_at"), DigestDay: text("digest_day"), Muted: exchange.Some(muted)}
}

func (v *pageRequest) saveMail() (response, error) {
	_, err := v.app.UpdateMailSettings(v.Context(), v.who.Actor, v.who.ID, v.mailPatch(), nil)
	if fields, wrong := faults(err); wrong {
		p, err := v.toldPage()
		if err != nil {
			return response{}, err
		}
		p.Errors = sentencesOf(fields, mailLabels)
		return invalid("account-notifications", p)
	}
	return seeOther("/account/notifications").saying("Your e-mail settings are saved."), err
}

func (v *pageRequest) retryMail() (response, error) {
	_, err := v.app.RetryMail(v.Context(), v.who.Actor, v.who.ID)
	return seeOther("/account/notifications").saying("E-mail is sent to your address again."), err
}
