package lab

// Begun is what a new lab has done of what helps it to share materials.
type Begun struct {
	Lab       Organization
	Shipping  bool // it has shipping requirements
	Material  bool // it has listed a material
	Colleague bool // it has another member, or has invited one
}

// Done reports whether nothing is left.
func (b Begun) Done() bool { return b.Shipping && b.Material && b.Colleague }

// Started reports whether anything was done.
func (b Begun) Started() bool { return b.Shipping || b.Material || b.Colleague }
