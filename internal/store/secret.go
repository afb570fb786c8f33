package store

import "context"

// Secret gives the secret of a name. The first one who asks has candidate kept as it; everybody, also
// other processes, is given that one from then on.
func (c Conn) Secret(ctx context.Context, name, candidate string) (string, error) {
	return one(ctx, c, value[string], `INSERT INTO secrets (name, value, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING value`, name, candidate, c.Now)
}

// KnownSecret gives the secret of a name; NotFound where nobody asked Secret for it.
func (c Conn) KnownSecret(ctx context.Context, name string) (string, error) {
	return one(ctx, c, value[string], "SELECT value FROM secrets WHERE name = $1", name)
}
