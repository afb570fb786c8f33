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
	"time"

	"aliquot/internal/exchange/document"
)

// Store stores content. Folder is the local implementation; package filestest tests what every store promises.
type Store interface {
	// Put reads r to its end and stores the content under a new key. When it returns without an error the content
	// survives a power cut; when it returns an error nothing is left behind.
	//
	// Errors: TooLarge above limit bytes, UnsupportedMedia for a type that Sniff refuses, InvalidInput on field "file"
	// for empty content, StorageFull if there is no space. The first two come before the rest is read. An error of r is
	// passed on, so that r may fail with an *exchange.Error of its own. A cancelled ctx ends Put at the next read, not
	// inside one.
	Put(ctx context.Context, r io.Reader, limit int64) (Content, error)

	// Open returns the content of key; the caller closes it. Error: NotFound.
	Open(ctx context.Context, key string) (File, error)

	// Delete removes the content of key. Deleting a key that does not exist is not an error.
	Delete(ctx context.Context, key string) error

	// Keys lists every key in no particular order, including those of uploads that are in progress or were cut off by a
	// crash: a cleanup of orphans has to spare recent ones.
	Keys(ctx context.Context) iter.Seq2[KeyInfo, error]

	// Check reports whether the store accepts content now. Errors: StorageFull, Unavailable.
	Check(ctx context.Context) error
}

// File is content open for reading, in the form that http.ServeContent needs.
type File = io.ReadSeekCloser

// Content describes what Put stored. The key is 64 hexadecimal digits, the size in bytes, the checksum hexadecimal, the
// media type as returned by Sniff.
type Content = document.Content

// KeyInfo is one key of a store.
type KeyInfo struct {
	Key      string
	Modified time.Time // when its last byte was written
}
