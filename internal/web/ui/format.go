package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

// When is a moment as a page shows it.
type When struct {
	ISO  string // for machines
	Text string // as "12 Mar 2026, 09:40", "today, 09:40"
	Ago  string // as "4 days ago", "in 3 hours"
	Full string // on paper, as "12 Mar 2026, 09:40"; "" if Text is as good
}

// At formats a moment in the visitor's zone.
func (p *Page) At(t time.Time) When {
	local, now := t.In(p.Zone), p.Now.In(p.Zone)
	day := local.Format("2 Jan")
	if local.Year() != now.Year() {
		day = local.Format("2 Jan 2006")
	}
	switch Midnight(local).Sub(Midnight(now)) {
	case 0:
		day = "today"
	case -24 * time.Hour:
		day = "yesterday"
	}
	return When{ISO: t.UTC().Format(time.RFC3339), Text: day + ", " + local.Format("15:04"), Ago: Ago(t.Sub(p.Now)),
		Full: local.Format("2 Jan 2006, 15:04")}
}

// Day formats the day of a moment in the visitor's zone, as "12 Mar 2026".
func (p *Page) Day(t time.Time) When {
	return When{ISO: t.In(p.Zone).Format(time.DateOnly), Text: t.In(p.Zone).Format("2 Jan 2006"),
		Ago: Ago(t.Sub(p.Now))}
}

// Due formats a deadline: the day with its weekday, and how far off it is. late reports whether it has passed,
// today whether it is today.
func (p *Page) Due(t time.Time) (d struct {
	When
	Late, Today bool
}) {
	local, now := t.In(p.Zone), p.Now.In(p.Zone)
	d.When = When{ISO: local.Format(time.DateOnly), Text: local.Format("Mon 2 Jan")}
	switch n := int(Midnight(local).Sub(Midnight(now)).Hours() / 24); {
	case n == 0:
		d.Ago, d.Today = "due today", true
	case n < 0:
		d.Ago, d.Late = Days(-n)+" late", true
	default:
		d.Ago = "in " + Days(n)
	}
	return d
}

// Midnight returns the beginning of a day as if every day had 24 hours, to count days.
func Midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// Ago formats how long ago or ahead a moment is.
func Ago(d time.Duration) string {
	text := Span(max(d, -d))
	switch {
	case text == "":
		return "now"
	case d < 0:
		return text + " ago"
	}
	return "in " + text
}

// Span formats a duration, "" under a minute.
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return ""
	case d < time.Hour:
		return Plural(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return Plural(int(d.Hours()), "hour")
	case d < 60*24*time.Hour:
		return Days(int(d.Hours() / 24))
	case d < 2*365*24*time.Hour:
		return Plural(int(d.Hours()/24/30), "month")
	}
	return Plural(int(d.Hours()/24/365), "year")
}

// Days formats a number of days.
func Days(n int) string { return Plural(n, "day") }

// Plural returns a number with its noun, as "1 day", "2 days".
func Plural(n any, what string) string { return Count(n) + " " + Noun(n, what) }

// Noun returns the noun for a number that is shown elsewhere.
func Noun(n any, what string) string {
	switch {
	case Count(n) == "1":
		return what
	case what == "person":
		return "people"
	case strings.HasSuffix(what, "ry"):
		return strings.TrimSuffix(what, "y") + "ies"
	}
	return what + "s"
}

// Took formats a duration, or a number of seconds, as "2.1 days", "5 hours", "under a minute".
func Took[T time.Duration | int64](t T) string {
	seconds := int64(t)
	if d, is := any(t).(time.Duration); is {
		seconds = int64(d.Seconds())
	}
	switch {
	case seconds < 60:
		return "under a minute"
	case seconds < 60*60:
		return Plural(seconds/60, "minute")
	case seconds < 48*60*60:
		return Plural(seconds/60/60, "hour")
	}
	return InDays(seconds) + " days"
}

// InDays formats a number of seconds in days, as "2.1", "20".
func InDays(seconds int64) string {
	n := float64(seconds) / (24 * 60 * 60)
	if n >= 10 {
		return Count(int64(n + 0.5))
	}
	return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0")
}

// Count formats a number with commas.
func Count(n any) string {
	if c, ok := n.(exchange.Count); ok {
		if c.AtLeast {
			return "more than " + Count(c.N)
		}
		n = c.N
	}
	text := fmt.Sprint(n)
	digits := strings.TrimPrefix(text, "-")
	sign := text[:len(text)-len(digits)]
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Badge formats a number that is counted up to a hundred.
func Badge(n int64) string {
	if n > 99 {
		return "99+"
	}
	return strconv.FormatInt(n, 10)
}

// Bytes formats a number of bytes, as "3.8 MB".
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return Plural(n, "byte")
	case n < 1_000_000:
		return strconv.FormatInt((n+500)/1000, 10) + " KB"
	case n >= 1_000_000_000:
		return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}
