package exchange

// Retry is a call that may be sent again: its key, what was sent, and what was answered.
type IdempotentCall struct {
	Caller      string // who chose the key
	Key         string
	Fingerprint string            // of what was sent
	Status      int               // of the answer
	Headers     map[string]string // of the answer
	Body        string
}
