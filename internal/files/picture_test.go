package files_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"aliquot/internal/files"
)

// secret is what pictures must not tell.
const secret = "Dr Example, 41.8268 N 71.4025 W"

// camera is EXIF that defines how to turn the picture and something secret.
func camera(turned uint16) string {
	b := []byte("II*\x00\x08\x00\x00\x00\x02\x00")
	b = append(b, "\x0e\x01\x02\x00"...) // ImageDescription
	b = binary.LittleEndian.AppendUint32(b, uint32(len(secret)+1))
	b = binary.LittleEndian.AppendUint32(b, 38)
	b = append(b, "\x12\x01\x03\x00\x01\x00\x00\x00"...) // Orientation
	b = binary.LittleEndian.AppendUint16(b, turned)
	b = append(b, "\x00\x00\x00\x00\x00\x00"...)
	return string(b) + secret + "\x00"
}

func segment(marker byte, text string) string {
	return "\xff" + string([]byte{marker}) + string(binary.BigEndian.AppendUint16(nil, uint16(len(text)+2))) + text
}

func chunk(kind, text string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
	b = append(b, kind+text...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
}

func picture() *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, 67, 45))
	for i := range p.Pix {
		p.Pix[i] = byte(i * i)
	}
	for y := range 45 {
		p.Set(3, y, color.RGBA{200, 10, 10, 255})
	}
	return p
}

