package files_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/files/filestest"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// The tests below need an S3 server: without one there is nothing to test, and no test. Not parallel: filestest.Run
// measures memory.
func TestS3(t *testing.T) {
	if !filestest.HasS3() {
		return
	}
	server := filestest.StartS3(t)
	var buckets atomic.Int32
	fresh := func(t *testing.T) *files.S3 { return server.Bucket(t, fmt.Sprint("bucket-", buckets.Add(1))) }
	t.Run("is a store", func(t *testing.T) {
		filestest.Run(t, func(t *testing.T) files.Store { return fresh(t) })
	})
	t.Run("with versions is a store", func(t *testing.T) {
		filestest.Run(t, func(t *testing.T) files.Store {
			return server.LockedBucket(t, fmt.Sprint("bucket-", buckets.Add(1)))
		})
	})
	for name, test := range map[string]func(*testing.T){
		"of deleted content no version is left":   func(t *testing.T) { noVersionLeft(t, server) },
		"held content stays":                      func(t *testing.T) { heldStays(t, server) },
		"a large file goes in parts":              func(t *testing.T) { inParts(t, fresh(t)) },
		"reading continues anywhere":              func(t *testing.T) { readAnywhere(t, fresh(t)) },
		"an unfinished upload is listed, deleted": unfinishedUpload,
		"a link downloads one file for a while":   func(t *testing.T) { linkTo(t, fresh(t)) },
		"nothing waits on the disk for long":      func(t *testing.T) { nothingWaits(t, server) },
		"a server that is gone is unavailable":    serverGone,
		"a wrong key is unavailable":              func(t *testing.T) { wrongKey(t, server) },
		"a bucket that is missing is unavailable": func(t *testing.T) { noBucket(t, server) },
		"a full disk of the server is full":       serverFull,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func inParts(t *testing.T, store *files.S3) {
	const size = 40<<20 + 7
	content, err := store.Put(t.Context(), io.LimitReader(rand.NewChaCha8([32]byte{}), size), size)
	if err != nil {
		t.Fatal(err)
	}
	if got := sumOf(t, store, content.Key); got != content.SHA256 || content.Size != size {
		t.Errorf("stored %+v, read back %s", content, got)
	}
}

func readAnywhere(t *testing.T, store *files.S3) {
	key := stored(t, store, "0123456789")
	file, err := store.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(file, got); err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
	for _, seek := range []struct {
		offset int64
		whence int
		want   string
	}{{0, io.SeekStart, "01"}, {5, io.SeekStart, "567"}, {-2, io.SeekCurrent, "67"}, {-1, io.SeekEnd, "9"},
		{1, io.SeekStart, "123456789"}} {
		if _, err := file.Seek(seek.offset, seek.whence); err != nil {
			t.Fatal(err)
		}
		read(seek.want)
	}
	if n, err := file.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if _, err := file.Seek(-1, io.SeekStart); err == nil {
		t.Error("sought to before the beginning")
	}
}

func unfinishedUpload(t *testing.T) {
	server := filestest.StartS3(t)
	client, err := minio.NewCore(server.Address.Endpoint, &minio.Options{Creds: filestest.Keys(), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	store, key := server.Open(t), strings.Repeat("ab", 32)
	if _, err := client.NewMultipartUpload(t.Context(), "bucket", "ab/"+key, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	found := 0
	for info, err := range store.Keys(t.Context()) {
		if found++; err != nil || info.Key != key || !info.Unfinished {
			t.Errorf("listed %+v, %v, want %s", info, err, key)
		}
	}
	if found != 1 {
		t.Errorf("%d keys, want 1", found)
	}
	if _, err := store.Open(t.Context(), key); exchange.CodeOf(err) != exchange.NotFound {
		t.Errorf("half a file can be opened: %v", err)
	}
	if err := store.Delete(t.Context(), key); err != nil {
		t.Error(err)
	}
	for info, err := range store.Keys(t.Context()) {
		t.Errorf("after delete: %+v, %v", info, err)
	}
}

func noVersionLeft(t *testing.T, server *filestest.S3Server) {
	store := server.LockedBucket(t, "versions")
	key, kept := stored(t, store, "text"), stored(t, store, "kept")
	if err := store.Restore(t.Context(), key, strings.NewReader("text again")); err != nil {
		t.Fatal(err)
	}
	versions := func() (n int) {
		t.Helper()
		for o := range server.Client(t).ListObjectsIter(t.Context(), "versions", minio.ListObjectsOptions{Recursive: true,
			WithVersions: true}) {
			if n++; o.Err != nil {
				t.Fatal(o.Err)
			}
		}
		return n
	}
	before := versions()
	err := errors.Join(store.Delete(t.Context(), key), store.Check(t.Context()), store.Check(t.Context()))
	if after := versions(); err != nil || before != 3 || after != 1 {
		t.Errorf("%d versions, after it was deleted %d, %v; want 3 and 1", before, after, err)
	}
	sumOf(t, store, kept)
}

func heldStays(t *testing.T, server *filestest.S3Server) {
	store := server.LockedBucket(t, "holds")
	key := stored(t, store, "evidence")
	if held, err := store.Held(t.Context(), key); held || err != nil {
		t.Errorf("at first it is held: %t, %v", held, err)
	}
	if err := errors.Join(store.Locks(t.Context()), store.Hold(t.Context(), key), store.Hold(t.Context(), key)); err != nil {
		t.Fatal(err)
	}
	if held, err := store.Held(t.Context(), key); !held || err != nil {
		t.Errorf("it is held: %t, %v", held, err)
	}
	if err := store.Delete(t.Context(), key); !errors.Is(err, files.ErrHeld) {
		t.Errorf("deleting it: %v", err)
	}
	if got, want := sumOf(t, store, key), fmt.Sprintf("%x", sha256.Sum256([]byte("evidence"))); got != want {
		t.Errorf("afterwards its sum is %s", got)
	}
	if err := store.Hold(t.Context(), strings.Repeat("ab", 32)); exchange.CodeOf(err) != exchange.NotFound {
		t.Errorf("holding what is not there: %v", err)
	}
	if err := server.Bucket(t, "without-lock").Locks(t.Context()); !errors.Is(err, files.ErrNoLock) {
		t.Errorf("a bucket without Object Lock: %v", err)
	}
}

func linkTo(t *testing.T, store *files.S3) {
	other := stored(t, store, "another file")
	c, err := store.Put(t.Context(), strings.NewReader("a text"), 100)
	if err != nil {
		t.Fatal(err)
	}
	get := func(link string) (int, string, http.Header) {
		t.Helper()
		a, err := http.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Error(err)
		}
		return a.StatusCode, string(body), a.Header
	}
	link, err := store.Presign(t.Context(), c, "größe; a.txt", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	status, body, header := get(link)
	kind, parameters, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if status != 200 || body != "a text" || header.Get("Content-Type") != "text/plain" || err != nil ||
		kind != "attachment" || parameters["filename"] != "größe; a.txt" ||
		header.Get("Cache-Control") != "private, no-store" || header.Get("Content-Encoding") != "" {
		t.Errorf("the link gives %d %q %v", status, body, header)
	}
	for what, altered := range map[string]string{
		"as a page":      strings.Replace(link, "text%2Fplain", "text%2Fhtml", 1),
		"shown":          strings.Replace(link, "attachment", "inline", 1),
		"another file":   strings.Replace(link, c.Key[:2]+"/"+c.Key, other[:2]+"/"+other, 1),
		"for longer":     strings.Replace(link, "X-Amz-Expires=60", "X-Amz-Expires=6000", 1),
		"without a name": regexp.MustCompile("&response-content-disposition=[^&]*").ReplaceAllString(link, ""),
	} {
		if status, _, _ := get(altered); altered == link || status != 403 {
			t.Errorf("altered to be %s: %d", what, status)
		}
	}
	if link, err = store.Presign(t.Context(), c, "a.txt", time.Second); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2100 * time.Millisecond) // times are whole seconds
	if status, body, _ := get(link); status != 403 {
		t.Errorf("when it has ended: %d %s", status, body)
	}
}

func nothingWaits(t *testing.T, server *filestest.S3Server) {
	waiting := t.TempDir()
	store, err := files.OpenS3(server.Address, filestest.Keys(), waiting)
	if err != nil {
		t.Fatal(err)
	}
	stored(t, store, "text")
	if _, err := store.Put(t.Context(), strings.NewReader("too large"), 3); exchange.CodeOf(err) != exchange.TooLarge {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(waiting); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func serverGone(t *testing.T) {
	server := filestest.StartS3(t)
	store := server.Open(t)
	key := stored(t, store, "text")
	server.Kill()
	isUnavailable(t, store, key)
	server.Start(t)
	if err := store.Check(t.Context()); err != nil {
		t.Errorf("once it is back: %v", err)
	}
	if got, want := sumOf(t, store, key), fmt.Sprintf("%x", sha256.Sum256([]byte("text"))); got != want {
		t.Errorf("once it is back, the content has the sum %s", got)
	}
}

func wrongKey(t *testing.T, server *filestest.S3Server) {
	key := stored(t, server.Open(t), "text")
	store, err := files.OpenS3(server.Address, credentials.NewStaticV4(filestest.AccessKey, "guessed", ""), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	isUnavailable(t, store, key)
}

func noBucket(t *testing.T, server *filestest.S3Server) {
	address := server.Address
	address.Bucket = "no-such-bucket"
	store, err := files.OpenS3(address, filestest.Keys(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	isUnavailable(t, store, strings.Repeat("ab", 32))
}

// serverFull gives a server a disk of its own, of few bytes, where this system lets us mount one.
func serverFull(t *testing.T) {
	if err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", t.TempDir()).Run(); err != nil {
		t.Logf("no disk of its own here: %v", err)
		return
	}
	store := filestest.StartS3(t, "unshare", "-Urm", "sh", "-c",
		`mount -t tmpfs -o size=4m tmpfs "$0" && mkdir "$0/bucket" && exec "$@"`).Open(t)
	key := stored(t, store, "text")
	_, err := store.Put(t.Context(), io.LimitReader(rand.NewChaCha8([32]byte{}), 8<<20), 8<<20)
	if exchange.CodeOf(err) != exchange.StorageFull {
		t.Errorf("got %v, want STORAGE_FULL", err)
	}
	if err := store.Delete(t.Context(), key); err != nil {
		t.Errorf("delete while full: %v", err)
	}
}

// isUnavailable asserts that each use of a store fails with Unavailable.
func isUnavailable(t *testing.T, store files.Store, key string) {
	t.Helper()
	_, putErr := store.Put(t.Context(), strings.NewReader("more"), 10)
	_, openErr := store.Open(t.Context(), key)
	var listErr error
	for _, listErr = range store.Keys(t.Context()) {
		break
	}
	for use, err := range map[string]error{"put": putErr, "open": openErr, "keys": listErr,
		"delete": store.Delete(t.Context(), key), "check": store.Check(t.Context()),
		"restore": store.Restore(t.Context(), key, strings.NewReader("more"))} {
		if exchange.CodeOf(err) != exchange.Unavailable {
			t.Errorf("%s: %v, want UNAVAILABLE", use, err)
		} else if strings.Contains(err.Error(), filestest.SecretKey) {
			t.Errorf("%s: the error has the secret: %v", use, err)
		}
	}
}

// stored stores a text and returns its key.
func stored(t *testing.T, store files.Store, text string) string {
	t.Helper()
	content, err := store.Put(t.Context(), strings.NewReader(text), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return content.Key
}

func sumOf(t *testing.T, store files.Store, key string) string {
	t.Helper()
	file, err := store.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		t.Error(err)
	}
	return hex.EncodeToString(hash.Sum(nil))
}
