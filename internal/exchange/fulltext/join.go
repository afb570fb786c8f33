package fulltext

import "unicode/utf8"

// The limits of names that are written with or without spaces or hyphens.
const (
	maxJoined     = 4  // parts
	longestJoined = 16 // letters
	longestPiece  = 5  // letters of a part of a name with digits
	shortestHump  = 3  // letters
	maxOfAddress  = 8  // a chunk of more parts is an address or a sequence, not a name
)

// join is the concatenation of parts[first:first+count]: "ht29" of HT-29. A join of a single part is its end from an
// inner capital on: "tomato" of tdTomato.
type join struct {
	word         string
	first, count int
}

// joins returns the joins of parts: of each chunk of several parts, and of adjacent short parts that could be a name.
// If spaces is true, also across white space, and from the inner capitals of a part.
func joins(parts []part, spaces bool) []join {
	var list []join
	for first := 0; first < len(parts); {
		end := first + 1
		for end < len(parts) && parts[end].glue == parted {
			end++
		}
		if end-first > 1 {
			list = append(list, join{whole(parts[first:end], longestWord), first, end - first})
		}
		if end-first > maxOfAddress {
			first = end
			continue
		}
		for i := first; i < end; i++ {
			for _, hump := range parts[i].humps {
				if word := parts[i].word; spaces && len(word)-hump >= shortestHump {
					list = append(list, join{word[hump:], i, 1})
				}
			}
			for count := 2; count <= maxJoined && i+count <= len(parts); count++ {
				last := parts[i+count-1].glue
				if last != parted && !(spaces && last == spaced) {
					break
				}
				if (i != first || i+count != end) && couldBeName(parts[i:i+count]) {
					list = append(list, join{whole(parts[i:i+count], longestWord), i, count})
				}
			}
		}
		first = end
	}
	return list
}

// couldBeName reports whether parts could be a name that others write as one word: with letters and digits (SK BR 3),
// or with a Greek letter (TNF alpha).
func couldBeName(parts []part) bool {
	total, letters, digits, greek, short := 0, false, false, false, true
	for _, p := range parts {
		n := utf8.RuneCountInString(p.word)
		if n > 1 && stops[p.word] {
			return false
		}
		total += n
		short = short && n <= longestPiece
		greek = greek || isGreekName[p.word]
		for _, r := range p.word {
			digits = digits || '0' <= r && r <= '9'
			letters = letters || r < '0' || '9' < r
		}
	}
	return total <= longestJoined && letters && (digits && short || greek && len(parts) == 2)
}
