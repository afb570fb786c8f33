package notify_test

import (
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange/notify"
)

func TestDelivery_FollowsTheScheduleOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 12, 9, 40, 0, 0, time.UTC)
	failed := notify.Attempt{At: now, Error: "it answered 500"}
	for _, jitter := range []float64{0, 1} {
		w, d := notify.Webhook{Enabled: true},
			notify.WebhookDelivery{State: notify.DeliveryPending, Type: "request.made"}
		var pauses []time.Duration
		for d.State == notify.DeliveryPending {
			if d, w = d.Tried(w, failed, 0, jitter); d.NextAt != nil {
				pauses = append(pauses, d.NextAt.Sub(now))
			}
		}
		want := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
		for i := range want {
			want[i] += time.Duration(jitter * float64(want[i]) / 4)
		}
		if !slices.Equal(pauses, want) || d.State != notify.DeliveryFailed || !w.Enabled || w.FailingSince == nil {
			t.Errorf("jitter %v: %v, want %v; %+v", jitter, pauses, want, d)
		}
	}
}

func TestDelivery_ReceiverMayAskForABoundedWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 12, 9, 40, 0, 0, time.UTC)
	for wait, want := range map[time.Duration]time.Duration{0: 5 * time.Second, time.Second: 5 * time.Second,
		time.Hour: time.Hour, 1000 * time.Hour: 24 * time.Hour} {
		d, _ := notify.WebhookDelivery{}.Tried(notify.Webhook{}, notify.Attempt{At: now, Error: "busy"}, wait, 0)
		if got := d.NextAt.Sub(now); got != want {
			t.Errorf("asked for %s: %s, want %s", wait, got, want)
		}
	}
}
