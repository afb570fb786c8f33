package notice_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/notice"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the messages in testdata/golden")

// goldens are the files of testdata/golden: every message, a file for each kind of it; one of each
// shape is there as HTML too.
func goldens(t *testing.T) map[string]string {
	t.Helper()
	w, files := writer(t), map[string]string{}
	keep := func(file, title string, m notice.Text, err error) {
		if err != nil {
			t.Fatalf("%s, %s: %v", file, title, err)
		}
		files[file+".txt"] += "######## " + title + "\nSubject: " + m.Subject + "\n\n" + m.Text + "\n"
		if slices.Contains(asHTML, file) && files[file+".html"] == "" {
			files[file+".html"] = m.HTML
		}
	}
	for _, kind := range request.EventKinds {
		for _, told := range tellings(t, kind) {
			m, err := w.Event(told.event)
			keep(string(kind), told.name, m, err)
		}
	}
	for name, d := range digests(t) {
		m, err := w.Digest(d)
		keep("digest_"+name, name, m, err)
	}
	for _, role := range []string{"member", "owner"} {
		m, err := w.Invitation(invitation(role))
		keep("invitation", role, m, err)
	}
	for _, count := range []int{1, 12} {
		m, err := w.Match(match(count))
		keep("search_matched", fmt.Sprint(count), m, err)
	}
	for _, kind := range notice.MembershipKinds {
		for _, note := range []string{"", "We share a freezer.\nAsk Ruth."} {
			m, err := w.Membership(membership(kind, note))
			keep("membership", string(kind), m, err)
		}
	}
	return files
}

var asHTML = []string{string(request.DocumentReturned), string(request.Messaged), "digest_of_both", "invitation",
	"membership", "search_matched"}

func invitation(role string) notice.Invitation {
	return notice.Invitation{
		Organization: "Receptor Lab", Inviter: "Rosalyn Vance", Role: role, Expires: start.AddDate(0, 0, 30),
		Link: "https://aliquot.example.org/invitations/k3y", Location: berlin,
	}
}

// match is what is new in a saved search: so many materials.
func match(count int) notice.Match {
	m := notice.Match{At: start, Location: berlin, Unsubscribe: "https://aliquot.example.org/unsubscribe/k3y"}
	m.Count = count
	m.Search = material.SavedSearch{ID: 3, Name: "HeLa lines of my field", Search: "HeLa",
		Filters: material.Filters{"organisms": {"Homo sapiens"}}}
	for i := range min(count, notify.MaxNamed) {
		m.Materials = append(m.Materials,
			notify.MaterialPayload{ID: int64(90 - i), Title: fmt.Sprintf("HeLa, clone %d", i+1)})
	}
	return m
}

func membership(kind notice.MembershipKind, note string) notice.Membership {
	return notice.Membership{Kind: kind, Organization: "Receptor Lab", Person: "Ruth Benfield", Note: note,
		Link: "https://aliquot.example.org/labs/5#people"}
}

// digests are those of the tests by name.
func digests(t *testing.T) map[string]notice.Digest {
	t.Helper()
	told := func(kind request.EventKind, request int64, material string, hours int) notice.Event {
		e := tellings(t, kind)[0].event
		e.Request.ID, e.Event.RequestID, e.Request.Material = request, request, material
		e.Event.At = start.Add(time.Duration(hours) * time.Hour)
		return e
	}
	waiting := notice.Waiting{Request: at(request.Approved), Organization: "Receptor Lab",
		Requester: "Josiah Carberry"}
	d := notice.Digest{
		Reader: josiah, From: start, To: start.AddDate(0, 0, 1), Location: berlin,
		Unsubscribe: "https://aliquot.example.org/unsubscribe/k3y",
		Events: []notice.Event{
			told(request.StatusChanged, 31, "HeLa", 1), told(request.Messaged, 31, "HeLa", 2),
			told(request.IssueClosed, 40, "pUC19", 3),
			told(request.DocumentReturned, 31, "HeLa", 4),
		},
		Waiting: []notice.Waiting{waiting},
	}
	all := map[string]notice.Digest{"of_both": d}
	quiet, busy, lab := d, d, d
	quiet.Waiting = nil
	all["of_events"] = quiet
	busy.Events = nil
	all["of_waiting"] = busy
	lab.Reader, lab.Events = grace, []notice.Event{told(request.DocumentAdded, 31, "HeLa", 1)}
	open := waiting
	open.Request = at(request.Open)
	other := open
	other.Request.ID, other.Request.AssignedTo = 44, ruth
	lab.Waiting = []notice.Waiting{open, other}
	all["of_a_lab"] = lab
	found := d
	found.Matches = []notice.Match{match(1), match(12)}
	all["of_all"] = found
	found.Events = nil
	all["of_matches_and_waiting"] = found
	found.Waiting = nil
	all["of_matches"] = found
	held := quiet
	held.Held, held.Announcements = true, []notice.Announcement{
		{Announcement: notify.Announcement{Kind: notify.Invited, At: start}, Actor: "Ruth Benfield",
			Organization: "Receptor Lab"},
		{Announcement: notify.Announcement{Kind: notify.JoinAsked, At: start.Add(time.Hour)},
			Actor: "Ruth Benfield", Organization: "Receptor Lab"},
	}
	all["of_what_was_held"] = held
	return all
}

func TestMessages_OfEveryRoleAreGolden(t *testing.T) {
	t.Parallel()
	const dir = "testdata/golden"
	files := goldens(t)
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), have); diff != "" {
		t.Fatalf("files of %s (-want +got), make golden writes them:\n%s", dir, diff)
	}
	for name, got := range files {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got), make golden rewrites it:\n%s", name, diff)
		}
	}
}

// A lab may ask for its own material: who asked then is who answers.
func TestMessages_ToSomeoneOnBothSidesNameTheirTurn(t *testing.T) {
	t.Parallel()
	w := writer(t)
	e := tellings(t, request.Messaged)[0].event
	e.Request.AssignedTo = josiah
	for status, want := range map[request.Status]string{
		request.Approved: "Your turn since", request.Open: "Your turn since",
	} {
		e.Request.Status = status
		m, err := w.Event(e)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Text, "\n"+want) {
			t.Errorf("%s: got %s, want %s", status, m.Text, want)
		}
	}
	reminder := tellings(t, request.Reminded)
	e = reminder[len(reminder)-1].event
	e.Reader = josiah
	m, err := w.Event(e)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Aliquot reminded you of the request for HeLa."; !strings.HasPrefix(m.Text, want) ||
		!strings.Contains(m.Text, "\nYour lab's turn since") {
		t.Errorf("got %s, want %q", m.Text, want)
	}
}

// TestMessages_OfARequestHaveOneSubject: mail programs begin another conversation with another one.
func TestMessages_OfARequestHaveOneSubject(t *testing.T) {
	t.Parallel()
	w := writer(t)
	for _, kind := range request.EventKinds {
		for _, told := range tellings(t, kind) {
			told.event.Title, told.event.Request.Material = "HeLa", "HeLa, as it is called now"
			m, err := w.Event(told.event)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("Request %d: HeLa", told.event.Request.ID); m.Subject != want {
				t.Errorf("%s to %s: got the subject %q, want %q", kind, told.name, m.Subject, want)
			}
			for _, text := range []string{m.Text, m.HTML} {
				if !strings.Contains(text, "Replies to this address are not read.") {
					t.Errorf("%s to %s: it does not say that answers are not read:\n%s", kind, told.name, text)
				}
			}
		}
	}
}
