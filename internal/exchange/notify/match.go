package notify

import (
	"fmt"
	"strings"

	"aliquot/internal/exchange/material"
)

// Match is the new materials in one saved search, found in one run of alerts.
type Match struct {
	Search    material.SavedSearch
	Materials []MaterialPayload // the newest MaxNamed
	Count     int               // of all new materials
}

// MaxNamed is how many materials one announcement names.
const MaxNamed = 10

// describeMatch returns one sentence about what is new in a saved search.
func describeMatch(d AnnouncementDetail) string {
	const named = 3
	var titles []string
	for _, m := range d.Materials[:min(named, len(d.Materials))] {
		titles = append(titles, m.Title)
	}
	if more := d.Count - len(titles); more > 0 {
		titles = append(titles, fmt.Sprintf("%d more", more))
	}
	what := "1 material is"
	if d.Count != 1 {
		what = fmt.Sprintf("%d materials are", d.Count)
	}
	return fmt.Sprintf("%s new in your saved search %s: %s.", what, d.Name, strings.Join(titles, "; "))
}

// Announcement returns the announcement of m.
func (m Match) Announcement() Announcement {
	return Announcement{Kind: SearchMatched,
		Detail: AnnouncementDetail{SavedSearch: m.Search.ID, Name: m.Search.Name, Count: m.Count,
			Materials: m.Materials}}
}
