package sheet

import (
	"encoding/xml"
	"strings"
)

// The limits of the shared strings of an XLSX.
const (
	maxTexts  = 64 << 20 // bytes of all of them
	maxShared = 2_000_000
	textBlock = 1 << 20 // bytes that are kept in one block
)

// texts are the shared strings of an XLSX, read as far as a cell needs them and stored end to end, so that they use
// little more memory than their length.
type texts struct {
	part   *part // nil: there are none, or all are read
	blocks [][]byte
	ends   []uint32
}

// at returns the string with an index, and whether there is one.
func (t *texts) at(n int) (string, bool, error) {
	for n >= len(t.ends) {
		if more, err := t.next(); err != nil || !more {
			return "", false, err
		}
	}
	from, to := uint32(0), t.ends[n]
	if n > 0 {
		from = t.ends[n-1]
	}
	var text strings.Builder
	text.Grow(int(to - from))
	for from < to {
		block := t.blocks[from/textBlock]
		some := block[from%textBlock : min(uint32(len(block)), from%textBlock+to-from)]
		text.Write(some)
		from += uint32(len(some))
	}
	return text.String(), true, nil
}

// next reads one more string; more is false after the last one.
func (t *texts) next() (more bool, err error) {
	for t.part != nil {
		token, err := t.part.token()
		if err != nil {
			return false, err
		}
		if token == nil {
			t.part = nil
			break
		}
		if e, ok := token.(xml.StartElement); !ok || e.Name.Local != "si" {
			continue
		}
		text, err := t.part.text("si")
		if err != nil {
			return false, err
		}
		return true, t.keep(text)
	}
	return false, nil
}

func (t *texts) keep(text string) error {
	end := len(text)
	if n := len(t.ends); n > 0 {
		end += int(t.ends[n-1])
	}
	if end > maxTexts || len(t.ends) == maxShared {
		return unreadable("has more than %d MiB of texts, or %d of them", maxTexts>>20, maxShared)
	}
	for len(text) > 0 {
		last := len(t.blocks) - 1
		if last < 0 || len(t.blocks[last]) == textBlock {
			t.blocks = append(t.blocks, make([]byte, 0, textBlock))
			last++
		}
		n := min(len(text), textBlock-len(t.blocks[last]))
		t.blocks[last] = append(t.blocks[last], text[:n]...)
		text = text[n:]
	}
	t.ends = append(t.ends, uint32(end))
	return nil
}
