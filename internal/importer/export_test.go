package importer

// Waiting is how many wait for calls that are under way.
func (im *Importer) Waiting() (n int) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, f := range im.flights {
		n += f.waiting
	}
	return n
}
