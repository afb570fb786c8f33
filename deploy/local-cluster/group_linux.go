package main

import "syscall"

// ownGroup gives a process a group of its own, so that Ctrl-C reaches this program first. It ends with this program,
// however that ends.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
