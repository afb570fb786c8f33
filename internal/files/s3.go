package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"
	"time"

	"aliquot/internal/exchange"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	partSize  = 16 << 20 // bytes that are sent at once, and again if a server fails meanwhile
	maxParts  = 10_000   // of an object, by the protocol
	tries     = 5        // of each call, over about a second
	checkName = "check"  // the object that Check writes
)

// summed is how content is sent whose SHA-256 is given: without it, clients on http send sums of pieces instead, which
// some servers then keep as the encoding of the content.
var summed = minio.PutObjectOptions{DisableContentSha256: true}

// S3 is a Store in a bucket of an S3 server, under the names that the files of a Folder have. Any number of processes
// may use the same bucket.
//
// An upload waits in a local file, without a name, until all of it is there and was inspected; only then is it sent,
// with its SHA-256, which the server checks.
type S3 struct {
	client  *minio.Core
	bucket  string
	waiting string // folder
	idle    func() // closes connections that nobody uses
	place   string
}

// OpenS3 opens the store in a bucket, which must exist; it asks the server nothing yet. Uploads wait in the folder
// waiting, which is created if it is missing. Error: there is no key.
func OpenS3(a Address, keys *credentials.Credentials, waiting string) (*S3, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.ResponseHeaderTimeout = time.Minute
	transport.DisableCompression = true // content comes as it was sent
	if key, err := keys.GetWithContext(nil); err != nil || key.AccessKeyID == "" {
		missing := "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file that has them in " +
			"AWS_SHARED_CREDENTIALS_FILE"
		if a.Role {
			missing = "this machine has no role that a key can be had for"
		}
		return nil, errors.Join(errors.New(missing), err)
	}
	client, err := minio.NewCore(a.Endpoint, &minio.Options{Creds: keys, Secure: !a.Insecure, Region: a.Region,
		Transport: transport, MaxRetries: tries})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(waiting, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for uploads: %w", err)
	}
	return &S3{client, a.Bucket, waiting, transport.CloseIdleConnections, a.String()}, nil
}

// Close implements Store.
func (s *S3) Close() error {
	s.idle()
	return nil
}

// wait makes a file for an upload; discard ends it.
func (s *S3) wait() (*os.File, error) {
	file, err := os.CreateTemp(s.waiting, "")
	if err == nil {
		_ = os.Remove(file.Name()) // where the system lets it, so that nothing is left if the process is killed
	}
	return file, err
}

func discard(file *os.File) { _ = errors.Join(file.Close(), os.Remove(file.Name())) }

// Put implements Store. If the answer of the server gets lost there may be content under a key that nobody has, as
// after a crash.
func (s *S3) Put(ctx context.Context, r io.Reader, limit int64) (Content, error) {
	in, err := receive(ctx, r, limit)
	if err != nil {
		return Content{}, err
	}
	file, err := s.wait()
	if err != nil {
		return Content{}, asStorageFull(err)
	}
	defer discard(file)
	content, err := in.copyTo(file)
	if err != nil {
		return Content{}, asStorageFull(err)
	}
	content.Key = newKey()
	if err := s.send(ctx, content.Key, file, content.Size); err != nil {
		return Content{}, err
	}
	return content, nil
}

// Restore implements Store.
func (s *S3) Restore(ctx context.Context, key string, r io.Reader) error {
	if !keyForm.MatchString(key) {
		return errNoKey
	}
	file, err := s.wait()
	if err != nil {
		return asStorageFull(err)
	}
	defer discard(file)
	size, err := io.Copy(file, untilDone{ctx, r})
	if err != nil {
		return asStorageFull(err)
	}
	return s.send(ctx, key, file, size)
}

// send sends content, in parts if it is large.
func (s *S3) send(ctx context.Context, key string, content io.ReaderAt, size int64) error {
	if size > partSize {
		return s.failed(ctx, s.sendParts(ctx, fileOf(key), content, size))
	}
	part := io.NewSectionReader(content, 0, size)
	sum, err := sumOf(part)
	if err == nil {
		_, err = s.client.PutObject(ctx, s.bucket, fileOf(key), part, size, "", sum, summed)
	}
	return s.failed(ctx, err)
}

func (s *S3) sendParts(ctx context.Context, name string, content io.ReaderAt, size int64) (err error) {
	id, err := s.client.NewMultipartUpload(ctx, s.bucket, name, minio.PutObjectOptions{})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil { // an upload that is left is swept like one that a crash cut off
			_ = s.client.AbortMultipartUpload(context.WithoutCancel(ctx), s.bucket, name, id)
		}
	}()
	each := max(partSize, (size+maxParts-1)/maxParts)
	var sent []minio.CompletePart
	for at := int64(0); at < size; at += each {
		part := io.NewSectionReader(content, at, min(each, size-at))
		sum, err := sumOf(part)
		if err != nil {
			return err
		}
		done, err := s.client.PutObjectPart(ctx, s.bucket, name, id, len(sent)+1, part, part.Size(),
			minio.PutObjectPartOptions{Sha256Hex: sum, DisableContentSha256: true})
		if err != nil {
			return err
		}
		sent = append(sent, minio.CompletePart{PartNumber: done.PartNumber, ETag: done.ETag})
	}
	_, err = s.client.CompleteMultipartUpload(ctx, s.bucket, name, id, sent, minio.PutObjectOptions{})
	return err
}

