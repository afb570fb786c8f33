package app

import "context"

type unchangedKey struct{}

// IfUnchanged makes a use case change its object only if check returns nil. check is called in the transaction, with
// the object's row locked, with what reading the object returns: of two calls that saw the same version, the second one
// finds another (RFC 9110 section 13.1.1).
func IfUnchanged(ctx context.Context, check func(object any) error) context.Context {
	return context.WithValue(ctx, unchangedKey{}, check)
}

// unchanged runs the check of IfUnchanged, if there is one, on a locked object; read returns the object as the use
// cases that read it do.
func unchanged[T any](ctx context.Context, read func() (T, error)) error {
	check, ok := ctx.Value(unchangedKey{}).(func(any) error)
	if !ok {
		return nil
	}
	object, err := read()
	if err != nil {
		return err
	}
	return check(object)
}

// as wraps a value that was read already, for unchanged.
func as[T any](object T) func() (T, error) { return func() (T, error) { return object, nil } }

// neverShown is unchanged for an object that no GET returns by itself: nobody can have seen a version of it.
func neverShown(ctx context.Context) error { return unchanged(ctx, as[any](nil)) }
