package core

// IfMatch is the condition of a change: it returns an error unless the object is still as its caller saw it. The use
// case calls it in its transaction, with the object's row locked, with what reading the object returns: of two calls
// that saw the same version, the second one finds another (RFC 9110 section 13.1.1). nil sets no condition.
type IfMatch[T any] func(object T) error

// Check checks the condition on a locked object.
func (m IfMatch[T]) Check(object T) error {
	if m == nil {
		return nil
	}
	return m(object)
}

// CheckRead is check for an object that still has to be read as the use cases that return it do.
func (m IfMatch[T]) CheckRead(read func() (T, error)) error {
	if m == nil {
		return nil
	}
	object, err := read()
	if err != nil {
		return err
	}
	return m(object)
}

// Untagged stands for an object that no GET returns by itself, so that nobody can have seen a version of it.
type Untagged struct{}
