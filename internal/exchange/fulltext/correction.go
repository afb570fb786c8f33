package fulltext

// Words returns the plain words of q as typed, for "did you mean".
func (q Query) Words() []string {
	var list []string
	for _, p := range q.plain() {
		list = append(list, q.text[p.start:p.end])
	}
	return list
}

// Replace returns the query as typed, with another word in place of the i-th of Words.
func (q Query) Replace(i int, word string) string {
	p := q.plain()[i]
	return q.text[:p.start] + word + q.text[p.end:]
}

// plain returns the wanted words that are not part of a phrase, chunk or identifier.
func (q Query) plain() []part {
	var list []part
	for _, g := range q.want {
		if t := g.terms[0]; len(g.terms) == 1 && len(g.keys) == 0 && !t.quoted && len(t.parts) == 1 {
			list = append(list, t.parts[0])
		}
	}
	return list
}

// Distance returns how many letters must be changed, added, removed or swapped with their neighbour to turn a into b.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		before, last, row = last, row, before
		row[0] = i + 1
		for j, s := range to {
			cost := 1
			if r == s {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && r == to[j-1] && from[i-1] == s {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(to)]
}
