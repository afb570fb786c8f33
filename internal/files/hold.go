package files

import (
	"context"
	"errors"

	"github.com/minio/minio-go/v7"
)

var (
	// ErrHeld is why Delete leaves content that the bucket holds.
	ErrHeld = errors.New("the bucket holds this content; whoever may lift the legal hold must do that first")
	// ErrNoLock is why a bucket can hold nothing.
	ErrNoLock = errors.New("the bucket has no Object Lock; a bucket has it from the start, so move the files to one " +
		"that was made with it (aliquot files move)")
)

// Place names the bucket.
func (s *S3) Place() string { return s.place }

// Locks returns ErrNoLock if the bucket can hold no content.
func (s *S3) Locks(ctx context.Context) error {
	enabled, _, _, _, err := s.client.GetObjectLockConfig(ctx, s.bucket)
	switch minio.ToErrorResponse(err).Code {
	case "ObjectLockConfigurationNotFoundError", minio.NotImplemented:
		return ErrNoLock
	}
	if err == nil && enabled != "Enabled" {
		return ErrNoLock
	}
	return s.failed(ctx, err)
}

// Hold has the bucket hold content: nobody can delete it until the legal hold is lifted, which we never do. Holding it
// again is no error. Error: NotFound.
func (s *S3) Hold(ctx context.Context, key string) error {
	on := minio.LegalHoldEnabled
	err := s.client.PutObjectLegalHold(ctx, s.bucket, fileOf(key), minio.PutObjectLegalHoldOptions{Status: &on})
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return errGone()
	}
	return s.failed(ctx, err)
}

// Held reports whether the bucket holds content. Error: NotFound.
func (s *S3) Held(ctx context.Context, key string) (bool, error) {
	return s.held(ctx, fileOf(key), "")
}

// held is Held for a version; "" is the newest.
func (s *S3) held(ctx context.Context, name, version string) (bool, error) {
	status, err := s.client.GetObjectLegalHold(ctx, s.bucket, name, minio.GetObjectLegalHoldOptions{VersionID: version})
	switch minio.ToErrorResponse(err).Code {
	case "NoSuchObjectLockConfiguration":
		return false, nil
	case minio.NoSuchKey:
		return false, errGone()
	}
	return err == nil && status != nil && *status == minio.LegalHoldEnabled, s.failed(ctx, err)
}
