package mailing

import (
	_ "embed"
	"strings"
)

//go:embed zones.txt
var zoneText string

// Zones lists the time zones to choose from, by region.
var Zones = strings.Fields(zoneText)
