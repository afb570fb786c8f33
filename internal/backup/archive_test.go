package backup_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"aliquot/internal/backup"
)

const magic = "aliquot backup 1\n"

type named struct{ name, content string }

var three = []named{{"about.json", "{}"}, {"database/0001-users", strings.Repeat("row\n", 50_000)}, {"files/ab", ""}}

func write(tb testing.TB, parts []named) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := backup.NewWriter(&b)
	if err != nil {
		tb.Fatal(err)
	}
	for _, p := range parts {
		if err := w.Add(p.name, strings.NewReader(p.content)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func read(b []byte) ([]named, backup.Manifest, error) {
	var parts []named
	m, err := backup.Read(bytes.NewReader(b), func(name string, r io.Reader) error {
		content, err := io.ReadAll(r)
		parts = append(parts, named{name, string(content)})
		return err
	})
	return parts, m, err
}

// raw is a part with a right checksum under any name.
func raw(name, content string) []byte {
	b := append([]byte{byte(len(name))}, name...)
	if content != "" {
		b = binary.BigEndian.AppendUint32(b, uint32(len(content)))
		b = append(b, content...)
	}
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(len(content)))
	sum := sha256.Sum256([]byte(content))
	return append(b, sum[:]...)
}

func TestRead_GivesBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, parts := range [][]named{nil, three} {
		got, m, err := read(write(t, parts))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(parts) || m.Parts != int64(len(parts)) {
			t.Errorf("%d parts: got %d, manifest %+v, error %v", len(parts), len(got), m, err)
		}
	}
}

func TestRead_ChecksWhatItsCallerLeavesUnread(t *testing.T) {
	t.Parallel()
	b := write(t, three)
	ignore := func(string, io.Reader) error { return nil }
	if _, err := backup.Read(bytes.NewReader(b), ignore); err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, []byte("row\n"))] ^= 1
	if _, err := backup.Read(bytes.NewReader(b), ignore); err == nil || !strings.Contains(err.Error(), "0001-users") {
		t.Errorf("a changed byte: %v", err)
	}
}

func TestRead_RefusesEveryCut(t *testing.T) {
	t.Parallel()
	b := write(t, []named{{"about.json", "{}"}, {"files/ab", "content"}})
	for n := range b {
		if _, _, err := read(b[:n]); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
	}
}

func TestRead_RefusesEveryChangedByte(t *testing.T) {
	t.Parallel()
	b := write(t, []named{{"about.json", "{}"}, {"files/ab", "content"}})
	for n := range b {
		changed := bytes.Clone(b)
		changed[n] ^= 1
		if _, _, err := read(changed); err == nil {
			t.Fatalf("byte %d changed: no error", n)
		}
	}
}

func TestRead_RefusesHostileArchivesNamingThePlace(t *testing.T) {
	t.Parallel()
	whole := write(t, []named{{"a", "1"}, {"b", "2"}})
	manifest := whole[bytes.LastIndex(whole, []byte("\x0dmanifest.json")):]
	join := func(parts ...[]byte) []byte { return append([]byte(magic), bytes.Join(parts, nil)...) }
	for _, tt := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"another kind", []byte("PK\x03\x04" + strings.Repeat("x", 100)), "no backup of Aliquot"},
		{"newer format", []byte(strings.Replace(string(whole), "backup 1", "backup 2", 1)), "no backup of Aliquot"},
		{"reordered", join(raw("b", "2"), raw("a", "1"), manifest), `part "a": it comes after "b"`},
		{"doubled", join(raw("a", "1"), raw("a", "1"), manifest), `part "a": it comes after "a"`},
		{"left out", join(raw("a", "1"), manifest), "manifest.json: it lists 2 parts"},
		{"exchanged", join(raw("a", "2"), raw("b", "1"), manifest), "manifest.json: it lists 2 parts"},
		{"absolute path", join(raw("/etc/passwd", "1"), manifest), `part "/etc/passwd": it is not a relative path`},
		{"rising path", join(raw("a/../../b", "1"), manifest), `part "a/../../b": it is not a relative path`},
		{"back slashes", join(raw(`a\b`, "1"), manifest), "it is not a relative path"},
		{"zero byte", join(raw("a\x00", "1"), manifest), "it is not a relative path"},
		{"no name", join(raw("", "1"), manifest), "it is not a relative path"},
		{"long name", join(raw(strings.Repeat("a", 255), "1"), manifest), "at most 200 bytes"},
		{"huge chunk", join([]byte("\x01a\xff\xff\xff\xff")), `part "a": a chunk of 4294967295 bytes at byte 0`},
		{"huge manifest", join(raw("manifest.json", strings.Repeat("x", 5000))), "manifest.json: it is longer"},
		{"manifest of another form", join(raw("manifest.json", "[]")), "manifest.json: "},
		{"after the end", append(bytes.Clone(whole), 0), "manifest.json: bytes follow it"},
	} {
		if _, _, err := read(tt.archive); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

func TestAdd_RefusesWhatNoReaderWouldTake(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "/a", "../a", "a", "b", "manifest.json", "z"} {
		w, err := backup.NewWriter(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add("b", strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(name, strings.NewReader("")); err == nil {
			t.Errorf("%q after \"b\": no error", name)
		}
	}
}

// A million parts pass through a pipe: neither side keeps a list of them.
func TestRead_KeepsNothingOfAMillionParts(t *testing.T) {
	const parts = 1_000_000
	r, pipe := io.Pipe()
	go func() {
		pipe.CloseWithError(func() error {
			buffered := bufio.NewWriterSize(pipe, 1<<20)
			w, err := backup.NewWriter(buffered)
			if err != nil {
				return err
			}
			for n := range parts {
				if err := w.Add(fmt.Sprintf("files/%07d", n), strings.NewReader("")); err != nil {
					return err
				}
			}
			return errors.Join(w.Close(), buffered.Flush())
		}())
	}()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, err := backup.Read(bufio.NewReader(r), func(string, io.Reader) error { return nil })
	if err != nil || m.Parts != parts {
		t.Fatalf("manifest %+v, error %v", m, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+16<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before.HeapAlloc, after.HeapAlloc)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(write(f, nil))
	f.Add(write(f, []named{{"about.json", "{}"}, {"files/ab", "content"}}))
	f.Add([]byte(magic + "\x01a\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		parts, _, err := read(b)
		if err != nil {
			return
		}
		if again, _, err := read(write(t, parts)); err != nil || fmt.Sprint(again) != fmt.Sprint(parts) {
			t.Errorf("what was read is not what is read of it again: %v", err)
		}
	})
}
