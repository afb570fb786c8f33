package files

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
)

// The metadata that cameras and programs add is removed from pictures: EXIF with its locations and serial numbers, XMP,
// IPTC, comments, times, previews, and whatever follows the end. The picture itself stays bit by bit, with its colour
// profile; its orientation stays in an EXIF record that holds nothing else. TIFF is left unchanged: microscopes store
// there how the picture was taken. A file that turns out not to be a picture, or is cut off, is copied as it comes.

// cleaners copy a picture from in to out without its metadata, by media type.
var cleaners = map[string]func(out io.Writer, in *bufio.Reader) error{
	"image/jpeg": cleanJPEG, "image/png": cleanPNG, "image/vnd.mozilla.apng": cleanPNG, "image/gif": cleanGIF,
	"image/webp": cleanWebP,
}

// clean copies content, without the metadata of a picture.
func clean(mediaType string, out io.Writer, in *bufio.Reader) error {
	cleaner, picture := cleaners[mediaType]
	if !picture {
		_, err := io.Copy(out, in)
		return err
	}
	err := cleaner(out, in)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil // the picture is cut off
	}
	if errors.Is(err, errMalformed) {
		_, err = io.Copy(out, in)
		return err
	}
	if err == nil {
		_, err = io.Copy(io.Discard, in) // what follows the end is dropped, but its size counts
	}
	return err
}

// errMalformed means that what follows does not conform to the format.
var errMalformed = errors.New("not as the format has it")

// cleanJPEG keeps only the segments that the picture needs: of the application segments JFIF, colour profile and
// Adobe's colours.
func cleanJPEG(out io.Writer, in *bufio.Reader) error {
	if _, err := io.CopyN(out, in, 2); err != nil { // SOI
		return err
	}
	for {
		marker, err := nextMarker(in)
		if err != nil {
			return err
		}
		if marker == 0xd9 || marker == 0x01 || marker >= 0xd0 && marker <= 0xd7 { // EOI; TEM and RST have no length
			if _, err := out.Write([]byte{0xff, marker}); err != nil || marker == 0xd9 {
				return err
			}
			continue
		}
		size, err := in.Peek(2)
		if err != nil {
			return err
		}
		length := int(binary.BigEndian.Uint16(size))
		segment := make([]byte, max(length, 2))
		if _, err := io.ReadFull(in, segment); err != nil {
			return err
		}
		if segment = keptSegment(marker, segment); segment != nil {
			if _, err := out.Write(append([]byte{0xff, marker}, segment...)); err != nil {
				return err
			}
		}
		if marker == 0xda { // SOS: what follows has no length
			if err := copyScan(out, in); err != nil {
				return err
			}
		}
	}
}

// nextMarker reads up to the end of the next marker. Bytes between segments have no meaning.
func nextMarker(in *bufio.Reader) (byte, error) {
	for before := byte(0); ; {
		b, err := in.ReadByte()
		if err != nil || before == 0xff && b != 0xff && b != 0 {
			return b, err
		}
		before = b
	}
}

// keptSegment returns what is kept of a segment, which begins with its length; nil: nothing.
func keptSegment(marker byte, segment []byte) []byte {
	is := func(name string) bool { return bytes.HasPrefix(segment[2:], []byte(name)) }
	switch {
	case marker == 0xfe: // a comment
		return nil
	case marker == 0xe1 && is("Exif\x00\x00"):
		turned := onlyOrientation(segment[8:])
		if turned == nil {
			return nil
		}
		kept := binary.BigEndian.AppendUint16(nil, uint16(8+len(turned)))
		return append(append(kept, "Exif\x00\x00"...), turned...)
	case marker >= 0xe0 && marker <= 0xef &&
		!(marker == 0xe0 && is("JFIF\x00")) && !(marker == 0xe2 && is("ICC_PROFILE\x00")) &&
		!(marker == 0xee && is("Adobe")):
		return nil
	}
	return segment
}

// copyScan copies the encoded picture up to the next marker, which it does not read.
func copyScan(out io.Writer, in *bufio.Reader) error {
	for {
		head, err := in.Peek(2)
		if err != nil {
			if len(head) > 0 {
				_, _ = out.Write(head)
			}
			return err
		}
		if head[0] == 0xff && head[1] == 0xff { // fill byte
			if _, err := io.CopyN(out, in, 1); err != nil {
				return err
			}
			continue
		}
		if head[0] == 0xff && head[1] != 0 && (head[1] < 0xd0 || head[1] > 0xd7) {
			return nil
		}
		n := 2
		if head[0] != 0xff {
			rest, _ := in.Peek(max(in.Buffered(), 2))
			if n = bytes.IndexByte(rest, 0xff); n < 0 {
				n = len(rest)
			}
		}
		if _, err := io.CopyN(out, in, int64(n)); err != nil {
			return err
		}
	}
}

// orientationTag is the EXIF field of the orientation.
const orientationTag = 0x0112

