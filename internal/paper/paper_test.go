package paper

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/letter/lettertest"
	"aliquot/internal/agreement/lint"
)

const (
	childVariable = "PAPER_TEST_CHILD" // what the child does
	pidVariable   = "PAPER_TEST_PID"   // the file to which a looping child writes its number
)

// TestMain runs the child of a Reader if the environment says so.
func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "read":
		if err := Child(os.Stdin, os.Stdout, cacheFolder()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "parent":
		loop := Reader{Command: []string{os.Args[0]}, Limit: time.Minute,
			Env: []string{childVariable + "=loop", pidVariable + "=" + os.Getenv(pidVariable)}}
		_, _ = loop.Read(context.Background(), strings.NewReader(""))
	case "loop":
		if file := os.Getenv(pidVariable); file != "" {
			_ = os.WriteFile(file, fmt.Appendln(nil, os.Getpid()), 0o600)
		}
		for {
			time.Sleep(time.Second)
		}
	case "flood":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				os.Exit(0)
			}
		}
	case "garbage":
		fmt.Println("no JSON")
	case "crash":
		os.Exit(2)
	default:
		os.Exit(m.Run())
	}
}

// cacheFolder is where the compiled engine stays from one run of the tests to the next.
func cacheFolder() string { return filepath.Join(os.TempDir(), "aliquot-test-engine") }

func reader(t testing.TB, what string) Reader {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Reader{Command: []string{program}, Env: []string{childVariable + "=" + what, "TMPDIR=" + os.TempDir()},
		Limit: 30 * time.Second}
}

func shortLetter(t testing.TB) []byte {
	t.Helper()
	l, i := lettertest.Short(t)
	b, err := l.PDF(i)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRead_FindsTheTextOfALetterAndNothingWrongWithIt(t *testing.T) {
	t.Parallel()
	l, i := lettertest.Long(t)
	b, err := l.PDF(i)
	if err != nil {
		t.Fatal(err)
	}
	p, err := reader(t, "read").Read(t.Context(), bytes.NewReader(b))
	if err != nil || len(p.Pages) < 2 {
		t.Fatalf("%+v: %v", p, err)
	}
	found := lint.Check(lint.Case{Day: "2026-06-15", Letter: l, Instrument: i, Paper: p})
	if len(found) > 0 {
		t.Errorf("%+v\nin %+v", found, p.Pages)
	}
	i.Template = strings.Replace(i.Template, "not passed on", "passed on", 1)
	if found = lint.Check(lint.Case{Day: "2026-06-15", Letter: l, Instrument: i, Paper: p}); len(found) != 1 ||
		found[0].Class != lint.TextDiffers {
		t.Errorf("an altered sentence: %+v", found)
	}
}

func TestRead_EndsWhateverTheChildDoes(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]error{"loop": ErrTooSlow, "flood": ErrUnreadable, "garbage": ErrUnreadable, "crash": ErrUnreadable} {
		r := reader(t, what)
		if what == "loop" {
			r.Limit = 300 * time.Millisecond
		}
		start := time.Now()
		if _, err := r.Read(t.Context(), strings.NewReader("%PDF")); !errors.Is(err, want) {
			t.Errorf("%s: %v, not %v", what, err, want)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: took %s", what, d)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader(t, "loop").Read(ctx, strings.NewReader("")); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that ended: %v", err)
	}
}

