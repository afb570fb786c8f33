package record_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/record"

	"golang.org/x/mod/sumdb/tlog"
)

// vectors were made by other programs; see testdata.
type vectors struct {
	Event      struct{ Bytes, Hash, Detail string }
	Commitment struct{ Salt, Text, Value string }
	State      string
	Trees      []struct {
		Size, Index, Old int64
		Root             string
		OldRoot          string `json:"old_root"`
		Inclusion        []string
	}
	Key struct{ Private, Public, Witness, Note, Cosignature string }
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	if err := json.Unmarshal(read(t, "vectors.json"), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEvent_HasTheBytesAndHashThatAnotherProgramComputes(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	var d record.Draft
	d.SetNull("x")
	d.Set("set.status", "APPROVED")
	d.Set("from", "OPEN")
	d.Detail = append(d.Detail[:1:1], append(record.Detail{{Name: "reason", Mark: record.Committed,
		Value: strings.Repeat("ab", 32)}}, d.Detail[1:]...)...)
	if got := d.Detail.String(); got != v.Event.Detail {
		t.Errorf("detail %q, want %q", got, v.Event.Detail)
	}
	head := record.Head{Seq: 2, Hash: strings.Repeat("cd", 32)}
	e := head.Seal(record.Event{Chain: "request/17", Kind: "status_changed",
		Actor: "018f0a53-0000-7000-8000-000000000001", At: time.UnixMicro(1773308400000001), Detail: d.Detail.String()})
	if got := base64.StdEncoding.EncodeToString(e.Bytes()); got != v.Event.Bytes || e.Hash != v.Event.Hash {
		t.Errorf("got %s with the hash %s", got, e.Hash)
	}
	state := record.State{Detail: record.Detail{{Name: "status", Mark: record.Clear, Value: "APPROVED"}}}
	if state.Digest() != v.State {
		t.Errorf("digest of the state %s, want %s", state.Digest(), v.State)
	}
}

func TestCommitment_IsThatOfAnotherProgram(t *testing.T) {
	t.Parallel()
	v := readVectors(t).Commitment
	o := record.Opening{Salt: v.Salt, Text: v.Text}
	if o.Commitment() != v.Value || !o.Opens(v.Value) {
		t.Errorf("got %s, want %s", o.Commitment(), v.Value)
	}
}

func TestTree_HasTheRootsAndProofsThatAnotherProgramComputes(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).Trees {
		tree := newTree(t, v.Size)
		if got := hexOf(tree.edge.Root()); got != v.Root {
			t.Errorf("size %d: root %s, want %s", v.Size, got, v.Root)
		}
		if got := hexOf(newTree(t, v.Old).edge.Root()); got != v.OldRoot {
			t.Errorf("size %d: root %s, want %s", v.Old, got, v.OldRoot)
		}
		proof, err := record.ProveInclusion(v.Size, v.Index, tree.data)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range proof {
			got = append(got, hexOf(h))
		}
		if strings.Join(got, " ") != strings.Join(v.Inclusion, " ") {
			t.Errorf("size %d, entry %d: proof %s, want %s", v.Size, v.Index, got, v.Inclusion)
		}
	}
}

func TestCheckpoint_SignedByAnotherProgramOpensAndIsSignedAlike(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	keys, err := record.ParseKeys(v.Key.Private + "\n")
	if err != nil || keys.Verifiers[0] != v.Key.Public {
		t.Fatalf("public key %v, want %s; %v", keys.Verifiers, v.Key.Public, err)
	}
	last := v.Trees[len(v.Trees)-1]
	root := newTree(t, last.Size).edge.Root()
	signed, err := record.Checkpoint{Origin: keys.Origin(), Size: last.Size, Root: root}.Sign(keys.Signers...)
	if err != nil || string(signed) != v.Key.Note {
		t.Errorf("got %s, %v, want %s", signed, err, v.Key.Note)
	}
	both, err := record.AddCosignature(signed, []byte(v.Key.Cosignature), v.Key.Witness)
	if err != nil {
		t.Fatal(err)
	}
	known, err := record.Verifiers(v.Key.Public, v.Key.Witness)
	if err != nil {
		t.Fatal(err)
	}
	c, n, err := record.OpenCheckpoint(both, keys.Origin(), known)
	if err != nil || c.Root != root || c.Size != 300 || len(n.Sigs) != 2 {
		t.Errorf("got %v, %v, %v", c, n, err)
	}
}

func TestTimestamp_OfOpenSSLIsAccepted(t *testing.T) {
	t.Parallel()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read(t, "openssl-ca.pem"))
	response, message := read(t, "openssl.tsr"), []byte("a checkpoint\n")
	for _, pool := range []*x509.CertPool{roots, nil} {
		at, err := record.CheckTimestamp(response, message, nil, pool)
		if err != nil || at.Year() != 2026 {
			t.Errorf("got %v, %v", at, err)
		}
	}
	if _, err := record.CheckTimestamp(response, message, nil, x509.NewCertPool()); err == nil {
		t.Error("an authority that nobody trusts is accepted")
	}
	if _, err := record.CheckTimestamp(response, []byte("another"), nil, roots); err == nil {
		t.Error("the timestamp of another message is accepted")
	}
}

func hexOf(h tlog.Hash) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, c := range h {
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}
