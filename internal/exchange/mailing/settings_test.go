package mailing_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/mailing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// mailSettings returns the default mail settings changed by a body.
func mailSettings(t *testing.T, json string) mailing.Settings {
	t.Helper()
	s, err := exchangetest.Body[mailing.Patch](t, json).Patch(mailing.Default(uuid.Nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMailSettings_NameEveryWrongField(t *testing.T) {
	t.Parallel()
	for json, field := range map[string]string{
		`{"delivery": "HOURLY"}`: "delivery", `{"delivery": ""}`: "delivery",
		`{"time_zone": "Mars/Olympus"}`: "time_zone", `{"time_zone": ""}`: "time_zone",
		`{"time_zone": "Local"}`: "time_zone", `{"time_zone": "../../etc/passwd"}`: "time_zone",
		`{"quiet_from": "22:00"}`: "quiet_until", `{"quiet_until": "07:00"}`: "quiet_until",
		`{"quiet_from": "7:00", "quiet_until": "08:00"}`:  "quiet_from",
		`{"quiet_from": "24:00", "quiet_until": "08:00"}`: "quiet_from",
		`{"quiet_from": "08:00", "quiet_until": "08:60"}`: "quiet_until",
		`{"quiet_from": "08:00", "quiet_until": "08:00"}`: "quiet_until",
		`{"quiet_from": "+8:00", "quiet_until": "09:00"}`: "quiet_from",
		`{"digest_at": "noon"}`:                           "digest_at", `{"digest_day": "Monday"}`: "digest_day",
		`{"muted": ["weather"]}`: "muted",
	} {
		_, err := exchangetest.Body[mailing.Patch](t, json).Patch(mailing.Default(uuid.Nil))
		if len(exchangetest.FieldErrors(err)[field]) == 0 {
			t.Errorf("%s: got %v, want a fault of %s", json, err, field)
		}
	}
}

func TestQuietHours_HoldMailBack(t *testing.T) {
	t.Parallel()
	const night = `{"time_zone": "Europe/Amsterdam", "quiet_from": "22:00", "quiet_until": "07:30"}`
	for _, c := range []struct{ settings, now, want string }{
		{`{}`, "2026-01-10T23:00:00Z", "2026-01-10T23:00:00Z"},
		{night, "2026-01-10T20:59:59Z", "2026-01-10T20:59:59Z"}, // 21:59:59 there
		{night, "2026-01-10T21:00:00Z", "2026-01-11T06:30:00Z"},
		{night, "2026-01-11T02:00:00Z", "2026-01-11T06:30:00Z"},
		{night, "2026-01-11T06:30:00Z", "2026-01-11T06:30:00Z"},
		{night, "2026-07-11T20:00:00Z", "2026-07-12T05:30:00Z"}, // summer time
		{night, "2026-03-28T22:00:00Z", "2026-03-29T05:30:00Z"}, // the night in which it starts
		{`{"time_zone": "Asia/Kolkata", "quiet_from": "12:00", "quiet_until": "13:00"}`, "2026-01-10T06:45:00Z",
			"2026-01-10T07:30:00Z"},
	} {
		if got := mailSettings(t, c.settings).Quiet(moment(c.now)); !got.Equal(moment(c.want)) {
			t.Errorf("%s at %s: mail goes out at %s, want %s", c.settings, c.now, got, c.want)
		}
	}
}

func TestDigest_ComesAtTheChosenTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ settings, happened, want string }{
		{`{"delivery": "DAILY"}`, "2026-03-02T07:59:59Z", "2026-03-02T08:00:00Z"},
		{`{"delivery": "DAILY"}`, "2026-03-02T08:00:00Z", "2026-03-03T08:00:00Z"},
		{`{"delivery": "DAILY", "time_zone": "America/New_York", "digest_at": "17:30"}`, "2026-03-02T23:00:00Z",
			"2026-03-03T22:30:00Z"},
		{`{"delivery": "WEEKLY"}`, "2026-03-02T09:00:00Z", "2026-03-09T08:00:00Z"}, // a Monday
		{`{"delivery": "WEEKLY", "digest_day": "FRIDAY"}`, "2026-03-02T09:00:00Z", "2026-03-06T08:00:00Z"},
		// an hour that the clocks skip
		{`{"delivery": "WEEKLY", "digest_day": "SUNDAY", "digest_at": "02:30", "time_zone": "Europe/Amsterdam"}`,
			"2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"},
	} {
		if got := mailSettings(t, c.settings).Digest(moment(c.happened)); !got.Equal(moment(c.want)) {
			t.Errorf("%s, happened %s: the digest is at %s, want %s", c.settings, c.happened, got, c.want)
		}
	}
}

// With any settings: mail waits for less than a day, digests are due within eight days and never in the past, and the
// end of quiet hours is not quiet.
func TestMailSettings_BoundTheWait(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := mailing.Default(uuid.Nil)
		s.Delivery = rapid.SampledFrom(mailing.Deliveries).Draw(r, "delivery")
		s.TimeZone = rapid.SampledFrom([]string{"UTC", "Europe/Amsterdam", "America/St_Johns", "Pacific/Apia",
			"Africa/Cairo", "Australia/Lord_Howe"}).Draw(r, "zone")
		minute := rapid.IntRange(0, 24*60-1)
		from, until := mailing.TimeOfDay(minute.Draw(r, "from")), mailing.TimeOfDay(minute.Draw(r, "until"))
		if from != until && rapid.Bool().Draw(r, "quiet") {
			s.QuietFrom, s.QuietUntil = &from, &until
		}
		s.DigestAt, s.DigestDay = mailing.TimeOfDay(minute.Draw(r, "digest")),
			time.Weekday(rapid.IntRange(0, 6).Draw(r, "day"))
		now := time.Unix(rapid.Int64Range(1_280_000_000, 1_900_000_000).Draw(r, "now"), 0).UTC()
		if end := s.Quiet(now); end.Before(now) || end.Sub(now) > 26*time.Hour || !s.Quiet(end).Equal(end) {
			r.Fatalf("quiet at %s until %s, and then until %s", now, end, s.Quiet(end))
		}
		most := 26 * time.Hour
		if s.Delivery == mailing.Weekly {
			most += 7 * 24 * time.Hour
		}
		if s.TimeZone == "Pacific/Apia" { // a day was skipped there
			most += 7 * 24 * time.Hour
		}
		if d := s.Digest(now); !d.After(now) || d.Sub(now) > most {
			r.Fatalf("happened %s, the digest is at %s", now, d)
		}
	})
}