// onlyOrientation returns EXIF with the orientation and nothing else; nil if exif is invalid or has no orientation.
func onlyOrientation(exif []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	if bytes.HasPrefix(exif, []byte("MM\x00*")) {
		order = binary.BigEndian
	} else if !bytes.HasPrefix(exif, []byte("II*\x00")) {
		return nil
	}
	if len(exif) < 8 {
		return nil
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return nil
	}
	fields := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(fields) < 12 {
			return nil
		}
		turned := order.Uint16(fields[8:])
		if order.Uint16(fields) == orientationTag && turned > 1 && turned <= 8 {
			kept := []byte("MM\x00*\x00\x00\x00\x08\x00\x01" +
				"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
			binary.BigEndian.PutUint16(kept[18:], turned)
			return kept
		}
		fields = fields[12:]
	}
	return nil
}

// cleanPNG drops the chunks of text, time and EXIF, except for the orientation.
func cleanPNG(out io.Writer, in *bufio.Reader) error {
	if _, err := io.CopyN(out, in, 8); err != nil {
		return err
	}
	for {
		head, err := in.Peek(8)
		if err != nil {
			return err
		}
		length, kind := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		to := out
		switch kind {
		case "tEXt", "zTXt", "iTXt", "tIME", "eXIf", "zxIf":
			to = io.Discard
		}
		if kind == "eXIf" && length < 1<<16 {
			chunk := make([]byte, 8+length)
			if _, err := io.ReadFull(in, chunk); err != nil {
				return err
			}
			if turned := onlyOrientation(chunk[8:]); turned != nil {
				kept := binary.BigEndian.AppendUint32(nil, uint32(len(turned)))
				kept = append(append(kept, "eXIf"...), turned...)
				if _, err := out.Write(binary.BigEndian.AppendUint32(kept, crc32.ChecksumIEEE(kept[4:]))); err != nil {
					return err
				}
			}
			length = -8 // only its checksum is left to skip
		}
		if _, err := io.CopyN(to, in, 8+length+4); err != nil || kind == "IEND" {
			return err
		}
	}
}

// keptGIF are the application extensions that the picture needs: its number of loops and its colours.
var keptGIF = []string{"NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"}

// cleanGIF drops comments, and extensions of other applications.
func cleanGIF(out io.Writer, in *bufio.Reader) error {
	head, err := in.Peek(13)
	if err != nil {
		return err
	}
	if _, err := io.CopyN(out, in, 13+colours(head[10])); err != nil {
		return err
	}
	for {
		head, err := in.Peek(2)
		if err != nil && len(head) == 0 {
			return err
		}
		switch head[0] {
		case 0x3b: // the end
			_, err := io.CopyN(out, in, 1)
			return err
		case 0x2c: // a frame
			frame, err := in.Peek(10)
			if err != nil {
				return err
			}
			if _, err := io.CopyN(out, in, 10+colours(frame[9])+1); err != nil {
				return err
			}
			if err := copyBlocks(out, in); err != nil {
				return err
			}
		case 0x21: // an extension
			to := out
			if name, _ := in.Peek(14); len(head) > 1 && (head[1] == 0xfe ||
				head[1] == 0xff && !(len(name) == 14 && slices.Contains(keptGIF, string(name[3:])))) {
				to = io.Discard
			}
			if _, err := io.CopyN(to, in, 2); err != nil {
				return err
			}
			if err := copyBlocks(to, in); err != nil {
				return err
			}
		default:
			return errMalformed
		}
	}
}

// colours returns the size of the colour table described by a byte of flags.
func colours(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// copyBlocks copies blocks, each with its length before it, up to an empty one.
func copyBlocks(out io.Writer, in *bufio.Reader) error {
	for {
		length, err := in.Peek(1)
		if err != nil {
			return err
		}
		n := int64(length[0])
		if _, err := io.CopyN(out, in, 1+n); err != nil || n == 0 {
			return err
		}
	}
}

// cleanWebP overwrites EXIF and XMP with zeros, because the sizes in the header of a WebP are already written by then.
func cleanWebP(out io.Writer, in *bufio.Reader) error {
	head, err := in.Peek(12)
	if err != nil {
		return err
	}
	body := bufio.NewReader(io.LimitReader(in, int64(binary.LittleEndian.Uint32(head[4:]))+8))
	if _, err := io.CopyN(out, body, 12); err != nil {
		return err
	}
	for {
		head, err := body.Peek(8)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		kind, length := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		length += length & 1
		if kind != "EXIF" && kind != "XMP " {
			if _, err := io.CopyN(out, body, 8+length); err != nil {
				return err
			}
			continue
		}
		if _, err := io.CopyN(out, body, 8); err != nil {
			return err
		}
		var kept []byte
		if kind == "EXIF" && length < 1<<16 {
			exif := make([]byte, length)
			if _, err := io.ReadFull(body, exif); err != nil {
				return err
			}
			kept = onlyOrientation(bytes.TrimPrefix(exif, []byte("Exif\x00\x00")))
			kept = kept[:min(len(kept), len(exif))]
		} else if _, err := io.CopyN(io.Discard, body, length); err != nil {
			return err
		}
		if _, err := io.CopyN(out, io.MultiReader(bytes.NewReader(kept), zeros{}), length); err != nil {
			return err
		}
	}
}

// zeros is an endless reader of zeros.
type zeros struct{}

// Read fills p with zeros.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
