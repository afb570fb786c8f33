package account

import (
	"net/url"
	"slices"
	"strconv"

	"aliquot/internal/app/labs"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/web/ui"
)

// notificationSettingsPage is the choice of notifications and mail.
type notificationSettingsPage struct {
	accountPage
	Memberships []labs.OwnSwitches
	Mail        mailing.Settings
	Saved       bool // the switches were saved by the form just sent
}

// notificationSetting is one row of switches.
type notificationSetting struct {
	Category   mailing.Category
	Text, Help string
}

// Kinds returns the rows of switches.
func (*notificationSettingsPage) Kinds() []notificationSetting {
	return []notificationSetting{
		{mailing.NewRequestNotif, "New request", "A request arrives for the lab"},
		{mailing.StatusNotif, "Request changed", "A document, message or status changes"},
		{mailing.DecisionNotif, "Accepted or declined", "Someone in your lab decides"},
		{mailing.AssignedNotif, "Assigned to me", "A request is assigned to you"},
		{mailing.ReminderNotif, "Reminders", "Something is due or late"},
	}
}

// Categories returns the categories of mail.
func (*notificationSettingsPage) Categories() []mailing.Category { return mailing.AllCategories }

// About reports whether the person wants mail of a category.
func (p *notificationSettingsPage) About(c mailing.Category) bool {
	return slices.Contains(p.Form["about"], string(c))
}

// Days returns the days of the week, beginning with Monday.
func (*notificationSettingsPage) Days() []string {
	return append(slices.Clone(mailing.Weekdays[1:]), mailing.Weekdays[0])
}

// Deliveries returns the ways of receiving mail, with their labels.
func (*notificationSettingsPage) Deliveries() []settingsTab {
	return []settingsTab{{"AT_ONCE", "", "In Aliquot, and by e-mail immediately"},
		{"DAILY", "", "In Aliquot, and in a daily e-mail"}, {"WEEKLY", "", "In Aliquot, and in a weekly e-mail"},
		{"NEVER", "", "In Aliquot only"}}
}

var mailLabels = map[string]string{"delivery": "how you are notified",
	"time_zone":  "Choose your time zone from the list",
	"digest_at":  "the time of the digest",
	"digest_day": "the day of the digest", "quiet_from": "the start of quiet hours",
	"quiet_until": "the end of quiet hours"}

func (v *pageRequest) notificationSettings() (*notificationSettingsPage, error) {
	p := &notificationSettingsPage{accountPage: v.accountPage("notifications", "Notifications")}
	var err error
	if p.Memberships, err = v.App.Labs.OwnSwitches(v.Context(), v.Who.Actor); err != nil {
		return nil, err
	}
	if p.Mail, err = v.App.Accounts.MailSettings(v.Context(), v.Who.Actor, v.Who.ID); err != nil {
		return nil, err
	}
	if p.Form == nil || !p.Form.Has("delivery") {
		p.Form = mailForm(p.Mail)
	}
	return p, nil
}

// mailForm returns a person's mail settings as form values.
func mailForm(s mailing.Settings) url.Values {
	form := url.Values{"delivery": {string(s.Delivery)}, "time_zone": {s.TimeZone}, "digest_at": {s.DigestAt.String()},
		"digest_day": {mailing.Weekdays[s.DigestDay]}}
	if s.QuietFrom != nil {
		form["quiet_from"], form["quiet_until"] = []string{s.QuietFrom.String()}, []string{s.QuietUntil.String()}
	}
	for _, c := range mailing.AllCategories {
		if !slices.Contains(s.Muted, c) {
			form.Add("about", string(c))
		}
	}
	return form
}

func (v *pageRequest) showNotificationSettings() (ui.Response, error) {
	p, err := v.notificationSettings()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("account-notifications", p)
}

// saveSwitches stores those switches whose value in the form differs.
func (v *pageRequest) saveSwitches() (ui.Response, error) {
	own, err := v.App.Labs.OwnSwitches(v.Context(), v.Who.Actor)
	if err != nil {
		return ui.Response{}, err
	}
	for _, m := range own {
		id := strconv.FormatInt(m.Membership.ID, 10)
		if !slices.Contains(v.PostForm["membership"], id) { // the form does not have it
			continue
		}
		on := func(c mailing.Category) exchange.Opt[bool] {
			return exchange.Some(v.PostForm.Has(id + "." + string(c)))
		}
		p := lab.SwitchesPatch{NewRequest: on(mailing.NewRequestNotif), StatusChange: on(mailing.StatusNotif),
			Decision: on(mailing.DecisionNotif),
			Assigned: on(mailing.AssignedNotif), Reminder: on(mailing.ReminderNotif)}
		if p.Patch(m.Switches) == m.Switches {
			continue
		}
		if _, err := v.App.Labs.UpdateSettings(v.Context(), v.Who.Actor, m.Membership.ID, p, nil); err != nil {
			return ui.Response{}, err
		}
	}
	if v.Header.Get("HX-Request") == "" {
		return ui.SeeOther("/account/notifications").Saying("Switches saved."), nil
	}
	p, err := v.notificationSettings()
	if err != nil {
		return ui.Response{}, err
	}
	p.Saved = true
	return ui.Show("account-notifications", p)
}

// mailPatch returns the mail settings in the form.
func (v *pageRequest) mailPatch() mailing.Patch {
	text := func(name string) exchange.Opt[string] { return exchange.Some(v.PostFormValue(name)) }
	moment := func(name string) exchange.Null[string] {
		if t := v.PostFormValue(name); t != "" {
			return exchange.NullOf(t)
		}
		return exchange.Cleared[string]()
	}
	muted := []mailing.Category{}
	for _, c := range mailing.AllCategories {
		if !slices.Contains(v.PostForm["about"], string(c)) {
			muted = append(muted, c)
		}
	}
	return mailing.Patch{Delivery: text("delivery"), TimeZone: text("time_zone"),
		QuietFrom: moment("quiet_from"), QuietUntil: moment("quiet_until"),
		DigestAt: text("digest_at"), DigestDay: text("digest_day"), Muted: exchange.Some(muted)}
}

func (v *pageRequest) saveMail() (ui.Response, error) {
	_, err := v.App.Accounts.UpdateMailSettings(v.Context(), v.Who.Actor, v.Who.ID, v.mailPatch(), nil)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p, err := v.notificationSettings()
		if err != nil {
			return ui.Response{}, err
		}
		p.Errors = ui.SentencesOf(fields, mailLabels)
		return ui.Invalid("account-notifications", p)
	}
	return ui.SeeOther("/account/notifications").Saying("E-mail settings saved."), err
}

func (v *pageRequest) retryMail() (ui.Response, error) {
	_, err := v.App.Accounts.RetryMail(v.Context(), v.Who.Actor, v.Who.ID)
	return ui.SeeOther("/account/notifications").Saying("We will send e-mail to your address again."), err
}
