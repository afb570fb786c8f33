package exchange

// Named is the id of an object with its name.
type Named struct {
	ID   int64
	Name string
}
