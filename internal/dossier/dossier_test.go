package dossier_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/dossier"
	"aliquot/internal/record"

	"golang.org/x/mod/sumdb/note"
)

// world is a log with two chains, of which a dossier is made.
type world struct {
	keys    record.Keys
	witness string // public key
	tiles   map[string][]byte
	edge    record.Edge
	entries map[string]int64 // by chain, the entry of its last event
	chains  map[string][]dossier.Event
	files   []dossier.File
	signed  []byte
}

func newWorld(t testing.TB, events, others int) *world {
	t.Helper()
	w := &world{tiles: map[string][]byte{}, entries: map[string]int64{}, chains: map[string][]dossier.Event{}}
	var err error
	if w.keys, err = record.NewKeys("aliquot.example.org/log/2026"); err != nil {
		t.Fatal(err)
	}
	for i := range others / 2 {
		w.log(strings.Repeat("ab", 32), fmt.Sprint("material/", i))
	}
	w.write(t, "request/17", "request_made", func(d *record.Draft) {
		d.Set("set.status", "OPEN")
		d.Commit("set.abstract", "We study <b>“Müller”</b> cells & more.\u2028")
		d.Commit("set.note", "Please call Dr. Erased")
		d.SetNull("set.address")
	})
	w.write(t, "agreement/3", "agreement_made", func(d *record.Draft) {
		d.Set("playbook.sha256", strings.Repeat("0", 64))
	})
	mta := w.file("documents/002-signed-mta.pdf", "%PDF-1.7 signed")
	w.write(t, "request/17", "document_added", func(d *record.Draft) {
		d.Set("document.sha256", mta)
		d.Set("document.slot", "requester_signed_mta")
	})
	gone := w.file("documents/003-irb.pdf", "%PDF-1.7 irb")
	w.files = w.files[:1]
	w.write(t, "request/17", "document_added", func(d *record.Draft) { d.Set("document.sha256", gone) })
	w.write(t, "request/17", record.Erased, func(d *record.Draft) {
		*d = record.EraseDraft(map[int64][]string{1: {"set.note"}, 3: {"document.sha256"}})
	})
	delete(w.chains["request/17"][0].Openings, "set.note")
	evidence := w.file("signatures/1.json", `{"format":"aliquot-signature/1"}`)
	w.write(t, "agreement/3", "signed", func(d *record.Draft) { d.Set("evidence.sha256", evidence) })
	for i := len(w.chains["request/17"]); i < events; i++ {
		w.write(t, "request/17", "message", func(d *record.Draft) { d.Commit("text", fmt.Sprint("Message ", i)) })
	}
	for i := range others - others/2 {
		w.log(strings.Repeat("cd", 32), fmt.Sprint("material/", i))
	}
	w.store(w.edge.Partial())
	w.sign(t)
	return w
}

func (w *world) log(hash, chain string) {
	w.entries[chain] = w.edge.Size
	w.store(w.edge.Append(record.Leaf(hash)))
}

func (w *world) store(tiles []record.Tile) {
	for _, tile := range tiles {
		w.tiles[fmt.Sprint(tile.Level, " ", tile.Index)] = tile.Data
	}
}

func (w *world) tile(level int, index int64) ([]byte, error) {
	data, ok := w.tiles[fmt.Sprint(level, " ", index)]
	if !ok {
		return nil, errors.New("there is no such tile")
	}
	return data, nil
}

func (w *world) write(t testing.TB, chain, kind string, fill func(*record.Draft)) {
	t.Helper()
	var v record.Verifier
	v.Chain = chain
	for _, e := range w.chains[chain] {
		if err := v.Add(e.Event, e.Openings); err != nil {
			t.Fatal(err)
		}
	}
	var d record.Draft
	fill(&d)
	if _, err := d.Apply(v.State); err != nil {
		t.Fatal(err)
	}
	e := v.Head.Seal(record.Event{Chain: chain, Kind: kind, Actor: "018f0a53-0000-7000-8000-000000000001",
		At: time.UnixMicro(1773308400000000 + w.edge.Size), Detail: d.Detail.String()})
	w.chains[chain] = append(w.chains[chain], dossier.Event{Event: e, Openings: d.Openings})
	w.log(e.Hash, chain)
}

