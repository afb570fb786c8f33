package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/dossier"
	"aliquot/internal/exchange"
	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"golang.org/x/mod/sumdb/tlog"
)

// sign signs the log as it is.
func (w *world) sign() {
	w.t.Helper()
	if err := w.app.Evidence.SignNow(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// httpTiles reads tiles for x/mod as any client of C2SP tlog-tiles does.
type httpTiles struct{ by *testPerson }

func (r httpTiles) Height() int                     { return 8 }
func (r httpTiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (r httpTiles) ReadTiles(list []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, t := range list {
		a := r.by.want(200, "GET", "/log/tile/"+strings.TrimPrefix(t.Path(), "tile/8/"), nil)
		data = append(data, a.Raw)
	}
	return data, nil
}

func TestLog_IsReadAndProvedWithoutTheServersHelp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.sign()
		anyone := s.anonymous()
		keys := strings.Fields(string(anyone.want(200, "GET", "/log/keys", nil).Raw))
		known, err := record.Verifiers(keys...)
		if err != nil || len(keys) != 1 {
			t.Fatal(keys, err)
		}
		origin, _, _ := strings.Cut(keys[0], "+")
		checkpoint := anyone.want(200, "GET", "/log/checkpoint", nil).Raw
		head, _, err := record.OpenCheckpoint(checkpoint, origin, known)
		if err != nil {
			t.Fatal(err)
		}
		tree := tlog.Tree{N: head.Size, Hash: head.Root}
		leaves, err := tlog.TileHashReader(tree, httpTiles{anyone}).ReadHashes([]int64{tlog.StoredHashIndex(0,
			head.Size-1)})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := record.ParseEntries(anyone.want(200, "GET", fmt.Sprintf("/log/tile/entries/000.p/%d",
			head.Size), nil).Raw)
		if err != nil || record.Leaf(entries[head.Size-1]) != leaves[0] {
			t.Errorf("the entries of the log are not its leaves: %v", err)
		}
		// What happened after the checkpoint is signed when it is asked for.
		path := fmt.Sprintf("/material-requests/%d", s.request)
		s.member.want(201, "POST", path+"/messages", obj{"text": "It is on its way."})
		last := s.member.want(200, "GET", path+"/events", nil).List[0].(map[string]any)
		a := s.member.want(200, "GET", fmt.Sprintf("%s/events/%v/proof", path, last["seq"]), nil)
		sum := sha256.Sum256([]byte(a.Body["event"].(string)))
		if hex.EncodeToString(sum[:]) != a.Body["hash"] || !strings.Contains(a.Body["event"].(string), last["hash"].(string)) {
			t.Errorf("event %v, hash %v, want the hash of an event with %v", a.Body["event"], a.Body["hash"], last["hash"])
		}
		proof, err := record.ParseProof([]byte(a.Body["proof"].(string)))
		if err != nil {
			t.Fatal(err)
		}
		later, _, err := proof.Check(a.Body["hash"].(string), origin, known)
		if err != nil || later.Size <= head.Size {
			t.Errorf("the proof is of a log of %d entries, %v; the one before has %d", later.Size, err, head.Size)
		}
		for _, wrong := range []string{"/log/tile/0/001", "/log/tile/0/0", "/log/tile/x/000", "/log/tile/64/000",
			"/log/tile/0/000.p/0", "/log/tile/0/000/", "/log/tile/0/..%2F000", "/log/tile/0/x999/x999/x999/999",
			path + "/events/999/proof"} {
			s.member.refused(404, "NOT_FOUND", "GET", wrong, nil)
		}
	})
}

func TestLog_ThatNobodySignsSaysSo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		w.anonymous().refused(503, "UNAVAILABLE", "GET", "/log/checkpoint", nil)
	})
}

func TestDossier_OfARequestProvesItself(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.sign()
		giver := s.requester()
		first := giver.upload("paper.pdf", pdf, nil)
		id := giver.want(201, "POST", "/material-requests", obj{"material": s.material,
			"requester_signed_mta_attachment": first.id()}).id()
		path := fmt.Sprintf("/material-requests/%d", id)
		s.member.want(201, "POST", path+"/messages", obj{"text": "Which lot?"})
		a := s.member.want(200, "GET", path+"/dossier", nil)
		if again := giver.want(200, "GET", path+"/dossier", nil); string(again.Raw) != string(a.Raw) {
			t.Error("the same state is another file")
		}
		keys := strings.Fields(string(s.anonymous().want(200, "GET", "/log/keys", nil).Raw))
		check := func(raw []byte) *dossier.Report {
			t.Helper()
			r, err := dossier.Check(bytes.NewReader(raw), dossier.Trust{Keys: keys})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := check(a.Raw)
		if len(r.Documents) != 1 || !strings.HasSuffix(r.Documents[0], "-requester-signed-mta.pdf") ||
			r.Chains[0].Name != fmt.Sprintf("request/%d", id) || a.Header.Get("Content-Type") != "application/zip" {
			t.Errorf("got %+v, %s", r, a.Header)
		}
		for _, want := range []string{"Which lot?", "data/cover.pdf", "paper.pdf",
			`<th scope="row">Status</th><td>New</td>`} {
			if !bytes.Contains(a.Raw, []byte(want)) {
				t.Errorf("it has no %s", want)
			}
		}
		// A newer version of a document does not replace the old one.
		second := giver.upload("paper.pdf", append(bytes.Clone(pdf), "% newer"...), nil)
		giver.want(200, "PATCH", path, obj{"requester_signed_mta_attachment": second.id()})
		later := s.member.want(200, "GET", path+"/dossier", nil)
		if r := check(later.Raw); len(r.Documents) != 2 || r.Chains[0].Head.Seq <= 2 {
			t.Errorf("later it has %+v", r)
		}
	})
}
