package filestest

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends a process with the one that starts it, however that ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
