package files

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/minio/minio-go/v7"
)

// s3File is an object open for reading. It is read by one call from where it was sought to; seeking elsewhere ends that
// call, and the next read makes another.
type s3File struct {
	ctx    context.Context // that of Open, since Read has none
	store  *S3
	name   string
	size   int64
	at     int64         // where Read continues
	body   io.ReadCloser // of the call; nil: none
	bodyAt int64         // where body continues
}

// Open implements Store.
func (s *S3) Open(ctx context.Context, key string) (File, error) {
	if !keyForm.MatchString(key) {
		return nil, errGone()
	}
	f := &s3File{ctx: ctx, store: s, name: fileOf(key)}
	if err := f.call(); err != nil {
		return nil, err
	}
	return f, nil
}

// call asks for the object from f.at to its end. The first call, from the beginning, learns its size.
func (f *s3File) call() error {
	var options minio.GetObjectOptions
	if f.at > 0 {
		if err := options.SetRange(f.at, 0); err != nil {
			return err
		}
	}
	body, info, _, err := f.store.client.GetObject(f.ctx, f.store.bucket, f.name, options)
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return errGone()
	}
	if err != nil {
		return f.store.failed(f.ctx, err)
	}
	if f.at == 0 {
		f.size = info.Size
	}
	f.body, f.bodyAt = body, f.at
	return nil
}

// Read implements io.Reader. Error, except io.EOF: Unavailable.
func (f *s3File) Read(p []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	if f.body != nil && f.bodyAt != f.at {
		_ = f.Close() // what is left of the call is not needed
	}
	if f.body == nil {
		if err := f.call(); err != nil {
			return 0, err
		}
	}
	n, err := f.body.Read(p)
	f.at, f.bodyAt = f.at+int64(n), f.bodyAt+int64(n)
	if errors.Is(err, io.EOF) {
		if f.at == f.size {
			return n, io.EOF
		}
		err = io.ErrUnexpectedEOF
	}
	return n, f.store.failed(f.ctx, err)
}

// Seek implements io.Seeker; it asks the server nothing.
func (f *s3File) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	}
	if offset < 0 {
		return 0, errors.Join(fs.ErrInvalid, errors.New("seek before the beginning"))
	}
	f.at = offset
	return offset, nil
}

// Close implements io.Closer.
func (f *s3File) Close() error {
	if f.body == nil {
		return nil
	}
	body := f.body
	f.body = nil
	return body.Close()
}
