package seed

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

//go:embed vocabulary.txt
var vocabularyText string

// vocabulary has the lists of vocabulary.txt, by heading; the cells of a line are separated by |.
var vocabulary = func() map[string][][]string {
	lists, heading := map[string][][]string{}, ""
	for line := range strings.Lines(vocabularyText) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line[0] == '[':
			heading = strings.Trim(line, "[]")
		default:
			lists[heading] = append(lists[heading], strings.Split(line, "|"))
		}
	}
	for _, disease := range lists["diseases"] {
		if cancer.MatchString(disease[0]) {
			lists["cancers"] = append(lists["cancers"], disease)
		}
	}
	for _, organism := range lists["organisms"] {
		if slices.Contains(models, organism[1]) {
			lists["models"] = append(lists["models"], organism)
		}
	}
	return lists
}()

var (
	cancer = regexp.MustCompile(`(carcinoma|sarcoma|blastoma|leukaemia|lymphoma|melanoma|tumour|mesothelioma)$`)
	models = []string{"10090", "7227", "7955", "6239", "4932", "10116"} // whose strains have names of their own
)

// dice are random choices that depend only on the seed and the number of an object.
type dice struct {
	pcg *rand.PCG
	*rand.Rand
}

func newDice() dice {
	pcg := rand.NewPCG(0, 0)
	return dice{pcg, rand.New(pcg)} //nolint:gosec // the same data each time is what it is for
}

// Kinds of objects; two with the same number have nothing in common.
const (
	aMaterial = iota + 1
	aPublication
	aRequest
	aLab
	aPerson
	aQuery
)

// of returns the dice for an object of a kind.
func (d dice) of(kind, number int) { d.pcg.Seed(uint64(kind), uint64(number)*0x9e3779b97f4a7c15) }

// zipf draws a number below n; the k-th is about 1/k times as frequent as the first.
func (d dice) zipf(n int) int {
	return min(n-1, int(math.Pow(float64(n+1), d.Float64()))-1)
}

// any draws a line of a list, the first ones most often.
func (d dice) any(list string) []string {
	lines := vocabulary[list]
	return lines[d.zipf(len(lines))]
}

// word draws the first cell of a line.
func (d dice) word(list string) string { return d.any(list)[0] }

// of100 is true in that many of 100 cases.
func (d dice) of100(n int) bool { return d.IntN(100) < n }

// one draws one of some values, each with the same probability.
func one[T any](d dice, some ...T) T { return some[d.IntN(len(some))] }

// say fills in the {names} of a template.
func say(template string, name func(string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		key, after, _ := strings.Cut(rest, "}")
		b.WriteString(name(key))
		template = after
	}
}

// code returns a number as n letters and digits.
func code(number, n int) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	b := make([]byte, n)
	for i := range b {
		b[n-1-i] = letters[number%36]
		number /= 36
	}
	return string(b)
}

// orcid returns an iD that ORCID issues to nobody, with its check digit.
func orcid(number int) string {
	digits := fmt.Sprintf("0000000%08d", number)
	sum := 0
	for _, c := range digits {
		sum = (sum + int(c-'0')) * 2
	}
	check := "0123456789X"[(12-sum%11)%11]
	return digits[:4] + "-" + digits[4:8] + "-" + digits[8:12] + "-" + digits[12:] + string(check)
}