// file adds a file and returns its hash.
func (w *world) file(name, content string) string {
	sum := sha256.Sum256([]byte(content))
	w.files = append(w.files, dossier.File{Name: name, Title: "A document", MediaType: "application/pdf",
		Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }})
	return hex.EncodeToString(sum[:])
}

// sign makes a checkpoint with a cosignature.
func (w *world) sign(t testing.TB) {
	t.Helper()
	private, _, err := note.GenerateKey(nil, "witness.example.org")
	if err == nil {
		w.witness, err = record.WitnessKey(private)
	}
	if err == nil {
		c := record.Checkpoint{Origin: w.keys.Origin(), Size: w.edge.Size, Root: w.edge.Root()}
		w.signed, err = c.Sign(w.keys.Signers...)
	}
	if err != nil {
		t.Fatal(err)
	}
	witness, err := record.OpenWitness(filepath.Join(t.TempDir(), "state"), private, w.keys.Verifiers...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := witness.Add(record.AddCheckpoint{Checkpoint: w.signed}.Marshal())
	if err == nil {
		w.signed, err = record.AddCosignature(w.signed, lines, w.witness)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) dossier(t testing.TB) dossier.Dossier {
	t.Helper()
	d := dossier.Dossier{Title: "Request 17: pUC19", Publisher: "Example\nInstitute", Keys: append(w.keys.Verifiers,
		w.witness), Signers: w.keys.Signers, Files: w.files,
		Cover: dossier.Cover{Facts: [][2]string{{"Material", "pUC19 <script>"}},
			Story: []dossier.Line{{At: time.Unix(1773308400, 0), Text: "Ada requested pUC19."}}}}
	for _, chain := range []string{"request/17", "agreement/3"} {
		hashes, err := record.ProveInclusion(w.edge.Size, w.entries[chain], w.tile)
		if err != nil {
			t.Fatal(err)
		}
		d.Chains = append(d.Chains, dossier.Chain{Events: w.chains[chain],
			Proof: record.Proof{Index: w.entries[chain], Hashes: hashes, Checkpoint: w.signed}})
	}
	return d
}

func written(t testing.TB, d dossier.Dossier) []byte {
	t.Helper()
	ready, err := dossier.Prepare(d)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := ready.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// saved writes verify.py and a dossier to files.
func saved(t testing.TB, raw []byte) (program, file string) {
	t.Helper()
	dir := t.TempDir()
	program, file = filepath.Join(dir, "verify.py"), filepath.Join(dir, "dossier.zip")
	if err := errors.Join(os.WriteFile(program, []byte(dossier.Program), 0o600),
		os.WriteFile(file, raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	return program, file
}

// python runs verify.py.
func python(t testing.TB, raw []byte, keys ...string) (string, error) {
	t.Helper()
	program, file := saved(t, raw)
	args := append([]string{"-I", program, file}, keys...)
	out, err := exec.CommandContext(t.Context(), "python3", args...).CombinedOutput()
	return string(out), err
}

func TestDossier_HoldsForOurReaderAndForPlainPython(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 8, 600)
	raw := written(t, w.dossier(t))
	if !bytes.Equal(raw, written(t, w.dossier(t))) {
		t.Error("the same state gives other bytes")
	}
	for _, trust := range []dossier.Trust{{}, {Keys: w.keys.Verifiers}} {
		r, err := dossier.Check(bytes.NewReader(raw), trust)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Chains) != 2 || r.Chains[0].Name != "request/17" || r.Chains[0].Head.Seq != 8 ||
			len(r.Chains[0].Erased) != 2 || !slices.Equal(r.Documents, []string{"data/documents/002-signed-mta.pdf",
			"data/signatures/1.json"}) || r.Checkpoint.Size != w.edge.Size || r.Signers[0] != w.keys.Origin() {
			t.Errorf("got %+v", r)
		}
		out, err := python(t, raw, trust.Keys...)
		if err != nil || !strings.Contains(out, "\nVALID") || !strings.Contains(out, "request/17: 8 events") ||
			!strings.Contains(out, "event 4 erased 1.set.note") {
			t.Errorf("verify.py: %v, %s", err, out)
		}
	}
	other, err := record.NewKeys(w.keys.Origin())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dossier.Check(bytes.NewReader(raw), dossier.Trust{Keys: other.Verifiers}); err == nil {
		t.Error("a dossier holds for another key")
	}
	if out, err := python(t, raw, other.Verifiers...); err == nil {
		t.Errorf("verify.py: a dossier holds for another key: %s", out)
	}
}

func TestDossier_IsReadByOtherPrograms(t *testing.T) {
	t.Parallel()
	raw := written(t, newWorld(t, 8, 600).dossier(t))
	want := dossier.Unpack(t, raw)
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil || f.Mode() != 0o644 || f.Modified.Year() != 1980 {
			t.Errorf("%s: mode %v, time %v, %v", f.Name, f.Mode(), f.Modified, err)
		}
		got[f.Name] = string(content)
	}
	if !maps.Equal(got, want) {
		t.Errorf("archive/zip reads %v", slices.Sorted(maps.Keys(got)))
	}
	if strings.Count(dossier.Program, "\n") >= 100 {
		t.Error("verify.py has 100 lines or more")
	}
}

// flips is a program that runs verify.py on a dossier with each of some bytes changed; it prints those not noticed.
const flips = `
import io, random, sys
raw = open(sys.argv[2], "rb").read()
program = open(sys.argv[1]).read().rsplit("\nmain(", 1)[0].rsplit("main(*sys", 1)[0]
space = {}
exec(program, space)
space["print"] = lambda *a, **k: None
count = 0
places = range(0, len(raw), int(sys.argv[3]))
for at in places:
    for bit in (1 << random.randrange(8),):
        space["open"] = lambda p, m: io.BytesIO(raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1:])
        try:
            space["main"]("x")
            print("not noticed:", at)
        except (SystemExit, Exception):
            count += 1
print("noticed", count, "of", len(places))
`

func TestDossier_EveryByteThatIsChangedIsNoticed(t *testing.T) {
	t.Parallel()
	raw := written(t, newWorld(t, 5, 20).dossier(t))
	step, programStep := 3, 7 // what all takes minutes
	if os.Getenv("DOSSIER_FLIPS") == "all" {
		step, programStep = 1, 1
	}
	for i := 0; i < len(raw); i += step {
		flipped := bytes.Clone(raw)
		flipped[i] ^= 1 << (i % 8)
		if _, err := dossier.Check(bytes.NewReader(flipped), dossier.Trust{}); err == nil {
			t.Fatalf("byte %d of %d changed, and it holds", i, len(raw))
		}
	}
	program, file := saved(t, raw)
	out, err := exec.CommandContext(t.Context(), "python3", "-I", "-c", flips, program, file,
		strconv.Itoa(programStep)).CombinedOutput()
	places := (len(raw) + programStep - 1) / programStep
	if want := fmt.Sprintf("noticed %d of %d\n", places, places); err != nil || string(out) != want {
		t.Errorf("verify.py: %v, %s, want %s", err, out, want)
	}
}

// Each of these is done by someone who has no key but writes ZIP and manifests as they should be.
var forgeries = map[string]struct {
	change func(files map[string]string)
	want   string // of the error
}{
	"an event changed": {func(f map[string]string) {
		f["data/events.jsonl"] = strings.Replace(f["data/events.jsonl"], "OPEN", "DONE", 1)
	}, "manifest.note"},
	"the cover page changed": {func(f map[string]string) { f["data/cover.html"] += "<p>Approved.</p>" },
		"manifest.note"},
	"a document replaced": {func(f map[string]string) { f["data/documents/002-signed-mta.pdf"] = "other" },
		"manifest.note"},
	"a document removed": {func(f map[string]string) { delete(f, "data/documents/002-signed-mta.pdf") },
		"manifest.note"},
	"a file added": {func(f map[string]string) { f["data/documents/9.pdf"] = "other" }, "manifest.note"},
	"a checkpoint of another size": {func(f map[string]string) {
		f["proof/checkpoint"] = strings.Replace(f["proof/checkpoint"], "\n29\n", "\n30\n", 1)
	}, "proof/checkpoint"},
	"a proof for another entry": {func(f map[string]string) {
		f["proof/request-17.tlog-proof"] = strings.Replace(f["proof/request-17.tlog-proof"], "index 1", "index 2", 1)
	}, "is not entry"},
	"a proof missing": {func(f map[string]string) { delete(f, "proof/agreement-3.tlog-proof") },
		"agreement-3.tlog-proof"},
	"the keys missing":   {func(f map[string]string) { f["proof/keys.txt"] = "\n" }, "proof/checkpoint"},
	"a key that is none": {func(f map[string]string) { f["proof/keys.txt"] = "a+b+c\n" }, "proof/keys.txt"},
}

// Each of these is done by someone who has the key of the log, but not that of who compares checkpoints: the manifest
// is signed again.
var inside = map[string]struct {
	change func(files map[string]string)
	want   string
}{
	"an event changed": {forgeries["an event changed"].change, "request/17, event 1: it was altered"},
	"an event changed, with its hash": {func(f map[string]string) {
		f["data/events.jsonl"] = strings.Replace(f["data/events.jsonl"], `"hash":"`, `"hash":"0`, 1)
	}, "request/17, event 1: it was altered"},
	"a text changed": {func(f map[string]string) {
		f["data/events.jsonl"] = strings.Replace(f["data/events.jsonl"], "We study", "We sell", 1)
	}, "request/17, event 1: the text of set.abstract was altered"},
	"a text removed": {func(f map[string]string) {
		line, rest, _ := strings.Cut(f["data/events.jsonl"], "\n")
		line, _, _ = strings.Cut(line, `,"texts"`)
		f["data/events.jsonl"] = line + "}\n" + rest
	}, "request/17, event 1: the text of set.abstract is missing"},
	"the last event removed": {func(f map[string]string) {
		lines := strings.SplitAfter(f["data/events.jsonl"], "\n")
		f["data/events.jsonl"] = strings.Join(append(lines[:4:4], lines[5:]...), "")
	}, "request-17.tlog-proof"},
	"an event in the middle removed": {func(f map[string]string) {
		lines := strings.SplitAfter(f["data/events.jsonl"], "\n")
		f["data/events.jsonl"] = strings.Join(append(lines[:1:1], lines[2:]...), "")
	}, "request/17, event 3: it does not follow event 1"},
	"two events exchanged": {func(f map[string]string) {
		lines := strings.SplitAfter(f["data/events.jsonl"], "\n")
		lines[1], lines[2] = lines[2], lines[1]
		f["data/events.jsonl"] = strings.Join(lines, "")
	}, "it does not follow event 1"},
	"no event": {func(f map[string]string) { f["data/events.jsonl"] = "" }, "there is no event"},
	"a document replaced": {func(f map[string]string) { f["data/documents/002-signed-mta.pdf"] = "other" },
		"data/documents/002-signed-mta.pdf: no event names it"},
	"a document removed": {func(f map[string]string) { delete(f, "data/documents/002-signed-mta.pdf") },
		"request/17, event 2.document.sha256: its document is missing"},
	"a file added": {func(f map[string]string) { f["data/documents/9.pdf"] = "other" }, "no event names it"},
}

func TestDossier_ThatWasForgedIsRefusedAndThePlaceNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5, 22)
	raw := written(t, w.dossier(t))
	refused := func(t *testing.T, files map[string]string, want string) {
		forged := dossier.Pack(t, files)
		_, err := dossier.Check(bytes.NewReader(forged), dossier.Trust{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if out, err := python(t, forged); err == nil || strings.Contains(out, "\nVALID") {
			t.Errorf("verify.py: %s", out)
		}
	}
	for name, tc := range forgeries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := dossier.Unpack(t, raw)
			tc.change(files)
			refused(t, files, tc.want)
		})
	}
	for name, tc := range inside {
		t.Run("signed again: "+name, func(t *testing.T) {
			t.Parallel()
			files := dossier.Unpack(t, raw)
			tc.change(files)
			dossier.Pack(t, files)
			text := dossier.SealText(w.keys.Origin(), []byte(files["manifest-sha256.txt"]))
			seal, err := note.Sign(&note.Note{Text: text}, w.keys.Signers...)
			if err != nil {
				t.Fatal(err)
			}
			files["proof/manifest.note"] = string(seal)
			refused(t, files, tc.want)
		})
	}
	t.Run("unchanged", func(t *testing.T) {
		t.Parallel()
		if !bytes.Equal(dossier.Pack(t, dossier.Unpack(t, raw)), raw) {
			t.Error("it is not packed as it was written")
		}
	})
}

