package sheet

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// dateSystem is the day from which a workbook counts.
type dateSystem int

const (
	since1900 dateSystem = iota // Excel's own, which has a 29 February 1900
	since1904                   // of old Macs
)

// date formats a number as the date, time or both that it represents; ok is false before the first day and after the
// year 9999.
func (s dateSystem) date(n float64) (text string, ok bool) {
	if n < 0 || n >= 2_958_466 {
		return "", false
	}
	days, seconds := math.Floor(n), int64(math.Round((n-math.Floor(n))*86400))
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case s == since1904:
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days < 60:
		days++
	}
	moment := first.AddDate(0, 0, int(days)).Add(time.Duration(seconds) * time.Second)
	switch {
	case n < 1:
		return moment.Format(time.TimeOnly), true
	case seconds == 0:
		return moment.Format(time.DateOnly), true
	}
	return moment.Format(time.DateTime), true
}

// dateFormat reports whether a built-in number format shows a date or time (ECMA-376, 18.8.30; from 27
// on those of East Asian languages).
func dateFormat(id string) bool {
	n, err := strconv.Atoi(id)
	return err == nil && (n >= 14 && n <= 22 || n >= 27 && n <= 36 || n >= 45 && n <= 47 || n >= 50 && n <= 58)
}

// showsDate reports whether a number format shows a date or time: it contains a date letter outside quotes and
// brackets.
func showsDate(code string) bool {
	code, _, _ = strings.Cut(code, ";") // the rest is for negative numbers and texts
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				return false
			}
			i += end + 1
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return false
			}
			if inside := strings.ToLower(code[i+1 : i+end]); inside != "" && strings.Trim(inside, "hms") == "" {
				return true // [h]:mm
			}
			i += end
		case strings.IndexByte("dmyhsDMYHS", c) >= 0:
			return !strings.HasPrefix(code[i:], "General")
		}
	}
	return false
}
