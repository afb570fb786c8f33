package app

import "context"

type unchangedKey struct{}

// IfUnchanged lets a use case change its object only where check returns nil. check gets what
// reading the object gives, in the transaction and with its row locked: of two calls that saw the
// same object, the second finds another one (RFC 9110 section 13.1.1).
func IfUnchanged(ctx context.Context, check func(object any) error) context.Context {
	return context.WithValue(ctx, unchangedKey{}, check)
}

// unchanged runs the check of IfUnchanged, where there is one, on a locked object; read gives it
// as reading use cases do.
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

// as gives a value that was read already to unchanged.
func as[T any](object T) func() (T, error) { return func() (T, error) { return object, nil } }

// neverShown is unchanged for what no GET shows by itself: nobody has seen a version of it.
func neverShown(ctx context.Context) error { return unchanged(ctx, as[any](nil)) }
