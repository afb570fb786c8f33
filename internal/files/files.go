// Package files keeps the content of attachments: bytes under a random key. Names, owners and
// rules are rows of the database; nothing here knows them.
//
// Errors a person can act on are *exchange.Error; any other error is a fault of the machine or of
// the reader given to Put.
package files

import (
	"context"
	"io"
	"iter"
	"time"

	"aliquot/internal/exchange"
)

// Store keeps content. Folder is the local one; package filestest holds what every store promises.
type Store interface {
	// Put reads r to its end and keeps what it gave under a new key. When it returns without an error the content
	// survives a power cut; when it returns an error nothing is left behind.
	//
	// Errors: TooLarge above limit bytes, UnsupportedMedia for a type that Sniff refuses, InvalidInput on field "file"
	// for empty content, StorageFull where there is no room. The first two come before the rest is read. An error of r
	// is passed on, so that r may fail with an *exchange.Error of its own. A cancelled ctx ends Put at the next read,
	// not inside one.
	Put(ctx context.Context, r io.Reader, limit int64) (Content, error)

	// Open gives the content of key; the caller closes it. Error: NotFound.
	Open(ctx context.Context, key string) (File, error)

	// Delete removes the content of key. Deleting what is not there is no error.
	Delete(ctx context.Context, key string) error

	// Keys lists every key in no promised order, including those of uploads that are under way or
	// were cut off by a crash: whoever sweeps orphans spares the young ones.
	Keys(ctx context.Context) iter.Seq2[KeyInfo, error]

	// Check reports whether the store takes content now. Errors: StorageFull, Unavailable.
	Check(ctx context.Context) error
}

// File is content open for reading, as http.ServeContent wants it.
type File = io.ReadSeekCloser

// Content says what Put kept. The key is 64 hexadecimal digits, the size in bytes, the checksum
// hexadecimal, the media type as Sniff found it.
type Content = exchange.Content

// KeyInfo is one key of a store.
type KeyInfo struct {
	Key      string
	Modified time.Time // when its last byte was written
}
