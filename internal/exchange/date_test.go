package exchange_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
)

func TestDate_IsAnExistingDay(t *testing.T) {
	t.Parallel()
	for _, day := range []string{"2026-03-12", "2024-02-29", "1900-01-01", "9999-12-31"} {
		if got := exchangetest.Body[exchange.Date](t, `"`+day+`"`); string(got) != day {
			t.Errorf("%s: got %s", day, got)
		}
	}
	for _, text := range []string{
		`"2026-02-29"`, `"2026-13-01"`, `"2026-3-12"`, `"12.03.2026"`, `"2026-03-12T00:00:00Z"`, `" 2026-03-12"`,
		`"1899-12-31"`, `"0000-01-01"`,
		`"12026-01-01"`, `""`, `20260312`, `null`, `{}`,
	} {
		var d exchange.Date
		if err := json.Unmarshal([]byte(text), &d); err == nil || !strings.Contains(err.Error(), "YYYY-MM-DD") {
			t.Errorf("%s: got %q, %v, want a refusal with the form", text, d, err)
		}
	}
}

func TestTimestamp_IsTheContractsFormOrRFC3339(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 3, 12, 9, 40, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-03-12T09:40:00+0000", "2026-03-12T09:40:00Z", "2026-03-12T10:40:00+01:00", "2026-03-12T10:40:00+0100",
		"2026-03-12T04:40:00-0500",
		"2026-03-12T09:40:00.000Z",
	} {
		got := time.Time(exchangetest.Body[exchange.Instant](t, `"`+text+`"`))
		if !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{
		`"2026-03-12"`, `"2026-03-12T09:40:00"`, `"2026-03-12 09:40:00Z"`, `"2026-02-30T09:40:00Z"`,
		`"1899-12-31T23:59:59Z"`, `""`, `1773308400`, `null`,
		`"9999-12-31T23:59:59-0100"`, `"1900-01-01T00:00:00+0100"`, // out of range once converted to UTC
	} {
		var i exchange.Instant
		if err := json.Unmarshal([]byte(text), &i); err == nil ||
			!strings.Contains(err.Error(), "2026-03-12T09:40:00+0000") {
			t.Errorf("%s: got %s, %v, want a refusal with the form", text, time.Time(i), err)
		}
	}
}

func FuzzDate(f *testing.F) {
	for _, seed := range []string{"2026-03-12", "2026-02-30", "1900-01-01", "2026-3-1", "", "0000-00-00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var direct exchange.Date
		_ = direct.UnmarshalJSON([]byte(s))
		raw, err := json.Marshal(s)
		if err != nil {
			return // not JSON
		}
		var d exchange.Date
		if json.Unmarshal(raw, &d) != nil {
			return
		}
		day, err := time.Parse(time.DateOnly, string(d))
		if err != nil || day.Format(time.DateOnly) != s || day.Year() < 1900 || day.Year() > 9999 {
			t.Errorf("%q became %q, the day %s, %v", s, d, day, err)
		}
	})
}

func FuzzInstant(f *testing.F) {
	for _, seed := range []string{
		"2026-03-12T09:40:00+0000", "2026-03-12T09:40:00.123456789+02:00", "9999-12-31T23:59:59-0100",
		"1900-01-01T00:00:00+2400", "", "2026-03-12T24:00:00Z",
		"2026-03-12T09:40:00,5Z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var direct exchange.Instant
		_ = direct.UnmarshalJSON([]byte(s))
		raw, err := json.Marshal(s)
		if err != nil {
			return // not JSON
		}
		var i exchange.Instant
		if json.Unmarshal(raw, &i) != nil {
			return
		}
		for _, layout := range []string{exchange.TimeLayout, time.RFC3339Nano} {
			text := time.Time(i).Format(layout)
			if again := exchangetest.Body[exchange.Instant](t, `"`+text+`"`); !time.Time(again).Equal(time.Time(i)) {
				t.Errorf("%q is %s, which is %s when it is sent back", s, text, time.Time(again))
			}
		}
	})
}
