package dossier

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
)

// A dossier's ZIP has one form: nothing is compressed, entries are in ascending order of their names, and every byte
// that is not a name or a content follows from these. So each byte is either checked or computed.
const (
	maxEntries = 10_000
	maxSize    = 1<<32 - 1 // of the whole, in bytes
	maxName    = 200
)

// entryName is what names may be: relative, without a step up, in letters that every system takes.
var entryName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)

const (
	localSignature, centralSignature, endSignature = "PK\x03\x04", "PK\x01\x02", "PK\x05\x06"
	headSize                                       = 26         // of what both kinds of headers have
	localSize, centralSize, endSize                = 30, 46, 22 // without names
)

// entryHead returns what local headers and the directory have in common: version 2.0, no flags, stored, 1980-01-01.
func entryHead(name string, crc, size uint32) []byte {
	b := []byte{20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0}
	for _, n := range []uint32{crc, size, size} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(name))), 0, 0)
}

// directory is the end of a ZIP, collected entry by entry.
type directory struct {
	bytes.Buffer
	entries int
	offset  int64 // where the next entry begins
	last    string
}

// add notes an entry, or reports why it cannot be there.
func (d *directory) add(name string, crc uint32, size int64) error {
	switch {
	case len(name) > maxName || !entryName.MatchString(name):
		return errors.New("not a name that a dossier may have")
	case d.entries > 0 && name <= d.last:
		return fmt.Errorf("it may not follow %q: names are in order, each once", d.last)
	case d.entries == maxEntries:
		return fmt.Errorf("more than %d entries", maxEntries)
	case d.offset+size > maxSize:
		return errors.New("more than 4 GiB")
	}
	d.WriteString(centralSignature)
	d.Write([]byte{20, 3}) // Unix, so that unpacked files have the mode 0644
	d.Write(entryHead(name, crc, uint32(size)))
	d.Write([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0xa4, 0x81})
	d.Write(binary.LittleEndian.AppendUint32(nil, uint32(d.offset)))
	d.WriteString(name)
	d.offset += int64(len(localSignature)+headSize+len(name)) + size
	d.last = name
	d.entries++
	return nil
}

// end returns the directory and the record of its end.
func (d *directory) end() []byte {
	size := d.Len()
	d.WriteString(endSignature)
	d.Write([]byte{0, 0, 0, 0})
	count := binary.LittleEndian.AppendUint16(nil, uint16(d.entries))
	d.Write(append(count, count...))
	d.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(size)), uint32(d.offset)))
	d.Write([]byte{0, 0})
	return d.Bytes()
}

// writeEntry writes an entry whose content has a size and a checksum that are known.
func (d *directory) writeEntry(w io.Writer, name string, crc uint32, size int64, content io.Reader) error {
	if err := d.add(name, crc, size); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	head := append([]byte(localSignature), entryHead(name, crc, uint32(size))...)
	if _, err := w.Write(append(head, name...)); err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(content, size+1))
	if err == nil && (n != size || sum.Sum32() != crc) {
		err = fmt.Errorf("%s: its content changed while it was written", name)
	}
	return err
}

// errCut is that a ZIP ends too early.
var errCut = errors.New("it ends too early")

// readZIP passes each entry to content, which must read all of it. Whatever is not a ZIP of the one form is an error
// that names the entry. It needs no more memory than names do.
func readZIP(r io.Reader, content func(name string, size int64, r io.Reader) error) error {
	in := bufio.NewReader(r)
	var d directory
	for {
		signature, err := in.Peek(len(localSignature))
		if err != nil {
			return fmt.Errorf("behind %q: %w", d.last, errCut)
		}
		if string(signature) != localSignature {
			break
		}
		if err := d.readEntry(in, content); err != nil {
			return err
		}
	}
	want := d.end()
	got, err := io.ReadAll(io.LimitReader(in, int64(len(want))+1))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("behind %q: the directory of the ZIP is not that of its %d entries, as Aliquot writes them",
			d.last, d.entries)
	}
	return nil
}

func (d *directory) readEntry(in io.Reader, content func(string, int64, io.Reader) error) error {
	place := fmt.Sprintf("entry %d", d.entries+1)
	head := make([]byte, len(localSignature)+headSize)
	if _, err := io.ReadFull(in, head); err != nil {
		return fmt.Errorf("%s: %w", place, errCut)
	}
	head = head[len(localSignature):]
	crc, size := binary.LittleEndian.Uint32(head[10:]), binary.LittleEndian.Uint32(head[14:])
	name := make([]byte, binary.LittleEndian.Uint16(head[22:]))
	if len(name) > maxName {
		return fmt.Errorf("%s: a name of %d bytes", place, len(name))
	}
	if _, err := io.ReadFull(in, name); err != nil {
		return fmt.Errorf("%s: %w", place, errCut)
	}
	place = fmt.Sprintf("%s, %.*q", place, maxName, name)
	if err := d.add(string(name), crc, int64(size)); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if !bytes.Equal(head, entryHead(string(name), crc, size)) {
		return fmt.Errorf("%s: its header is not as Aliquot writes it: stored, without flags and extras", place)
	}
	sum := crc32.NewIEEE()
	body := &io.LimitedReader{R: in, N: int64(size)}
	if err := content(string(name), int64(size), io.TeeReader(body, sum)); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if body.N > 0 {
		return fmt.Errorf("%s: %w", place, errCut)
	}
	if sum.Sum32() != crc {
		return fmt.Errorf("%s: its content was altered", place)
	}
	return nil
}
