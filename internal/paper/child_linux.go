package paper

import "syscall"

// limitMemory ends this process when it takes more address space.
func limitMemory(most uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most})
}

// endsWithParent has a child killed when the thread that started it ends, also if that was killed.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
