package filestest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/files"
)

func restored(t *testing.T, store files.Store) {
	key := strings.Repeat("ab", 32)
	for _, want := range []string{"first", text(3 * mebibyte), ""} {
		if err := store.Restore(t.Context(), key, strings.NewReader(want)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, store, key); got != want {
			t.Errorf("read %d bytes, want %d", len(got), len(want))
		}
	}
	if got := keys(t, store); len(got) != 1 || got[0].Key != key || got[0].Unfinished {
		t.Errorf("keys: %v", got)
	}
	for _, key := range []string{"", "../" + key, key[:63]} {
		if err := store.Restore(t.Context(), key, strings.NewReader("text")); err == nil {
			t.Errorf("%q was taken as a key", key)
		}
	}
}

func restoreFails(t *testing.T, store files.Store) {
	key, broken := put(t, store, "as it was").Key, errors.New("the connection broke")
	for _, key := range []string{key, strings.Repeat("ab", 32)} {
		if err := store.Restore(t.Context(), key, failing(mebibyte, broken)); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
	}
	if got := read(t, store, key); got != "as it was" {
		t.Errorf("afterwards it is %.20q", got)
	}
	if got := keys(t, store); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func restoredAtOnce(t *testing.T, store files.Store) {
	key, want := strings.Repeat("ab", 32), text(2*mebibyte)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := store.Restore(t.Context(), key, strings.NewReader(want)); err != nil {
				t.Errorf("restore: %v", err)
			}
		})
	}
	group.Wait()
	if got := read(t, store, key); got != want {
		t.Errorf("read %d bytes, want %d", len(got), len(want))
	}
	if got := keys(t, store); len(got) != 1 {
		t.Errorf("keys: %v", got)
	}
}
