package dossier_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/dossier"
)

// zipped returns a ZIP of another program.
func zipped(t testing.TB, method uint16, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = f.Write(bytes.Repeat([]byte("a"), 1<<20))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// local returns the local header of an entry as Aliquot writes it, with its name and an empty content.
func local(name string, size uint32) []byte {
	b := append([]byte("PK\x03\x04\x14\x00"), make([]byte, 24)...)
	b[12] = 0x21
	binary.LittleEndian.PutUint32(b[18:], size)
	binary.LittleEndian.PutUint32(b[22:], size)
	binary.LittleEndian.PutUint16(b[26:], uint16(len(name)))
	return append(b, name...)
}

func TestDossier_HostileFilesAreRefusedNamingThePlace(t *testing.T) {
	t.Parallel()
	valid := written(t, newWorld(t, 5, 20).dossier(t))
	join := func(names ...string) (b []byte) {
		for _, name := range names {
			b = append(b, local(name, 0)...)
		}
		return b
	}
	for name, tc := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":                  {nil, "it ends too early"},
		"not a ZIP":                {[]byte("<!DOCTYPE html>"), "the directory of the ZIP"},
		"of another program":       {zipped(t, zip.Store, "bagit.txt"), `entry 1, "bagit.txt": its header`},
		"a bomb":                   {zipped(t, zip.Deflate, "bagit.txt"), `entry 1, "bagit.txt": its header`},
		"an absolute path":         {join("/etc/passwd"), `entry 1, "/etc/passwd": not a name`},
		"a rising path":            {join("a", "a/../../b"), `entry 2, "a/../../b": not a name`},
		"a path with a drive":      {join(`C:\x`), `not a name`},
		"a hidden path":            {join("data/.ssh"), `not a name`},
		"a folder":                 {join("data/"), `not a name`},
		"a name twice":             {join("a", "a"), `entry 2, "a": it may not follow "a"`},
		"not in order":             {join("b", "a"), `entry 2, "a": it may not follow "b"`},
		"a name of 65,535 bytes":   {local(strings.Repeat("a", 65535), 0), "entry 1: a name of 65535 bytes"},
		"a name that is no text":   {join("\xff\x00"), "not a name"},
		"more content than it has": {local("a", 1<<32-1), `entry 1, "a": `},
		"something behind it":      {append(bytes.Clone(valid), 0), "the directory of the ZIP"},
		"something before it":      {append([]byte{0}, valid...), "the directory of the ZIP"},
		"of two dossiers":          {append(bytes.Clone(valid), valid...), "the directory of the ZIP"},
		"an empty ZIP":             {append([]byte("PK\x05\x06"), make([]byte, 18)...), "bagit.txt"},
	} {
		_, err := dossier.Check(bytes.NewReader(tc.raw), dossier.Trust{})
		if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 1000 {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
		if out, err := python(t, tc.raw); err == nil {
			t.Errorf("%s: verify.py says %s", name, out)
		}
	}
	for n := 0; n < len(valid); n += 1 + n%13 {
		if _, err := dossier.Check(bytes.NewReader(valid[:n]), dossier.Trust{}); err == nil {
			t.Fatalf("cut at %d it holds", n)
		}
	}
}

// manyEntries is the beginning of a ZIP of a million entries, made as it is read.
type manyEntries struct {
	n    int
	rest []byte
}

// Read returns the next entries.
func (m *manyEntries) Read(b []byte) (int, error) {
	if len(m.rest) == 0 {
		m.rest = local(fmt.Sprintf("data/%07d", m.n), 0)
		m.n++
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

func TestDossier_OfAMillionEntriesIsRefusedInLittleMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := &manyEntries{}
	_, err := dossier.Check(in, dossier.Trust{})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "entry 10001") {
		t.Errorf("got %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("it took %d MiB", used>>20)
	}
}

func FuzzCheck(f *testing.F) {
	valid := written(f, newWorld(f, 5, 20).dossier(f))
	f.Add(valid)
	f.Add(local("a", 7))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := dossier.Check(bytes.NewReader(raw), dossier.Trust{}); err == nil &&
			!bytes.Equal(dossier.PackAs(t, dossier.Unpack(t, raw)), raw) {
			t.Errorf("a dossier of %d bytes holds, but is not as Aliquot writes it", len(raw))
		}
	})
}

// FuzzCheckContent replaces one file of a dossier whose ZIP and manifests are as they should be.
func FuzzCheckContent(f *testing.F) {
	valid := written(f, newWorld(f, 5, 20).dossier(f))
	names := slices.Sorted(maps.Keys(dossier.Unpack(f, valid)))
	for i, name := range names {
		f.Add(uint8(i), dossier.Unpack(f, valid)[name])
	}
	f.Fuzz(func(t *testing.T, i uint8, content string) {
		files := dossier.Unpack(t, valid)
		files[names[int(i)%len(names)]] = content
		raw := dossier.Pack(t, files)
		r, err := dossier.Check(bytes.NewReader(raw), dossier.Trust{})
		if err == nil && len(r.Chains) != 2 {
			t.Errorf("%s is %q, and it holds", names[int(i)%len(names)], content)
		}
	})
}
