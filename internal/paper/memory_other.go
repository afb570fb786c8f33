//go:build !linux

package paper

// limitMemory does nothing where no limit is known; the memory of the engine is limited everywhere.
func limitMemory(uint64) error { return nil }
