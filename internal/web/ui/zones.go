package ui

import (
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/mailing"
)

// Zones returns the time zones by region.
func (t FormValues) Zones() []zoneRegion { return regions(t.Val("time_zone")) }

// zoneRegion is a part of the world with its time zones.
type zoneRegion struct {
	Name  string
	Zones []townZone
}

// townZone is a time zone with the town it is named after.
type townZone struct{ Name, Town string }

// regions returns all time zones by region, with more among them even if it is not a known zone.
func regions(more string) []zoneRegion {
	names := mailing.Zones
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