// renamed returns files of which the first has another name.
func renamed(files []dossier.File, name string) []dossier.File {
	files = slices.Clone(files)
	files[0].Name = name
	return files
}

func TestDossier_OfWhatDoesNotAgreeIsNotWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5, 20)
	for name, change := range map[string]func(d *dossier.Dossier){
		"no chain":              func(d *dossier.Dossier) { d.Chains = nil },
		"a chain without event": func(d *dossier.Dossier) { d.Chains = append(d.Chains, dossier.Chain{}) },
		"a document that was altered": func(d *dossier.Dossier) {
			d.Files = append([]dossier.File{}, d.Files...)
			d.Files[0].SHA256 = strings.Repeat("0", 64)
		},
		"a file that cannot be opened": func(d *dossier.Dossier) {
			d.Files = append([]dossier.File{}, d.Files...)
			d.Files[0].Open = func() (io.ReadCloser, error) { return nil, os.ErrNotExist }
		},
		"two files with one name": func(d *dossier.Dossier) { d.Files = append(d.Files[:1:1], d.Files[0]) },
		"a file with the name of a generated one": func(d *dossier.Dossier) {
			d.Files = renamed(d.Files, "events.jsonl")
		},
		"two checkpoints":      func(d *dossier.Dossier) { d.Chains[1].Proof.Checkpoint = []byte("x\n1\n\n") },
		"a name that steps up": func(d *dossier.Dossier) { d.Files = renamed(d.Files, "../x") },
		"a name with a space":  func(d *dossier.Dossier) { d.Files = renamed(d.Files, "a b") },
	} {
		d := w.dossier(t)
		change(&d)
		ready, err := dossier.Prepare(d)
		if err == nil {
			err = ready.Write(io.Discard)
		}
		if err == nil {
			t.Errorf("%s: it is written", name)
		}
	}
}

// BenchmarkDossier writes and checks a dossier of 40 events.
func BenchmarkDossier(b *testing.B) {
	w := newWorld(b, 40, 60_000)
	raw := written(b, w.dossier(b))
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			written(b, w.dossier(b))
		}
		b.ReportMetric(float64(len(raw)), "bytes")
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if _, err := dossier.Check(bytes.NewReader(raw), dossier.Trust{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
