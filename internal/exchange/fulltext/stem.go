package fulltext

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Stem returns a folded word without its English ending (Porter2), the same for British and American spelling. Words
// with letters other than a to z, with digits, or of fewer than four letters may be names and are returned unchanged.
func Stem(word string) string {
	if len(word) < 4 {
		return word
	}
	for i := range len(word) {
		if c := word[i]; c < 'a' || 'z' < c {
			return word
		}
	}
	at := &stems[maphash.String(seed, word)%uint64(len(stems))]
	if known := at.Load(); known != nil && known.word == word {
		return known.stem
	}
	env := snowballstem.NewEnv(american(word))
	english.Stem(env)
	known := &stemmed{strings.Clone(word), env.Current()}
	at.Store(known)
	return known.stem
}

// stems caches recent words with their stems: texts use the same words again and again.
var (
	stems [1 << 14]atomic.Pointer[stemmed]
	seed  = maphash.MakeSeed()
)

type stemmed struct{ word, stem string }

// american returns the American spelling of a word. A word that it changes by mistake is changed in objects and in
// queries alike.
func american(word string) string {
	if len(word) < 6 {
		return word
	}
	word = digraphs.Replace(word)
	for _, e := range endings {
		if start, ok := strings.CutSuffix(word, e[0]); ok {
			return start + e[1]
		}
	}
	return word
}

var digraphs = strings.NewReplacer("ae", "e", "oe", "e") // leukaemia, oestrogen

var endings = [][2]string{
	{"our", "or"}, {"ours", "ors"}, {"tre", "ter"}, {"tres", "ters"}, {"bre", "ber"}, {"bres", "bers"},
	{"isation", "ization"}, {"isations", "izations"}, {"ise", "ize"}, {"ised", "ized"}, {"ising", "izing"},
	{"yse", "yze"}, {"ysed", "yzed"}, {"ysing", "yzing"},
}

// stops lists English words that carry no meaning in a search.
var stops = func() map[string]bool {
	all := map[string]bool{}
	for _, word := range []string{
		"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "its", "not",
		"of",
		"on", "or", "our", "that", "the", "their", "these", "this", "to", "was", "we", "were", "which", "with",
	} {
		all[word] = true
	}
	return all
}()
