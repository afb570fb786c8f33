// Package sequence reads maps of sequences: GenBank flat files with their features, and FASTA files.
package sequence

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// MaxBytes is how much of a file is read at most; a longer one is refused.
const MaxBytes = 2 << 20

// maxFeatures is how many features of a file are read at most.
const maxFeatures = 500

// Map is a sequence with its features.
type Map struct {
	Name     string
	Length   int // in Unit
	Unit     string
	Circular bool
	Features []Feature // as in the file, without "source", which spans everything; at most 500
	More     bool      // the file has more features than these
	Letters  string    // lower case; "" if the file has none
}

// Feature is an annotated part of a sequence.
type Feature struct {
	Kind    string // the feature key, as "CDS"
	Label   string // its name, or its kind
	Spans   []Span // in the order of the file; at least one
	Reverse bool   // on the complementary strand
}

// Span is a range of positions, both included, the first position of a sequence being 1.
type Span struct{ From, To int }

// Parse reads a GenBank or FASTA file. Of a file with several records it reads the first. Errors are sentences for the
// person who looks at the file.
func Parse(r io.Reader) (Map, error) {
	limited := &io.LimitedReader{R: r, N: MaxBytes + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, MaxBytes+1)
	var m Map
	var err error
	for lines.Scan() {
		if first := strings.TrimSpace(lines.Text()); first != "" {
			if name, fasta := strings.CutPrefix(first, ">"); fasta {
				m = parseFASTA(name, lines)
			} else {
				m, err = parseGenBank(first, lines)
			}
			break
		}
	}
	switch {
	case err != nil:
		return Map{}, err
	case lines.Err() != nil:
		return Map{}, lines.Err()
	case limited.N <= 0:
		return Map{}, errors.New("the file is too large to be shown")
	case m.Length == 0:
		return Map{}, errors.New("the file has no sequence")
	}
	return m, nil
}

func parseFASTA(name string, lines *bufio.Scanner) Map {
	m := Map{Name: name, Unit: "bp"}
	var letters strings.Builder
	for lines.Scan() && !strings.HasPrefix(lines.Text(), ">") {
		letters.WriteString(onlyLetters(lines.Text()))
	}
	m.Letters = letters.String()
	m.Length = len(m.Letters)
	if strings.Trim(m.Letters, "acgturyswkmbdhvn") != "" {
		m.Unit = "aa"
	}
	return m
}

// LOCUS       pSample-EGFP            1920 bp    DNA     circular SYN 01-JAN-2026
var locus = regexp.MustCompile(`^LOCUS +(\S+) +(\d+) (bp|aa)\b(.*)$`)

// maxLength is the longest sequence that a map is drawn of; the longest known chromosome has 9.4e10 bases.
const maxLength = 1e12

func parseGenBank(first string, lines *bufio.Scanner) (Map, error) {
	head := locus.FindStringSubmatch(first)
	if head == nil {
		return Map{}, errors.New("the file is neither GenBank nor FASTA")
	}
	length, err := strconv.Atoi(head[2])
	if err != nil || length < 1 || length > maxLength {
		return Map{}, errors.New("the file does not state how long the sequence is")
	}
	m := Map{Name: head[1], Length: length, Unit: head[3], Circular: strings.Contains(head[4], " circular ")}
	var letters strings.Builder
	var f featureLines
	section := ""
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), " \r")
		if line == "//" {
			break
		}
		if line != "" && line[0] != ' ' {
			section, _, _ = strings.Cut(line, " ")
			continue
		}
		switch section {
		case "FEATURES":
			f.add(&m, line)
		case "ORIGIN":
			letters.WriteString(onlyLetters(line))
		}
	}
	f.end(&m)
	if m.Letters = letters.String(); len(m.Letters) != m.Length {
		m.Letters = ""
	}
	return m, nil
}

// The table of features has the key from column 6, and locations and qualifiers from column 22.
const (
	keyColumn   = 5
	valueColumn = 21
)

// featureLines collects the lines of one feature.
type featureLines struct {
	kind  string // "": none has begun
	lines []string
}

func (f *featureLines) add(m *Map, line string) {
	if len(line) <= keyColumn {
		return
	}
	if line[keyColumn] != ' ' {
		f.end(m)
		f.kind, line, _ = strings.Cut(line[keyColumn:], " ")
		f.lines = []string{strings.TrimSpace(line)}
		return
	}
	if len(line) > valueColumn && f.kind != "" {
		f.lines = append(f.lines, strings.TrimSpace(line[valueColumn:]))
	}
}

// position matches a position or a range of a location, without join and complement; one of another record, which has
// its accession and a colon before it, does not match.
var position = regexp.MustCompile(`^<?(\d+)(?:(?:\.\.|\^)>?(\d+))?$`)

// end adds the collected feature to m, unless it has no place in the sequence.
func (f *featureLines) end(m *Map) {
	kind, lines := f.kind, f.lines
	f.kind, f.lines = "", nil
	if kind == "" || kind == "source" {
		return
	}
	location := ""
	for len(lines) > 0 && !strings.HasPrefix(lines[0], "/") {
		location += lines[0]
		lines = lines[1:]
	}
	feature := Feature{Kind: kind, Label: label(kind, lines), Reverse: strings.HasPrefix(location, "complement(")}
	for text := range strings.FieldsFuncSeq(location, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
		part := position.FindStringSubmatch(text)
		if part == nil {
			continue
		}
		from, err := strconv.Atoi(part[1])
		to := from
		if part[2] != "" && err == nil {
			to, err = strconv.Atoi(part[2])
		}
		if err == nil && 1 <= from && from <= to && to <= m.Length {
			feature.Spans = append(feature.Spans, Span{from, to})
		}
	}
	if len(feature.Spans) == 0 {
		return
	}
	if len(m.Features) == maxFeatures {
		m.More = true
		return
	}
	m.Features = append(m.Features, feature)
}

// label returns the name in the qualifiers of a feature: the first of these that it has, or its kind.
func label(kind string, qualifiers []string) string {
	for _, name := range []string{"/label=", "/gene=", "/product=", "/standard_name=", "/note="} {
		for i, line := range qualifiers {
			value, found := strings.CutPrefix(line, name)
			if !found {
				continue
			}
			for _, next := range qualifiers[i+1:] {
				if strings.HasPrefix(next, "/") || strings.HasSuffix(value, `"`) && len(value) > 1 {
					break
				}
				value += " " + next
			}
			if value = strings.Trim(value, `" `); value != "" {
				return strings.ToValidUTF8(value, "")
			}
		}
	}
	return kind
}

// onlyLetters returns the letters of a line of a sequence, in lower case.
func onlyLetters(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, line)
}
