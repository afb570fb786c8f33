// Package filestest holds what every files.Store promises, as tests.
package filestest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
)

const mebibyte = 1 << 20

// Run tests the stores that open returns; each call returns an empty one. The test that calls Run must
// not be parallel: one part measures the memory of the process.
func Run(t *testing.T, open func(t *testing.T) files.Store) {
	t.Run("memory stays flat while a large file streams in", func(t *testing.T) { flatMemory(t, open(t)) })
	for name, test := range map[string]func(*testing.T, files.Store){
		"what was put comes back":                       comesBack,
		"content is served in ranges":                   servedInRanges,
		"equal contents get different keys":             differentKeys,
		"content of exactly the limit fits":             exactlyTheLimit,
		"a refused upload leaves nothing behind":        refusedLeavesNothing,
		"a refused type is not read to its end":         refusedEarly,
		"a cancelled upload leaves nothing behind":      cancelled,
		"many can put at once":                          manyAtOnce,
		"content is restored under its key":             restored,
		"a restore that fails changes nothing":          restoreFails,
		"restores of the same content do not mix":       restoredAtOnce,
		"deleted content is gone, deleting is repeated": deleted,
		"a key that is not one reaches nothing":         oddKeys,
		"keys are listed with their time":               listed,
		"a store that works passes its check":           check,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func flatMemory(t *testing.T, store files.Store) {
	const size, most = 256 * mebibyte, 8 * mebibyte
	stream := &heapWatch{r: io.LimitReader(rand.NewChaCha8([32]byte{}), size)}
	content, err := store.Put(t.Context(), stream, size)
	if err != nil {
		t.Fatal(err)
	}
	if content.Size != size {
		t.Errorf("size = %d, want %d", content.Size, size)
	}
	if grown := stream.highest - stream.first; grown > most {
		t.Errorf("the heap grew by %d bytes, want at most %d", grown, most)
	}
}

// heapWatch measures the live heap every 32 MiB that are read through it.
type heapWatch struct {
	r              io.Reader
	read, measured int64
	first, highest int64
}

func (w *heapWatch) Read(p []byte) (int, error) {
	if w.read >= w.measured {
		w.measured += 32 * mebibyte
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		live := int64(stats.HeapAlloc)
		if w.first == 0 {
			w.first = live
		}
		w.highest = max(w.highest, live)
	}
	n, err := w.r.Read(p)
	w.read += int64(n)
	return n, err
}

func comesBack(t *testing.T, store files.Store) {
	for _, size := range []int{1, 4095, 4096, 4097, 3*mebibyte + 1} {
		want := text(size)
		content := put(t, store, want)
		sum := sha256.Sum256([]byte(want))
		if content.Size != int64(size) || content.SHA256 != hex.EncodeToString(sum[:]) ||
			content.MediaType != "text/plain" {
			t.Errorf("%d bytes: put says %+v", size, content)
		}
		file, err := store.Open(t.Context(), content.Key)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if got, err := io.ReadAll(file); err != nil || string(got) != want {
			t.Errorf("%d bytes: read %d bytes, error %v", size, len(got), err)
		}
	}
}

func servedInRanges(t *testing.T, store files.Store) {
	file, err := store.Open(t.Context(), put(t, store, "0123456789").Key)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	request.Header.Set("Range", "bytes=2-5")
	http.ServeContent(answer, request, "", time.Time{}, file)
	if answer.Code != http.StatusPartialContent || answer.Body.String() != "2345" {
		t.Errorf("got %d %q, want 206 \"2345\"", answer.Code, answer.Body)
	}
}

func differentKeys(t *testing.T, store files.Store) {
	if a, b := put(t, store, "same"), put(t, store, "same"); a.Key == b.Key || a.SHA256 != b.SHA256 {
		t.Errorf("got %+v and %+v", a, b)
	}
}

func exactlyTheLimit(t *testing.T, store files.Store) {
	for _, limit := range []int{1, 4096, mebibyte} {
		if _, err := store.Put(t.Context(), strings.NewReader(text(limit)), int64(limit)); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func refusedLeavesNothing(t *testing.T, store files.Store) {
	broken := errors.New("the connection broke")
	for name, test := range map[string]struct {
		r     io.Reader
		code  exchange.Code
		cause error
		says  string
	}{
		"one byte too large": {strings.NewReader(text(mebibyte + 1)), exchange.TooLarge, nil, "limit of 1 MiB"},
		"endless":            {rand.NewChaCha8([32]byte{}), exchange.TooLarge, nil, "limit of 1 MiB"},
		"a page named .pdf": {strings.NewReader("<html>%PDF-1.7</html>"), exchange.UnsupportedMedia, nil,
			"an HTML page"},
		"empty":          {strings.NewReader(""), exchange.InvalidInput, nil, "file: must not be empty"},
		"fails at once":  {iotest.ErrReader(broken), exchange.Internal, broken, ""},
		"fails early":    {failing(10, broken), exchange.Internal, broken, ""},
		"fails half way": {failing(mebibyte/2, broken), exchange.Internal, broken, ""},
		"cut off early":  {failing(10, io.ErrUnexpectedEOF), exchange.Internal, io.ErrUnexpectedEOF, ""},
		"fails with our own code": {failing(10, exchange.Errorf(exchange.TooLarge, "body")), exchange.TooLarge, nil,
			"body"},
	} {
		_, err := store.Put(t.Context(), test.r, mebibyte)
		if err == nil || exchange.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %s with %q", name, err, test.code, test.says)
		}
		if test.cause != nil && !errors.Is(err, test.cause) {
			t.Errorf("%s: got %v, want the cause %v", name, err, test.cause)
		}
	}
	isEmpty(t, store)
}

func refusedEarly(t *testing.T, store files.Store) {
	rest := &counter{r: rand.NewChaCha8([32]byte{})}
	_, err := store.Put(t.Context(), io.MultiReader(strings.NewReader("#!/bin/sh\n"), rest), 256*mebibyte)
	if exchange.CodeOf(err) != exchange.UnsupportedMedia {
		t.Errorf("got %v, want a refusal", err)
	}
	if rest.n > mebibyte {
		t.Errorf("%d bytes were read before the refusal", rest.n)
	}
	isEmpty(t, store)
}

func cancelled(t *testing.T, store files.Store) {
	for _, after := range []int64{0, 10, mebibyte} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stop := readerFunc(func([]byte) (int, error) { cancel(); return 0, nil })
		start := io.LimitReader(rand.NewChaCha8([32]byte{}), after)
		if _, err := store.Put(ctx, io.MultiReader(start, stop), 2*mebibyte); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d bytes: got %v, want %v", after, err, context.Canceled)
		}
	}
	isEmpty(t, store)
}

func manyAtOnce(t *testing.T, store files.Store) {
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			want := strings.Repeat(fmt.Sprintf("writer %d\n", i), 10_000)
			content, err := store.Put(t.Context(), strings.NewReader(want), mebibyte)
			if err != nil {
				t.Errorf("put: %v", err)
				return
			}
			file, err := store.Open(t.Context(), content.Key)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			defer file.Close()
			if got, err := io.ReadAll(file); err != nil || string(got) != want {
				t.Errorf("writer %d: read %d bytes, error %v", i, len(got), err)
			}
		})
	}
	group.Wait()
	if n := len(keys(t, store)); n != 32 {
		t.Errorf("%d keys, want 32", n)
	}
}