// sumOf returns the SHA-256 of a part, and goes back to its beginning.
func sumOf(part *io.SectionReader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, part)
	if err == nil {
		_, err = part.Seek(0, io.SeekStart)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Delete implements Store. Where the bucket keeps versions, all of them are removed.
func (s *S3) Delete(ctx context.Context, key string) error {
	if !keyForm.MatchString(key) {
		return nil
	}
	versions, err := s.keepsVersions(ctx)
	switch {
	case err != nil:
	case versions:
		err = s.deleteVersions(ctx, fileOf(key))
	default:
		err = s.client.RemoveObject(ctx, s.bucket, fileOf(key), minio.RemoveObjectOptions{})
	}
	if err == nil {
		err = s.client.RemoveIncompleteUpload(ctx, s.bucket, fileOf(key))
	}
	return s.failed(ctx, err)
}

// keepsVersions reports whether the bucket keeps versions of objects. Where we may not ask, they are its operator's.
func (s *S3) keepsVersions(ctx context.Context) (bool, error) {
	v, err := s.client.GetBucketVersioning(ctx, s.bucket)
	switch minio.ToErrorResponse(err).Code {
	case minio.AccessDenied, minio.NotImplemented:
		return false, nil
	}
	return v.Status != "", err
}

// deleteVersions removes every version of an object, the newest first: until the last is gone, Keys lists the object.
func (s *S3) deleteVersions(ctx context.Context, name string) error {
	listing, cancel := context.WithCancel(ctx)
	defer cancel()
	all := minio.ListObjectsOptions{Prefix: name, WithVersions: true}
	for o := range s.client.ListObjectsIter(listing, s.bucket, all) {
		if o.Err != nil {
			return o.Err
		}
		err := s.client.RemoveObject(ctx, s.bucket, o.Key, minio.RemoveObjectOptions{VersionID: o.VersionID})
		if err != nil {
			if held, _ := s.held(ctx, o.Key, o.VersionID); held {
				return ErrHeld
			}
			return err
		}
	}
	return nil
}

// Keys implements Store.
func (s *S3) Keys(ctx context.Context) iter.Seq2[KeyInfo, error] {
	return func(yield func(KeyInfo, error) bool) {
		listing, cancel := context.WithCancel(ctx)
		defer cancel() // ends the listing of uploads, whose channel would wait for a reader
		more := func(name string, modified time.Time, unfinished bool, err error) bool {
			if err = errors.Join(err, ctx.Err()); err != nil {
				yield(KeyInfo{}, s.failed(ctx, err))
				return false
			}
			key := name[strings.LastIndex(name, "/")+1:]
			return !keyForm.MatchString(key) || yield(KeyInfo{key, modified, unfinished}, nil)
		}
		for o := range s.client.ListObjectsIter(listing, s.bucket, minio.ListObjectsOptions{Recursive: true}) {
			if !more(o.Key, o.LastModified, false, o.Err) {
				return
			}
		}
		for u := range s.client.ListIncompleteUploads(listing, s.bucket, "", true) {
			if !more(u.Key, u.Initiated, true, u.Err) {
				return
			}
		}
	}
}

// Check implements Store: it writes a small object, always the same one, as an upload is written.
func (s *S3) Check(ctx context.Context) error {
	file, err := s.wait()
	if err != nil {
		return asStorageFull(err)
	}
	defer discard(file)
	content := make([]byte, checkSize)
	if _, err := file.Write(content); err != nil {
		return asStorageFull(err)
	}
	sum := sha256.Sum256(content)
	put, err := s.client.PutObject(ctx, s.bucket, checkName, bytes.NewReader(content), checkSize, "",
		hex.EncodeToString(sum[:]), summed)
	if err == nil && put.VersionID != "" { // or they would add up; where we may not, they are the operator's
		_ = s.client.RemoveObject(ctx, s.bucket, checkName, minio.RemoveObjectOptions{VersionID: put.VersionID})
	}
	return s.failed(ctx, err)
}

// failed returns an error of the server as StorageFull or Unavailable; the end of ctx stays what it is.
func (s *S3) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if errors.Is(err, ErrHeld) {
		return err
	}
	answer := minio.ToErrorResponse(err)
	if answer.StatusCode == http.StatusInsufficientStorage || strings.HasSuffix(answer.Code, "QuotaExceeded") {
		return errFull(err)
	}
	return &exchange.Error{Code: exchange.Unavailable, Cause: err,
		Message: "The store of files does not respond. Try again in a few minutes."}
}
