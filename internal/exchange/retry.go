package exchange

// IdempotentCall is a call with an Idempotency-Key: its key, what was sent, and the response.
type IdempotentCall struct {
	Caller      string // who sent the key
	Key         string
	Fingerprint string            // hash of what was sent
	Status      int               // of the response
	Headers     map[string]string // of the response
	Body        string
}
