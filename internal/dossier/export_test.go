package dossier

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Unpack returns the files of a dossier.
func Unpack(t testing.TB, raw []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	if err := readZIP(bytes.NewReader(raw), func(name string, _ int64, r io.Reader) error {
		b, err := io.ReadAll(r)
		files[name] = string(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

// Pack returns the ZIP of files, whose manifests it adapts, as someone would who has no key.
func Pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	payload, tags := map[string]content{}, map[string]content{}
	for name, text := range files {
		if strings.HasPrefix(name, "data/") {
			payload[name] = whole([]byte(text))
		}
	}
	files[manifestFile] = string(manifest(payload))
	for name, text := range files {
		if !strings.HasPrefix(name, "data/") && name != tagManifestFile {
			tags[name] = whole([]byte(text))
		}
	}
	files[tagManifestFile] = string(manifest(tags))
	return PackAs(t, files)
}

// PackAs returns the ZIP of files as they are.
func PackAs(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	var d directory
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := whole([]byte(files[name])).write(&b, &d, name); err != nil {
			t.Fatal(err)
		}
	}
	b.Write(d.end())
	return b.Bytes()
}

// SealText is sealText.
var SealText = sealText

// Printable is printable.
var Printable = printable
