package mailing_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange/mailing"
)

func TestZones_AreKnown(t *testing.T) {
	t.Parallel()
	if len(mailing.Zones) < 400 || mailing.Zones[0] != "UTC" {
		t.Errorf("%d zones, the first %s", len(mailing.Zones), mailing.Zones[0])
	}
	for _, name := range mailing.Zones {
		if _, err := time.LoadLocation(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
