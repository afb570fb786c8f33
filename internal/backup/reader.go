package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Read reads an archive to its end and hands each part but the manifest to take. A part's checksum is known only at its
// end, the manifest's at the end of the archive: what take keeps holds once Read has returned nil. The reader given to
// take is good until take returns; what take leaves unread is read and checked too. An error names the part. Memory is
// bounded, whatever the archive holds.
func Read(r io.Reader, take func(name string, r io.Reader) error) (Manifest, error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil {
		return Manifest{}, fmt.Errorf("beginning: %w", cut(err))
	}
	if string(head) != magic {
		return Manifest{}, errors.New("beginning: this is no backup of Aliquot in a format that this version reads")
	}
	digest, last := sha256.New(), ""
	var sum Manifest
	for {
		name, err := readName(r, last)
		if err != nil {
			return Manifest{}, err
		}
		p := &part{r: r, sum: sha256.New()}
		if name == manifestName {
			sum.Digest = hex.EncodeToString(digest.Sum(nil))
			return sum, readEnd(p, sum)
		}
		if err := take(name, p); err != nil {
			return Manifest{}, fmt.Errorf("part %q: %w", name, err)
		}
		if err := p.finish(); err != nil {
			return Manifest{}, fmt.Errorf("part %q: %w", name, err)
		}
		digest.Write(entry(name, p.size, p.sum.Sum(nil)))
		sum.Parts++
		sum.Bytes += p.size
		last = name
	}
}

// readName reads the name of the next part.
func readName(r io.Reader, last string) (string, error) {
	var length [1]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return "", fmt.Errorf("after part %q: %w", last, cut(err))
	}
	b := make([]byte, length[0])
	if _, err := io.ReadFull(r, b); err != nil {
		return "", fmt.Errorf("after part %q: %w", last, cut(err))
	}
	return string(b), checkName(string(b), last)
}

// readEnd reads the manifest and compares it with what was read; nothing may follow it.
func readEnd(p *part, read Manifest) error {
	b, err := io.ReadAll(io.LimitReader(p, maxManifest+1))
	if err == nil && len(b) > maxManifest {
		err = fmt.Errorf("it is longer than %d bytes", maxManifest)
	}
	if err == nil {
		err = p.finish()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	written, err := parseManifest(b)
	if err != nil {
		return err
	}
	if written != read {
		return fmt.Errorf("%s: it lists %d parts of %d bytes, digest %s; read were %d parts of %d bytes, digest %s",
			manifestName, written.Parts, written.Bytes, written.Digest, read.Parts, read.Bytes, read.Digest)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(p.r, 1)); err != nil || n > 0 {
		return errors.Join(errors.New(manifestName+": bytes follow it"), err)
	}
	return nil
}

// part reads the content of one part.
type part struct {
	r    io.Reader
	left int // bytes of the chunk that are not read yet
	end  bool
	size int64
	sum  hash.Hash
}

func (p *part) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if p.end {
		return 0, io.EOF
	}
	if p.left == 0 {
		var length [4]byte
		if _, err := io.ReadFull(p.r, length[:]); err != nil {
			return 0, cut(err)
		}
		n := binary.BigEndian.Uint32(length[:])
		if n > maxChunk {
			return 0, fmt.Errorf("a chunk of %d bytes at byte %d; at most %d are allowed", n, p.size, maxChunk)
		}
		if n == 0 {
			p.end = true
			return 0, io.EOF
		}
		p.left = int(n)
	}
	n, err := p.r.Read(b[:min(len(b), p.left)])
	p.sum.Write(b[:n])
	p.left -= n
	p.size += int64(n)
	return n, cut(err)
}

// finish reads what is left of the part, and compares length and checksum.
func (p *part) finish() error {
	if _, err := io.Copy(io.Discard, p); err != nil {
		return err
	}
	trailer := make([]byte, 8+sha256.Size)
	if _, err := io.ReadFull(p.r, trailer); err != nil {
		return cut(err)
	}
	if size := binary.BigEndian.Uint64(trailer); size != uint64(p.size) {
		return fmt.Errorf("it has %d bytes, but its length says %d", p.size, size)
	}
	if !bytes.Equal(trailer[8:], p.sum.Sum(nil)) {
		return errors.New("its content is not what its SHA-256 says")
	}
	return nil
}

// cut says in plain words that an archive ended early.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the archive is cut off here")
	}
	return err
}