func encoded(t testing.TB, encode func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// put keeps content and returns what is kept.
func put(t testing.TB, store files.Store, content string) string {
	t.Helper()
	c, err := store.Put(t.Context(), strings.NewReader(content), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	file, err := store.Open(t.Context(), c.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	b, err := io.ReadAll(file)
	if err != nil || int64(len(b)) != c.Size {
		t.Fatalf("%d bytes of %d: %v", len(b), c.Size, err)
	}
	return string(b)
}

// TestPicture_LosesItsMetadataAndNoPixel and stay the same bit by bit.
func TestPicture_LosesItsMetadataAndNoPixel(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir())
	plainJPEG := encoded(t, func(w io.Writer) error { return jpeg.Encode(w, picture(), nil) })
	plainPNG := encoded(t, func(w io.Writer) error { return png.Encode(w, picture()) })
	plainGIF := encoded(t, func(w io.Writer) error {
		one := image.NewPaletted(image.Rect(0, 0, 9, 9), color.Palette{color.White, color.Black})
		one.Pix[7] = 1
		return gif.EncodeAll(w, &gif.GIF{Image: []*image.Paletted{one, one}, Delay: []int{4, 5}, LoopCount: 3})
	})
	icc := segment(0xe2, "ICC_PROFILE\x00\x01\x01colours")
	for name, test := range map[string]struct {
		content, want string
	}{
		"JPEG without anything": {plainJPEG, plainJPEG},
		"JPEG": {plainJPEG[:2] + segment(0xe0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00") + segment(0xe1,
			"Exif\x00\x00"+camera(1)) + segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+secret) +
			segment(0xed, "Photoshop 3.0\x00"+secret) + segment(0xe0, "JFXX\x00"+secret) + icc + segment(0xe2,
			"MPF\x00"+secret) + segment(0xfe, secret) + "\xff" + plainJPEG[2:] + secret,
			plainJPEG[:2] + segment(0xe0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00") + icc + plainJPEG[2:]},
		"JPEG that is turned": {plainJPEG[:2] + segment(0xe1, "Exif\x00\x00"+camera(6)) + plainJPEG[2:],
			plainJPEG[:2] + segment(0xe1,
				"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00") + plainJPEG[2:]},
		"JPEG with a comment before its end": {plainJPEG[:len(plainJPEG)-2] + segment(0xfe,
			secret) + plainJPEG[len(plainJPEG)-2:], plainJPEG},
		"PNG without anything": {plainPNG, plainPNG},
		"PNG": {plainPNG[:33] + chunk("tEXt", "Author\x00"+secret) + chunk("iTXt", secret) + chunk("zTXt",
			secret) + chunk("tIME", "\x07\xe9\x01\x01\x00\x00\x00") +
			chunk("eXIf", camera(1)) + chunk("gAMA", "\x00\x00\xb1\x8f") + plainPNG[33:] + secret,
			plainPNG[:33] + chunk("gAMA", "\x00\x00\xb1\x8f") + plainPNG[33:]},
		"PNG that is turned": {plainPNG[:33] + chunk("eXIf", camera(8)) + plainPNG[33:],
			plainPNG[:33] + chunk("eXIf",
				"MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00") + plainPNG[33:]},
		"GIF without anything": {plainGIF, plainGIF},
		"GIF": {plainGIF[:len(plainGIF)-1] + "\x21\xfe\x1f" + secret + "\x00" + "\x21\xff\x0bXMP DataXMP\x1f" + secret +
			"\x00;" + secret,
			plainGIF},
	} {
		got := put(t, store, test.content)
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if strings.Contains(got, secret[:10]) {
			t.Errorf("%s: it still contains", name)
		}
		before, kind, err := image.Decode(strings.NewReader(test.content))
		after, _, errAfter := image.Decode(strings.NewReader(got))
		if err != nil || errAfter != nil || !alike(before, after) {
			t.Errorf("%s: the %s is another one: %v, %v", name, kind, err, errAfter)
		}
	}
	all, err := gif.DecodeAll(strings.NewReader(put(t, store, plainGIF)))
	if err != nil || len(all.Image) != 2 || all.LoopCount != 3 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestPicture_WebPLosesItsMetadata(t *testing.T) {
	t.Parallel()
	part := func(kind, text string) string {
		b := append([]byte(kind), binary.LittleEndian.AppendUint32(nil, uint32(len(text)))...)
		return string(b) + text + strings.Repeat("\x00", len(text)%2)
	}
	of := func(parts string) string {
		return "RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(parts)+4))) + "WEBP" + parts
	}
	data := part("VP8X", "\x0c\x00\x00\x00\x01\x00\x00\x01\x00\x00") + part("VP8 ", "picture") + part("EXIF",
		camera(6)) + part("XMP ", secret)
	got := put(t, open(t, t.TempDir()), of(data)+secret)
	turned := "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	want := of(part("VP8X", "\x0c\x00\x00\x00\x01\x00\x00\x01\x00\x00") + part("VP8 ", "picture") +
		part("EXIF", turned+strings.Repeat("\x00", len(camera(6))-len(turned))) + part("XMP ",
		strings.Repeat("\x00", len(secret))))
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPicture_TIFFKeepsItsMetadata: it is data.
func TestPicture_TIFFKeepsItsMetadata(t *testing.T) {
	t.Parallel()
	content := "II*\x00\x08\x00\x00\x00" + camera(1)[8:]
	if got := put(t, open(t, t.TempDir()), content); got != content {
		t.Errorf("%q", got)
	}
}

// TestPicture_CutOffIsRefused: what a connection lost is not kept as if it were whole.
func TestPicture_CutOffIsRefused(t *testing.T) {
	t.Parallel()
	content := encoded(t, func(w io.Writer) error { return jpeg.Encode(w, picture(), nil) })
	lost := io.MultiReader(strings.NewReader(content[:len(content)/2]), broken{})
	if c, err := open(t, t.TempDir()).Put(t.Context(), lost, 1<<20); err == nil {
		t.Errorf("kept: %+v", c)
	}
}

// broken is a connection that was lost.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func FuzzPicture(f *testing.F) {
	f.Add([]byte(encoded(f, func(w io.Writer) error { return jpeg.Encode(w, picture(), nil) })))
	f.Add([]byte(encoded(f, func(w io.Writer) error { return png.Encode(w, picture()) })))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xfe\x01x\x00;"))
	f.Add([]byte("RIFF\x10\x00\x00\x00WEBPEXIF\x04\x00\x00\x00II*\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		mediaType, err := files.Sniff(content[:min(len(content), 4096)], "")
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := files.Clean(mediaType, &out, bufio.NewReader(bytes.NewReader(content))); err != nil {
			t.Fatal(err)
		}
		if size, _, err := image.DecodeConfig(bytes.NewReader(content)); err != nil || size.Width*size.Height > 1<<20 {
			return
		}
		before, _, err := image.Decode(bytes.NewReader(content))
		if err != nil {
			return
		}
		if after, _, err := image.Decode(&out); err != nil || !alike(before, after) {
			t.Errorf("a picture that was one is another one: %v", err)
		}
	})
}

// alike reports whether two pictures are the same pixel by pixel.
func alike(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return false
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return true
}
