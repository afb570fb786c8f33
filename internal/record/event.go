// Package record makes the record of an installation checkable without it: events in chains, commitments to personal
// text, a Merkle log of all events with signed checkpoints, proofs, cosignatures of witnesses, and timestamps. It has
// no database and no clock; docs/record.md has every format byte for byte.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Format is the first part of every hashed event.
const Format = "aliquot-event-2"

// Event is one event of a chain.
type Event struct {
	Chain  string // the object that it is about: "request/17", "instance"
	Seq    int64  // 1, 2, 3, ... within the chain
	Prev   string // Hash of the event before; "" for the first
	Kind   string
	Actor  string    // a user's UUID; "" is Aliquot itself
	At     time.Time // UTC, whole microseconds
	Detail string    // of Detail.String, byte for byte as it is hashed and stored
	Hash   string    // hex SHA-256 of Bytes
}

// Head is the last event of a chain; the zero Head is that of an empty chain.
type Head struct {
	Seq  int64
	Hash string
}

// Seal appends e to the chain that h is the head of: it numbers e and hashes it.
func (h Head) Seal(e Event) Event {
	e.Seq, e.Prev, e.At = h.Seq+1, h.Hash, e.At.UTC().Truncate(time.Microsecond)
	e.Hash = e.sum()
	return e
}

// Head returns the head of a chain that ends with e.
func (e Event) Head() Head { return Head{e.Seq, e.Hash} }

// Bytes returns what is hashed: eight parts, each preceded by its length, so that no two events have the same bytes.
func (e Event) Bytes() []byte {
	var b []byte
	for _, part := range []string{Format, e.Chain, strconv.FormatInt(e.Seq, 10), e.Prev, e.Kind, e.Actor,
		strconv.FormatInt(e.At.UnixMicro(), 10), e.Detail} {
		b = appendPart(b, part)
	}
	return b
}

func (e Event) sum() string { return hexSum(e.Bytes()) }

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// appendPart appends a part: its length in bytes as a decimal number, a colon, the part and a line feed.
func appendPart(b []byte, part string) []byte {
	b = append(strconv.AppendInt(b, int64(len(part)), 10), ':')
	return append(append(b, part...), '\n')
}

var errPart = errors.New("no part of the form LENGTH:TEXT and a line feed")

// cutPart returns the first part of s and what follows it.
func cutPart(s string) (part, rest string, err error) {
	digits, rest, _ := strings.Cut(s, ":")
	n, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(n) != digits || n < 0 || n >= len(rest) || rest[n] != '\n' {
		return "", "", errPart
	}
	return rest[:n], rest[n+1:], nil
}

// ParseEvent is the reverse of Event.Bytes; it computes the hash. Bytes that Event.Bytes would not return are an error.
func ParseEvent(b []byte) (Event, error) {
	var parts [8]string
	rest, err := string(b), error(nil)
	for i := range parts {
		if parts[i], rest, err = cutPart(rest); err != nil {
			return Event{}, fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	seq, seqErr := strconv.ParseInt(parts[2], 10, 64)
	at, atErr := strconv.ParseInt(parts[6], 10, 64)
	e := Event{Chain: parts[1], Seq: seq, Prev: parts[3], Kind: parts[4], Actor: parts[5],
		At: time.UnixMicro(at).UTC(), Detail: parts[7], Hash: hexSum(b)}
	if err := errors.Join(seqErr, atErr); err != nil {
		return Event{}, err
	}
	if e.sum() != e.Hash {
		return Event{}, errors.New("not an event in its canonical form of format " + Format)
	}
	_, err = ParseDetail(e.Detail)
	return e, err
}
