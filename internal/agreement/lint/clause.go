package lint

import (
	"slices"
	"strings"
)

// paperText is the text of a paper, prepared for comparisons.
type paperText struct {
	words  []string
	joined string // without blanks, so that a word that is broken or run together is found
}

func newPaperText(text string) *paperText {
	w := words(text)
	return &paperText{w, strings.Join(w, "")}
}

// after returns the n words after a place that begins with others.
func (p *paperText) after(start []string, n int) (text string, found bool) {
	for i := 0; i+len(start) <= len(p.words); i++ {
		if slices.Equal(p.words[i:i+len(start)], start) {
			rest := p.words[i+len(start):]
			return strings.Join(rest[:min(n, len(rest))], " "), true
		}
	}
	return "", false
}

type triple [3]string

func triples(w []string) map[triple]bool {
	set := map[triple]bool{}
	for i := 0; i+2 < len(w); i++ {
		set[triple(w[i:i+3])] = true
	}
	return set
}

// slack is how many words before and after the place that is most like a clause are compared too.
const slack = 3

// compare returns the words of a clause that the paper does not have, and those that it has in between: none if the
// clause is there as it is, otherwise by comparison with the place that has most of its groups of three words.
func (p *paperText) compare(clause []string) (missing, extra []string) {
	if strings.Contains(p.joined, strings.Join(clause, "")) {
		return nil, nil
	}
	known := triples(clause)
	best, bestAt, count := 0, 0, 0
	hit := func(i int) int {
		if i >= 0 && i+2 < len(p.words) && known[triple(p.words[i:i+3])] {
			return 1
		}
		return 0
	}
	for i := range p.words {
		count += hit(i) - hit(i-len(clause))
		if count > best {
			best, bestAt = count, i
		}
	}
	if best == 0 {
		return clause, nil
	}
	from := max(0, bestAt-len(clause)-slack)
	to := min(len(p.words), bestAt+3+slack)
	return difference(clause, p.words[from:to])
}

// difference returns the words of a that are not in b, and those of b between the first and the last that is in a, by
// their longest common subsequence.
func difference(a, b []string) (missing, extra []string) {
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var between []string
	started := false
	for i, j := 0, 0; i < len(a); {
		switch {
		case j < len(b) && a[i] == b[j]:
			if started {
				extra = append(extra, between...)
			}
			started, between = true, nil
			i, j = i+1, j+1
		case j < len(b) && longest[i][j+1] >= longest[i+1][j]:
			between = append(between, b[j])
			j++
		default:
			missing = append(missing, a[i])
			i++
		}
	}
	if strings.Join(missing, "") == strings.Join(extra, "") { // the same letters, broken at other places
		return nil, nil
	}
	return missing, extra
}

// minUnknown is how many words in a row are text that somebody added. Fewer are names, titles and dates of signers.
const minUnknown = 16

// unknown returns runs of words that are not in a text.
func (p *paperText) unknown(text string) (runs [][]string) {
	known := triples(words(text))
	single := map[string]bool{}
	for _, w := range words(text) {
		single[w] = true
	}
	start := 0
	flush := func(end int) {
		if end <= start {
			return
		}
		run := p.words[start:end]
		fresh := slices.DeleteFunc(slices.Clone(run), func(w string) bool { return single[w] })
		if len(run) >= minUnknown && 2*len(fresh) >= minUnknown/2 {
			runs = append(runs, run)
		}
	}
	for i := range p.words {
		if i+2 < len(p.words) && known[triple(p.words[i:i+3])] {
			flush(i)
			start = i + 3
		}
	}
	flush(len(p.words))
	return runs
}
