package exchange

// Named is a thing by its id and what people call it.
type Named struct {
	ID   int64
	Name string
}
