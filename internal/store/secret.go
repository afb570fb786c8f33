package store

import "context"

// keyProof is the secret that proves a key; the label of a Load is no secret.
const keyProof = "key"

func secretPlace(name string) string { return "secrets.value/" + name }

// Secret gives the secret of a name. The first one who asks has candidate kept as it; everybody, also
// other processes, is given that one from then on.
func (c Conn) Secret(ctx context.Context, name, candidate string) (string, error) {
	key, err := c.key()
	if err != nil {
		return "", err
	}
	sealed, err := one(ctx, c, value[string], "INSERT INTO secrets (name, value, created_at) VALUES ($1, "+
		sealedArgument(2, 4)+`, $3)
		ON CONFLICT (name) DO UPDATE
		SET name = excluded.name RETURNING value`, name, key.seal(secretPlace(name), candidate), c.Now, c.db.proof)
	if err != nil {
		return "", sealing(err)
	}
	return key.open(secretPlace(name), sealed)
}

// KnownSecret gives the secret of a name; NotFound where nobody asked Secret for it.
func (c Conn) KnownSecret(ctx context.Context, name string) (string, error) {
	key, err := c.key()
	if err != nil {
		return "", err
	}
	sealed, err := c.storedSecret(ctx, name)
	if err != nil {
		return "", err
	}
	return key.open(secretPlace(name), sealed)
}

// storeSecret gives the value of a name, which is candidate where there was none.
func (c Conn) storeSecret(ctx context.Context, name, candidate string) (string, error) {
	return one(ctx, c, value[string], `INSERT INTO secrets (name, value, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING value`, name, candidate, c.Now)
}

// storedSecret gives the value of a name.
func (c Conn) storedSecret(ctx context.Context, name string) (string, error) {
	return one(ctx, c, value[string], "SELECT value FROM secrets WHERE name = $1", name)
}