func TestMailSettings_DecideAlone(t *testing.T) {
	t.Parallel()
	const address = "ada@example.org"
	refused := mailing.Default(uuid.Nil)
	refused.Refused = &mailing.Rejection{Address: address}
	for _, c := range []struct {
		settings mailing.Settings
		address  string
		want     mailing.State
	}{
		{mailing.Default(uuid.Nil), address, mailing.Waiting},
		{mailing.Default(uuid.Nil), "", mailing.NoAddress},
		{refused, address, mailing.NoAddress},
		{refused, "ada@example.com", mailing.Waiting},
		{mailSettings(t, `{"delivery": "DAILY"}`), address, mailing.ForDigest},
		{mailSettings(t, `{"delivery": "WEEKLY"}`), address, mailing.ForDigest},
		{mailSettings(t, `{"delivery": "NEVER"}`), address, mailing.NotWanted},
		{mailSettings(t, `{"muted": ["reminder_notif"]}`), address, mailing.NotWanted},
		{mailSettings(t, `{"muted": ["new_request_notif"]}`), address, mailing.Waiting},
		{mailing.Default(uuid.Nil).Subscribe(mailing.ReminderNotif, false).Subscribe(mailing.ReminderNotif,
			false), address, mailing.NotWanted},
		{mailing.Default(uuid.Nil).Subscribe(mailing.ReminderNotif, false).Subscribe(mailing.ReminderNotif,
			true), address, mailing.Waiting},
		{mailing.Default(uuid.Nil).Subscribe("", false), address, mailing.NotWanted},
		{mailing.Default(uuid.Nil).Subscribe("", false).Subscribe("", true), address, mailing.ForDigest},
	} {
		if got := c.settings.MailFor(mailing.ReminderNotif, c.address); got != c.want {
			t.Errorf("%+v to %q: got %s, want %s", c.settings, c.address, got, c.want)
		}
	}
}

func moment(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}
