package filestest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/files"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// The key of the servers of tests; AccessKey and SecretKey are to be set as AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY for other processes.
const (
	AccessKey = "test-access"
	SecretKey = "test-secret-key"
)

// S3Server is an S3 server in a process of its own: versitygw, which keeps each object as a file.
type S3Server struct {
	Address files.Address // of its bucket
	Folder  string        // of the bucket
	command []string
	cmd     *exec.Cmd
}

// HasS3 reports whether there is an S3 server to test with: ALIQUOT_TEST_S3 is the path of versitygw, as make test sets
// it.
func HasS3() bool { return os.Getenv("ALIQUOT_TEST_S3") != "" }

// StartS3 starts a server with an empty bucket, which ends with the test. HasS3 reports if it can; a test that needs
// one is run only then, like those on PostgreSQL. A command before it gets, as its last arguments, the folder of all
// buckets and the command of the server.
func StartS3(t testing.TB, before ...string) *S3Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	s := &S3Server{Folder: filepath.Join(root, "bucket"), Address: files.Address{Bucket: "bucket",
		Endpoint: listener.Addr().String(), Insecure: true, Region: "us-east-1"}}
	if err := errors.Join(listener.Close(), os.Mkdir(s.Folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	if len(before) > 0 {
		s.command = slices.Concat(before, []string{root})
	}
	s.command = append(s.command, os.Getenv("ALIQUOT_TEST_S3"), "--port", s.Address.Endpoint, "--quiet", "posix",
		"--versioning-dir", t.TempDir(), root)
	s.Start(t)
	t.Cleanup(s.Kill)
	return s
}

// Start starts the server again where Kill ended it, and waits until it answers.
func (s *S3Server) Start(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command(s.command[0], s.command[1:]...)
	s.cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
	var said strings.Builder
	s.cmd.Stdout, s.cmd.Stderr = &said, &said
	dieWithParent(s.cmd)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := s.Client(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		there, err := client.BucketExists(ctx, s.Address.Bucket)
		if there {
			return
		}
		select {
		case <-ctx.Done():
			s.Kill()
			t.Fatalf("the S3 server does not answer: %v\n%s", err, said.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Kill ends the server at once, as a failure of its machine would. What it stored stays.
func (s *S3Server) Kill() {
	_ = s.cmd.Process.Kill() // fails when it has ended
	_ = s.cmd.Wait()         // says that it was killed
}

// Open opens a store in the bucket.
func (s *S3Server) Open(t testing.TB) *files.S3 {
	t.Helper()
	store, err := files.OpenS3(s.Address, Keys(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// Bucket makes another bucket of the server and opens a store in it.
func (s *S3Server) Bucket(t testing.TB, name string) *files.S3 {
	t.Helper()
	other := *s
	other.Address.Bucket = name
	if err := os.Mkdir(filepath.Join(filepath.Dir(s.Folder), name), 0o700); err != nil {
		t.Fatal(err)
	}
	return other.Open(t)
}

// LockedBucket is Bucket with Object Lock, and so with versions of its objects.
func (s *S3Server) LockedBucket(t testing.TB, name string) *files.S3 {
	t.Helper()
	other := *s
	other.Address.Bucket = name
	if err := s.Client(t).MakeBucket(t.Context(), name, minio.MakeBucketOptions{ObjectLocking: true}); err != nil {
		t.Fatal(err)
	}
	return other.Open(t)
}

// Client returns a client of the server.
func (s *S3Server) Client(t testing.TB) *minio.Client {
	t.Helper()
	client, err := minio.New(s.Address.Endpoint, &minio.Options{Creds: Keys(), Region: s.Address.Region, MaxRetries: 1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Keys is the key of the servers of tests.
func Keys() *credentials.Credentials { return credentials.NewStaticV4(AccessKey, SecretKey, "") }

// Environ returns what another process needs in its environment to use the server.
func Environ() []string {
	return []string{fmt.Sprint("AWS_ACCESS_KEY_ID=", AccessKey), fmt.Sprint("AWS_SECRET_ACCESS_KEY=", SecretKey)}
}
