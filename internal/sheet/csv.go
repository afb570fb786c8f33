package sheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"aliquot/internal/exchange"

	"golang.org/x/text/encoding/unicode"
)

// delimiterSample is how many bytes are read to find the delimiter.
const delimiterSample = 16 << 10

func openCSV(f io.Reader) (*Reader, error) {
	input := &meteredReader{r: f, left: maxRow}
	text := bufio.NewReaderSize(input, delimiterSample)
	head, err := text.Peek(delimiterSample)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	utf16 := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
	if utf16 { // as Excel saves "Unicode text"
		text = bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(text),
			delimiterSample)
		if head, err = text.Peek(delimiterSample); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return nil, unreadable("is neither CSV in UTF-8 or UTF-16 nor XLSX nor ODS")
	case bytes.HasPrefix(head, []byte("\ufeff")):
		_, _ = text.Discard(len("\ufeff")) // already peeked
		head = head[len("\ufeff"):]
	}
	comma, skipped := delimiter(head), 0
	if said, length := declaredDelimiter(head); length > 0 {
		_, _ = text.Discard(length) // likewise
		comma, skipped = said, 1
	}
	r := csv.NewReader(text)
	r.Comma, r.FieldsPerRecord = comma, -1
	number, line := 0, 0 // of the last row: its number, and the line on which it ends
	return &Reader{Format: "csv", next: func() (Row, error) {
		input.left = maxRow
		cells, err := r.Read()
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			return Row{}, unreadable("breaks the rules of CSV in line %d: %v", broken.Line+skipped, broken.Err)
		}
		if err != nil {
			return Row{}, err
		}
		begins, _ := r.FieldPos(0)
		number += begins - line
		line = begins
		for _, cell := range cells {
			if !utf8.ValidString(cell) || utf16 && strings.ContainsRune(cell, utf8.RuneError) {
				return Row{}, unreadable("is not in UTF-8 or whole UTF-16, as line %d shows; save it as CSV in UTF-8",
					begins+skipped)
			}
			if strings.IndexByte(cell, 0) >= 0 {
				return Row{}, unreadable("has a zero byte in line %d, so it is not text", begins+skipped)
			}
			line += strings.Count(cell, "\n")
		}
		return Row{Number: number, Cells: cells}, nil
	}}, nil
}

// declaredDelimiter reads the first line of a CSV if it only names the delimiter, as "sep=;" does for Excel, which does
// not count that line. length is that of the line, 0 if there is none.
func declaredDelimiter(head []byte) (said rune, length int) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	text := strings.Trim(strings.TrimSuffix(string(line), "\r"), `"`)
	if len(text) < len("sep=") || !strings.EqualFold(text[:len("sep=")], "sep=") {
		return 0, 0
	}
	switch text = text[len("sep="):]; text {
	case ",", ";", "\t", "|", ":", " ":
		said = rune(text[0])
	case `\t`:
		said = '\t'
	default:
		return 0, 0
	}
	return said, min(len(line)+1, len(head))
}

// delimiter returns which of comma, semicolon and tab occurs most often outside quotes in the first line.
func delimiter(head []byte) rune {
	count := map[rune]int{}
	quoted := false
lines:
	for _, c := range string(head) {
		switch c {
		case '"':
			quoted = !quoted
		case ',', ';', '\t':
			if !quoted {
				count[c]++
			}
		case '\n', '\r':
			if !quoted && len(count) > 0 {
				break lines
			}
		}
	}
	best := ','
	for _, c := range []rune{';', '\t'} {
		if count[c] > count[best] {
			best = c
		}
	}
	return best
}

// Writer writes the rows of a spreadsheet and defuses their cells. Close writes the rest.
type Writer interface {
	Write(cells []string) error
	Close() error
}

type csvWriter struct{ *csv.Writer }

// NewCSV writes CSV in UTF-8, with the byte order mark by which Excel recognizes that.
func NewCSV(w io.Writer) (Writer, error) {
	_, err := io.WriteString(w, "\ufeff")
	return csvWriter{csv.NewWriter(w)}, err
}

func (w csvWriter) Write(cells []string) error {
	defused := make([]string, len(cells))
	for i, cell := range cells {
		defused[i] = Defuse(cell)
	}
	if len(defused) == 1 && defused[0] == "" {
		defused[0] = " " // otherwise the line is empty, and not a row
	}
	return w.Writer.Write(defused)
}

func (w csvWriter) Close() error {
	w.Flush()
	return w.Error()
}

// Formats are the formats of Create.
var Formats = []string{"csv", "xlsx"}

// Create writes a spreadsheet of a format.
func Create(w io.Writer, format string) (Writer, error) {
	switch format {
	case "csv":
		return NewCSV(w)
	case "xlsx":
		return newXLSX(w)
	}
	return nil, exchange.FieldErrors{"format": {"must be one of " + strings.Join(Formats, ", ")}}.Err()
}
