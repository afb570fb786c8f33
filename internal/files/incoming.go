package files

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"regexp"
	"syscall"

	"aliquot/internal/exchange"
)

const (
	keyBytes   = 32       // random bytes of a key
	bufferSize = 64 << 10 // bytes that an upload holds in memory
)

var (
	keyForm  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	errNoKey = errors.New("it is not the key of a content")
)

func newKey() string {
	random := make([]byte, keyBytes)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(random)
}

// fileOf returns the path of a key. The two digits spread the files over 256 subfolders.
func fileOf(key string) string { return path.Join(key[:2], key) }

// incoming is content that is being uploaded.
type incoming struct {
	r         io.Reader
	n         int64 // bytes read from r
	err       error // of reading r; nil: no read failed
	limit     int64
	mediaType string
	buffer    *bufio.Reader // reads from the incoming itself
}

// receive reads the beginning of an upload and refuses what can be told from it: its errors are those of Store.Put.
func receive(ctx context.Context, r io.Reader, limit int64) (*incoming, error) {
	oneMore := min(limit, math.MaxInt64-1) + 1 // the extra byte distinguishes "too large" from "just fits"
	in := &incoming{r: io.LimitReader(untilDone{ctx, r}, oneMore), limit: limit}
	in.buffer = bufio.NewReaderSize(in, bufferSize)
	head, readErr := in.buffer.Peek(sniffLength)
	switch {
	case readErr != nil && readErr != io.EOF: // io.EOF: shorter than sniffLength
		return nil, fmt.Errorf("read content: %w", readErr)
	case len(head) == 0:
		return nil, exchange.FieldErrors{"file": {"must not be empty"}}.Err()
	case int64(len(head)) > limit:
		return nil, errTooLarge(limit)
	}
	var err error
	in.mediaType, err = Sniff(head, "")
	return in, err
}

// Read implements io.Reader.
func (i *incoming) Read(p []byte) (int, error) {
	n, err := i.r.Read(p)
	if i.n += int64(n); err != nil && err != io.EOF {
		i.err = err
	}
	return n, err
}

// copyTo writes the upload into a file, without the metadata of a picture, inspects it, and returns what it wrote; the
// caller adds the key.
func (i *incoming) copyTo(file *os.File) (Content, error) {
	sum, size := sha256.New(), new(counter)
	err := errors.Join(clean(i.mediaType, io.MultiWriter(file, sum, size), i.buffer), i.err)
	if err != nil {
		return Content{}, fmt.Errorf("keep content: %w", err)
	}
	if i.n > i.limit {
		return Content{}, errTooLarge(i.limit)
	}
	if err := Inspect(file, int64(*size)); err != nil {
		return Content{}, err
	}
	return Content{MediaType: i.mediaType, Size: int64(*size), SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// counter counts the bytes written to it.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// untilDone is a reader that fails once its context is done.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// asStorageFull returns err as StorageFull if that is its cause: the disk is full, a quota of the system is used up, or
// a limit of the process is reached.
func asStorageFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return errFull(err)
	}
	return err
}

func errFull(cause error) error {
	return &exchange.Error{Code: exchange.StorageFull, Cause: cause,
		Message: "The server's storage is full, so no file can be saved until its operator frees space. Nothing was " +
			"changed."}
}

func errTooLarge(limit int64) error {
	return exchange.Errorf(exchange.TooLarge, "The file is larger than the limit of %s.", inUnits(limit)).With("limit",
		limit)
}

// inUnits writes a number of bytes in the largest unit that divides it.
func inUnits(bytes int64) string {
	switch {
	case bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	default:
		return fmt.Sprintf("%d bytes", bytes)
	}
}
