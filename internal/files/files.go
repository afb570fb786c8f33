// Package files stores the content of attachments: bytes under a random key. Names, owners and rules are rows of the
// database; this package does not know them.
//
// Errors that a user can act on are *exchange.Error; any other error is a failure of the machine or of the reader
// passed to Put.
package files

import (
	"context"
	"io"
	"iter"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
)

// Store stores content: Folder in a local folder, S3 in a bucket. Package filestest tests what every store promises.
type Store interface {
	// Put reads r to its end and stores the content under a new key. When it returns without an error the content
	// survives a power cut; when it returns an error nothing is left behind.
	//
	// Errors: TooLarge above limit bytes, UnsupportedMedia for a type that Sniff refuses, InvalidInput on field "file"
	// for empty content, StorageFull if there is no space. The first two come before the rest is read. An error of r is
	// passed on, so that r may fail with an *exchange.Error of its own. A cancelled ctx ends Put at the next read, not
	// inside one.
	Put(ctx context.Context, r io.Reader, limit int64) (Content, error)

	// Restore stores content under a key that it had before, as it is. Content that is there under this key is replaced
	// once all of r was read; when it returns an error nothing has changed. Error: StorageFull.
	Restore(ctx context.Context, key string, r io.Reader) error

	// Open returns the content of key; the caller closes it before ctx ends. Error: NotFound.
	Open(ctx context.Context, key string) (File, error)

	// Delete removes the content of key. Deleting a key that does not exist is not an error. Error: ErrHeld.
	Delete(ctx context.Context, key string) error

	// Keys lists every key in no particular order, including those of uploads that are in progress or were cut off by a
	// crash: a cleanup of orphans has to spare recent ones.
	Keys(ctx context.Context) iter.Seq2[KeyInfo, error]

	// Check reports whether the store accepts content now. Errors: StorageFull, Unavailable.
	Check(ctx context.Context) error

	// Close ends the use of the store. Content of a folder that is open stays readable.
	Close() error
}

// Open opens the store that the setting files names: a bucket by an address as ParseAddress takes it, or a folder, made
// if it is missing. Uploads to a bucket wait in the folder waiting until all of them is there.
func Open(where, waiting string) (Store, error) {
	if !strings.HasPrefix(where, scheme) {
		return OpenFolder(where)
	}
	address, err := ParseAddress(where)
	if err != nil {
		return nil, err
	}
	return OpenS3(address, address.Credentials(), waiting)
}

// File is content open for reading, in the form that http.ServeContent needs.
type File = io.ReadSeekCloser

// Content describes what Put stored. The key is 64 hexadecimal digits, the size in bytes, the checksum hexadecimal, the
// media type as returned by Sniff.
type Content = document.Content

// KeyInfo is one key of a store.
type KeyInfo struct {
	Key        string
	Modified   time.Time // when its last byte was written, or of an unfinished upload perhaps its first
	Unfinished bool      // the upload is in progress or was cut off
}

// errGone is what Open returns for a key that has no content.
func errGone() error {
	return exchange.Errorf(exchange.NotFound, "The content of this file is no longer available.")
}
