package person

import "time"

// NewFor is how long a person or a lab counts as new.
const NewFor = 30 * 24 * time.Hour

// Begun is what someone new has done of what helps them to request materials.
type Begun struct{ Email, Address, Request, Search bool }

// Done reports whether nothing is left.
func (b Begun) Done() bool { return b.Email && b.Address && b.Request && b.Search }
