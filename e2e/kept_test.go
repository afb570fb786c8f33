package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// check compares what was answered with what is there after the kills.
func (w *transfer) check() error {
	if w.material == nil {
		return nil // nothing was answered
	}
	if got, err := did(w.mario.call("GET", w.materialPath, "")); err != nil || !bytes.Equal(got.body, w.material) {
		return fmt.Errorf("%s was %s and is %s: %w", w.materialPath, w.material, got.body, err)
	}
	if w.content != nil {
		if got, err := did(w.josiah.call("GET", w.contentPath, "")); err != nil || !bytes.Equal(got.body, w.content) {
			return fmt.Errorf("%s has other bytes: %w", w.contentPath, err)
		}
	}
	if w.request == "" {
		return nil
	}
	events, err := w.events()
	if err != nil {
		return err
	}
	// An unanswered step is there as a whole or not at all.
	whole := append(slices.Clone(w.told), w.asked)
	if !slices.Equal(events, w.told) && (w.asked == "" || !slices.Equal(events, whole)) {
		return fmt.Errorf("answered were %q, then asked %q; its events are %q", w.told, w.asked, events)
	}
	return w.recordAgrees(events)
}

// events are those of the request, oldest first, each with what it is about.
func (w *transfer) events() ([]string, error) {
	got, err := did(w.josiah.call("GET", "/material-requests/"+w.request+"/events", ""))
	if err != nil {
		return nil, err
	}
	var list []struct {
		Kind   string
		Detail struct {
			To, Text   string
			Attachment int64
		}
	}
	if err := json.Unmarshal(got.body, &list); err != nil {
		return nil, err
	}
	var events []string
	for _, e := range slices.Backward(list) {
		about := e.Detail.To + e.Detail.Text
		if e.Detail.Attachment != 0 {
			about = strconv.FormatInt(e.Detail.Attachment, 10)
		}
		events = append(events, strings.TrimSpace(e.Kind+" "+about))
	}
	return events, nil
}

// recordAgrees holds the request against its events.
func (w *transfer) recordAgrees(events []string) error {
	got, err := did(w.josiah.call("GET", "/material-requests/"+w.request, ""))
	if err != nil {
		return err
	}
	var record struct {
		Status   string
		Signed   *int64 `json:"requester_signed_mta_attachment"`
		Shipment *struct{ Tracking string }
	}
	if err := json.Unmarshal(got.body, &record); err != nil {
		return err
	}
	says := map[string]string{"status_changed": record.Status}
	if record.Signed != nil {
		says["document_added"] = strconv.FormatInt(*record.Signed, 10)
	}
	if record.Shipment != nil {
		says["shipment_changed"] = record.Shipment.Tracking
	}
	happened := map[string]string{"status_changed": "OPEN"}
	for _, e := range events {
		if kind, about, _ := strings.Cut(e, " "); kind != "request_made" && kind != "message" {
			happened[kind] = about
		}
	}
	if fmt.Sprint(says) != fmt.Sprint(happened) {
		return fmt.Errorf("its record says %v, its events %v", says, happened)
	}
	return nil
}

// heardOnce checks that every event was told to the other side, once: the event and its
// notification are one transaction.
func heardOnce(t *testing.T, josiah, mario client) {
	t.Helper()
	acts := map[string]int{}
	for _, r := range listed[struct{ ID int64 }](t, mario, "/material-requests/?limit=200") {
		for _, e := range listed[struct{ Actor string }](t, mario,
			fmt.Sprintf("/material-requests/%d/events?limit=200", r.ID)) {
			acts[e.Actor]++
		}
	}
	for _, who := range []struct{ hears, other client }{{josiah, mario}, {mario, josiah}} {
		heard, err := did(who.hears.call("GET", "/users/"+who.hears.id+"/notifications/?limit=1", ""))
		want := strconv.Itoa(acts[who.other.id])
		if got := heard.header.Get("X-Total-Count"); err != nil || got != want || want == "0" {
			t.Errorf("%s was notified of %s of the %s acts of the other side: %v", who.hears.id, got, want, err)
		}
	}
}

// listed is a whole list, page by page.
func listed[Item any](t *testing.T, by client, path string) (items []Item) {
	t.Helper()
	for path != "" {
		list, err := did(by.call("GET", path, ""))
		var page []Item
		if err == nil {
			err = json.Unmarshal(list.body, &page)
		}
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, page...)
		path, _, _ = strings.Cut(strings.TrimPrefix(list.header.Get("Link"), "<"), ">")
	}
	return items
}
