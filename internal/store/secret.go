package store

import "context"

// keyProof is the secret that proves a key; the label of a Load is no secret.
const keyProof = "key"

func secretPlace(name string) string { return "secrets.value/" + name }

// Get gives the secret of a name. The first one who asks has candidate kept as it; everybody, also
// other processes, is given that one from then on.
func (st Secrets) Get(ctx context.Context, name, candidate string) (string, error) {
	key, err := st.conn.key()
	if err != nil {
		return "", err
	}
	sealed, err := one(ctx, st.conn, value[string], "INSERT INTO secrets (name, value, created_at) VALUES ($1, "+
		sealedArgument(2, 4)+`, $3)
		ON CONFLICT (name) DO UPDATE
		SET name = excluded.name RETURNING value`, name, key.seal(secretPlace(name), candidate), st.conn.Now,
		st.conn.db.proof)
	if err != nil {
		return "", sealing(err)
	}
	return key.open(secretPlace(name), sealed)
}

// Known gives the secret of a name; NotFound where nobody asked Secret for it.
func (st Secrets) Known(ctx context.Context, name string) (string, error) {
	key, err := st.conn.key()
	if err != nil {
		return "", err
	}
	sealed, err := st.stored(ctx, name)
	if err != nil {
		return "", err
	}
	return key.open(secretPlace(name), sealed)
}

// store gives the value of a name, which is candidate where there was none.
func (st Secrets) store(ctx context.Context, name, candidate string) (string, error) {
	return one(ctx, st.conn, value[string], `INSERT INTO secrets (name, value, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING value`, name, candidate, st.conn.Now)
}

// stored gives the value of a name.
func (st Secrets) stored(ctx context.Context, name string) (string, error) {
	return one(ctx, st.conn, value[string], "SELECT value FROM secrets WHERE name = $1", name)
}
