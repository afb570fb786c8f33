package browser

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// pictures are those of docs/pages: the main pages as a desktop shows them, and some on a phone or in dark mode.
var pictures = []struct {
	name, of, scheme string
	width, height    int64
}{
	{"home", "home", "light", 1280, 900}, {"home-dark", "home", "dark", 1280, 900},
	{"tasks", "tasks", "light", 1280, 900},
	{"search", "search", "light", 1280, 900}, {"search-phone", "search", "light", 390, 844},
	{"material", "material", "light", 1280, 900}, {"material-phone-dark", "material", "dark", 390, 844},
	{"request-form", "request-form", "light", 1280, 900},
	{"basket", "basket", "light", 1280, 900},
	{"request", "request", "light", 1280, 900}, {"request-phone", "request", "light", 390, 844},
	{"request-lab", "request-lab", "light", 1280, 900}, {"request-lab-dark", "request-lab", "dark", 1280, 900},
	{"inbox", "inbox", "light", 1280, 900}, {"inbox-phone", "inbox", "light", 390, 844},
	{"shipping", "shipping", "light", 1280, 900},
	{"insights", "insights", "light", 1280, 900},
	{"lab", "lab", "light", 1280, 900},
	{"spreadsheet", "spreadsheet", "light", 1280, 900},
	{"notifications", "notifications", "light", 1280, 900},
}

const (
	pictureFolder = "../../docs/pages"
	maxOfPicture  = 150_000 // bytes
)

// TestPictures_ShowEachMainPage, which "make pictures" takes.
func TestPictures_ShowEachMainPage(t *testing.T) {
	t.Parallel()
	if update {
		takePictures(t)
	}
	for _, p := range pictures {
		content, err := os.ReadFile(filepath.Join(pictureFolder, p.name+".png"))
		if err != nil {
			t.Error(err)
			continue
		}
		is, err := png.DecodeConfig(bytes.NewReader(content))
		if err != nil || int64(is.Width) != p.width || int64(is.Height) != p.height || len(content) > maxOfPicture {
			t.Errorf("%s: %d x %d, %d bytes, %v", p.name, is.Width, is.Height, len(content), err)
		}
	}
}

func takePictures(t *testing.T) {
	t.Helper()
	s := newSite(t)
	if err := os.MkdirAll(pictureFolder, 0o750); err != nil {
		t.Fatal(err)
	}
	pages := s.mainPages()
	for _, p := range pictures {
		of := pages[slices.IndexFunc(pages, func(s shown) bool { return s.name == p.of })]
		tab := s.open(of.who)
		tab.resize(p.width, p.height)
		tab.dress(p.scheme)
		if status := tab.visit(of.path); status != 200 {
			t.Errorf("%s: %d", of.path, status)
			continue
		}
		shot, err := chromedp.Call(tab.ctx, page.CaptureScreenshot,
			page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
		s.must(err)
		small, err := fewColors(shot.Data)
		s.must(err)
		s.must(os.WriteFile(filepath.Join(pictureFolder, p.name+".png"), small, 0o600))
	}
}

// fewColors keeps the 256 colours of a picture that are most frequent, which is what a page has.
func fewColors(content []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	bounds, counts := full.Bounds(), map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	var colors []color.RGBA
	for c := range counts {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.RGBA) int {
		if n := counts[b] - counts[a]; n != 0 {
			return n
		}
		return bytes.Compare([]byte{a.R, a.G, a.B}, []byte{b.R, b.G, b.B})
	})
	var palette color.Palette
	for _, c := range colors[:min(len(colors), 256)] {
		palette = append(palette, c)
	}
	few, nearest := image.NewPaletted(bounds, palette), map[color.RGBA]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			if _, known := nearest[c]; !known {
				nearest[c] = uint8(palette.Index(c)) //nolint:gosec // of 256
			}
			few.SetColorIndex(x, y, nearest[c])
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few)
	return out.Bytes(), err
}