// classic returns a PDF of objects, with a table.
func classic(objects ...string) []byte {
	b := bytes.NewBufferString("%PDF-1.7\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

const (
	catalog  = "<</Type/Catalog/Pages 2 0 R>>"
	pageTree = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
	onePage  = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/XObject<</X 5 0 R>>>>>>"
)

func stream(entries, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", entries, len(data), data)
}

// deflated compresses a text of zeros, several times.
func deflated(size, times int) string {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = io.CopyN(z, zeros{}, int64(size))
	_ = z.Close()
	data := out.Bytes()
	for range times - 1 {
		var again bytes.Buffer
		z := zlib.NewWriter(&again)
		_, _ = z.Write(data)
		_ = z.Close()
		data = again.Bytes()
	}
	return string(data)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// hostile returns files that attack their reader.
func hostile() map[string][]byte {
	laughs := []string{catalog, pageTree, onePage, stream("", "/X Do"), ""}
	for n := range 30 {
		laughs = append(laughs, stream(fmt.Sprintf("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>", 7+n), "/X Do /X Do"))
	}
	laughs[4] = laughs[5]
	kids := strings.Repeat("3 0 R ", 200_000)
	return map[string][]byte{
		"a bomb": classic(catalog, pageTree, onePage, stream("/Filter[/FlateDecode/FlateDecode]", deflated(1<<28, 2))),
		"forms in themselves": classic(catalog, pageTree, onePage, stream("", "/X Do"),
			stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>", "/X Do /X Do")),
		"a billion laughs":      classic(laughs...),
		"text of 4 MB":          classic(catalog, pageTree, onePage, stream("", "BT /F 9 Tf "+strings.Repeat("(aaaaaaaaaaaaaaaa) Tj ", 180_000)+"ET")),
		"200,000 pages":         classic(catalog, "<</Type/Pages/Kids["+kids+"]/Count 200000>>", onePage, stream("", "")),
		"a looping page tree":   classic(catalog, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2000000000/Parent 2 0 R>>"),
		"a count that is wrong": classic(catalog, "<</Type/Pages/Kids[3 0 R]/Count -1>>", onePage, stream("", "")),
		"arrays in arrays":      classic(catalog, pageTree, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)),
		"a table in itself":     []byte("%PDF-1.7\nxref\n0 0\ntrailer\n<</Size 1/Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF\n"),
		"a huge picture": classic(catalog, pageTree, onePage, stream("", "/X Do"),
			stream("/Type/XObject/Subtype/Image/Width 60000/Height 60000/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode", deflated(1<<20, 1))),
	}
}

// TestRead_SurvivesHostileFiles reads each in a child, as the server does.
func TestRead_SurvivesHostileFiles(t *testing.T) {
	t.Parallel()
	files := hostile()
	if len(files) != 10 {
		t.Fatalf("%d files", len(files))
	}
	r := reader(t, "read")
	for what, file := range files {
		start := time.Now()
		p, err := r.Read(t.Context(), bytes.NewReader(file))
		if err != nil && !slices.Contains(append(refusals, ErrTooSlow), err) {
			t.Errorf("%s: %v", what, err)
		}
		if d := time.Since(start); d > r.Limit+5*time.Second {
			t.Errorf("%s: took %s", what, d)
		}
		if p != nil && len(p.Pages) > maxPages {
			t.Errorf("%s: %d pages", what, len(p.Pages))
		}
	}
	if p, err := r.Read(t.Context(), bytes.NewReader(shortLetter(t))); err != nil || len(p.Pages) != 1 {
		t.Errorf("the letter after them: %v", err)
	}
}

// TestEngine_SurvivesMutatedFiles reads 300 letters with bytes changed, cut out and doubled.
func TestEngine_SurvivesMutatedFiles(t *testing.T) {
	t.Parallel()
	e, err := newEngine(cacheFolder())
	if err != nil {
		t.Fatal(err)
	}
	letter := shortLetter(t)
	random := rand.New(rand.NewPCG(310, 0))
	read := 0
	for n := range 300 {
		b := bytes.Clone(letter)
		for range 1 + random.IntN(40) {
			at := random.IntN(len(b))
			switch random.IntN(4) {
			case 0, 1:
				b[at] = byte(random.Uint32())
			case 2:
				b = slices.Delete(b, at, min(len(b), at+random.IntN(200)))
			case 3:
				b = slices.Insert(b, at, b[at:min(len(b), at+random.IntN(200))]...)
			}
			if len(b) == 0 {
				b = []byte("%")
			}
		}
		pages, err := e.read(b)
		if err == nil {
			read++
		}
		if len(pages) > maxPages {
			t.Errorf("file %d: %d pages", n, len(pages))
		}
	}
	if _, err := e.read(letter); err != nil {
		t.Errorf("the letter after them: %v", err)
	}
	t.Logf("%d of 300 were read", read)
}

func TestChild_RefusesAFileThatIsTooLarge(t *testing.T) {
	t.Parallel()
	if _, err := reader(t, "read").Read(t.Context(), io.LimitReader(zeros{}, MaxFile+1)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}
