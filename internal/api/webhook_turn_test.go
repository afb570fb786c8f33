package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestWebhooks_ASlowReceiverOfOneLabDelaysNoOtherLab, however many messages wait for it.
func TestWebhooks_ASlowReceiverOfOneLabDelaysNoOtherLab(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		release, entered := make(chan struct{}), make(chan struct{}, 100)
		slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			entered <- struct{}{}
			<-release
			w.WriteHeader(http.StatusNoContent)
		}))
		t.Cleanup(slow.Close)
		hook := fmt.Sprintf("/organizations/%d/webhooks/%d", s.id,
			s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/webhooks", s.id), obj{"url": slow.URL}).id())
		for range 20 {
			s.owner.want(202, "POST", hook+"/ping", nil)
		}
		stranger, quick := s.people["stranger"], newReceiver(t)
		made := stranger.want(201, "POST", fmt.Sprintf("/organizations/%d/webhooks", stranger.Lab),
			obj{"url": quick.url})
		quick.secret(made.Body["secret"].(string))
		stop := s.work(s.app, job.Config{Slots: 4})
		defer stop()
		defer close(release)
		<-entered // the slow one has its turn
		began := time.Now()
		stranger.want(202, "POST", fmt.Sprintf("/organizations/%d/webhooks/%d/ping", stranger.Lab, made.id()), nil)
		jobtest.Poll(t, "the other lab's message", func() bool { return len(quick.messages()) == 1 })
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a message of another lab took %s", took)
		}
		if n := len(entered); n > 0 {
			t.Errorf("%d more messages of the slow lab are under way", n)
		}
	})
}
