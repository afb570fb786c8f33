package paper

import "syscall"

// limitMemory ends this process when it takes more address space.
func limitMemory(most uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most})
}
