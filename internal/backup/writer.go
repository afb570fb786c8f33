package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Writer writes an archive. After an error it is of no more use.
type Writer struct {
	w        io.Writer
	last     string // name of the part before
	manifest Manifest
	digest   hash.Hash
	buffer   [maxChunk]byte
}

// NewWriter begins an archive on w. Writes are of up to 64 KiB; the caller buffers small ones if that matters.
func NewWriter(w io.Writer) (*Writer, error) {
	if _, err := io.WriteString(w, magic); err != nil {
		return nil, err
	}
	return &Writer{w: w, digest: sha256.New()}, nil
}

// Add writes a part with the content of r. Names must come in ascending order of their bytes, before "manifest.json".
func (w *Writer) Add(name string, r io.Reader) error {
	if name >= manifestName {
		return fmt.Errorf("part %.200q: it would come after %s", name, manifestName)
	}
	return w.add(name, r)
}

// Close writes the manifest, which ends the archive. It does not close what is below.
func (w *Writer) Close() error {
	w.manifest.Digest = hex.EncodeToString(w.digest.Sum(nil))
	b, err := json.Marshal(w.manifest)
	if err != nil {
		return err
	}
	return w.add(manifestName, bytes.NewReader(b))
}

func (w *Writer) add(name string, r io.Reader) error {
	if err := checkName(name, w.last); err != nil {
		return err
	}
	w.last = name
	if _, err := w.w.Write(append([]byte{byte(len(name))}, name...)); err != nil {
		return err
	}
	sum, size := sha256.New(), int64(0)
	for {
		n, err := io.ReadFull(r, w.buffer[:])
		if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("part %q: %w", name, err)
		}
		if werr := w.chunk(w.buffer[:n]); werr != nil {
			return werr
		}
		sum.Write(w.buffer[:n])
		size += int64(n)
		if n == 0 {
			break
		}
	}
	e := entry(name, size, sum.Sum(nil))
	w.digest.Write(e)
	w.manifest.Parts++
	w.manifest.Bytes += size
	_, err := w.w.Write(e[1+len(name):])
	return err
}

// chunk writes a length and so many bytes; no bytes end a part.
func (w *Writer) chunk(b []byte) error {
	if _, err := w.w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b)))); err != nil {
		return err
	}
	_, err := w.w.Write(b)
	return err
}

// entry is what the manifest's digest takes of a part: its name after the name's length, its length, its SHA-256.
func entry(name string, size int64, sum []byte) []byte {
	b := append([]byte{byte(len(name))}, name...)
	b = binary.BigEndian.AppendUint64(b, uint64(size))
	return append(b, sum...)
}
