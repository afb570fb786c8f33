package sheet

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"aliquot/internal/exchange"
)

// The limits of an archive and of its unpacked content.
const (
	maxUnpacked  = 512 << 20 // bytes of all parts that are read
	maxParts     = 10_000
	maxDirectory = 1 << 20 // bytes of the directory
)

// incompleteArchive returns the error of an incomplete archive.
func incompleteArchive() error { return unreadable("is not a complete XLSX or ODS file") }

// archive is a ZIP of XML parts.
type archive struct {
	parts map[string]*zip.File
	left  *int64 // bytes that may still be unpacked
}

// openArchive reads the directory, whose size is limited because the ZIP reader holds all of it in memory.
func openArchive(f File) (archive, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return archive{}, err
	}
	if !shortDirectory(at{f}, size) {
		return archive{}, incompleteArchive()
	}
	content, err := zip.NewReader(at{f}, size)
	if err != nil || len(content.File) > maxParts {
		return archive{}, incompleteArchive()
	}
	left := int64(maxUnpacked)
	a := archive{parts: map[string]*zip.File{}, left: &left}
	for _, part := range content.File {
		a.parts[strings.ToLower(strings.TrimPrefix(part.Name, "/"))] = part
	}
	return a, nil
}

// The end of a ZIP (APPNOTE 4.3.16): its length, and that of the longest comment after it.
const (
	endLength  = 22
	maxComment = 1<<16 - 1
)

// shortDirectory reports whether the directory of a ZIP has the position and size that its end record states, and is
// not longer than maxDirectory.
func shortDirectory(f io.ReaderAt, size int64) bool {
	tail := make([]byte, min(size, endLength+maxComment))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	end := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if end < 0 || len(tail)-end < endLength {
		return false
	}
	length, from := int64(binary.LittleEndian.Uint32(tail[end+12:])), int64(binary.LittleEndian.Uint32(tail[end+16:]))
	return length <= maxDirectory && from+length == size-int64(len(tail)-end)
}

// at reads a File at any offset. Only one part of the archive is read at a time.
type at struct{ File }

func (a at) ReadAt(p []byte, offset int64) (int, error) {
	if _, err := a.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(a.File, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// part is one XML part that is being read.
type part struct {
	*xml.Decoder
	input *meteredReader
}

// open opens a part; it returns nil if the part is missing.
func (a archive) open(name string) (*part, error) {
	file := a.parts[strings.ToLower(name)]
	if file == nil {
		return nil, nil
	}
	content, err := file.Open()
	if err != nil {
		return nil, incompleteArchive()
	}
	input := &meteredReader{r: content, all: a.left}
	return &part{xml.NewDecoder(input), input}, nil
}

func (a archive) has(name string) bool { return a.parts[strings.ToLower(name)] != nil }

// token returns the next token; nil at the end of the part.
func (p *part) token() (xml.Token, error) {
	p.input.left = maxRow
	t, err := p.RawToken()
	switch _, ours := errors.AsType[*exchange.Error](err); {
	case err == nil || ours:
		return t, err
	case errors.Is(err, io.EOF):
		return nil, nil
	}
	return nil, incompleteArchive()
}

// each calls do for each start element.
func (p *part) each(do func(xml.StartElement) error) error {
	for p != nil {
		t, err := p.token()
		if err != nil || t == nil {
			return err
		}
		if e, ok := t.(xml.StartElement); ok {
			if err := do(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// relation returns the attribute r:id, which names a part.
func relation(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}
