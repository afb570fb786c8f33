//go:build !linux

package paper

import "syscall"

// limitMemory does nothing where no limit is known; the memory of the engine is limited everywhere.
func limitMemory(uint64) error { return nil }

// endsWithParent does nothing: a child that is left alone ends when it has read its file.
func endsWithParent() *syscall.SysProcAttr { return nil }