// read returns the content of a key.
func read(t *testing.T, store files.Store, key string) string {
	t.Helper()
	file, err := store.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := io.ReadAll(file)
	if err != nil {
		t.Error(err)
	}
	return string(got)
}

func deleted(t *testing.T, store files.Store) {
	gone, kept := put(t, store, "gone"), put(t, store, "kept")
	for range 2 {
		if err := store.Delete(t.Context(), gone.Key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Open(t.Context(), gone.Key); exchange.CodeOf(err) != exchange.NotFound {
		t.Errorf("open after delete: %v, want NOT_FOUND", err)
	}
	if got := keys(t, store); len(got) != 1 || got[0].Key != kept.Key {
		t.Errorf("keys after delete: %v, want only %s", got, kept.Key)
	}
}

func oddKeys(t *testing.T, store files.Store) {
	kept := put(t, store, "kept").Key
	for _, key := range []string{
		"", ".", "..", "/", "../" + kept, "/etc/passwd", kept[:2], kept[:2] + "/" + kept, "../" + kept[3:], kept +
			".part",
		kept + "\n", kept + "\x00", strings.ToUpper(kept[:63]) + "A", strings.Repeat("../", 21) + "a",
		strings.Repeat("0", 64),
	} {
		if file, err := store.Open(t.Context(), key); exchange.CodeOf(err) != exchange.NotFound {
			t.Errorf("open %q: %v, %v, want NOT_FOUND", key, file, err)
		}
		if err := store.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %q: %v", key, err)
		}
	}
	if got := keys(t, store); len(got) != 1 || got[0].Key != kept {
		t.Errorf("keys: %v, want only %s", got, kept)
	}
}

func listed(t *testing.T, store files.Store) {
	want := map[string]bool{}
	for range 5 {
		want[put(t, store, "content").Key] = true
	}
	for _, info := range keys(t, store) {
		if age := time.Since(info.Modified); age < -time.Hour || age > time.Hour { // S3 has a clock of its own
			t.Errorf("%s was written %s ago", info.Key, age)
		}
		delete(want, info.Key)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
	for _, err := range store.Keys(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		break // stopping early is fine
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range store.Keys(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("listing when cancelled: %v, want %v", err, context.Canceled)
		}
	}
}

func check(t *testing.T, store files.Store) {
	if err := store.Check(t.Context()); err != nil {
		t.Error(err)
	}
	isEmpty(t, store)
}

func put(t *testing.T, store files.Store, s string) files.Content {
	t.Helper()
	content, err := store.Put(t.Context(), strings.NewReader(s), 100*mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func keys(t *testing.T, store files.Store) (all []files.KeyInfo) {
	t.Helper()
	for info, err := range store.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info)
	}
	return all
}

func isEmpty(t *testing.T, store files.Store) {
	t.Helper()
	if left := keys(t, store); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// text gives size bytes of plain text.
func text(size int) string {
	return strings.Repeat("An aliquot is a part of a whole. ", size/33+1)[:size]
}

// failing gives n bytes and then err.
func failing(n int, err error) io.Reader {
	return io.MultiReader(bytes.NewReader([]byte(text(n))), iotest.ErrReader(err))
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
