//go:build unix && !linux

package main

import "syscall"

// ownGroup gives a process a group of its own, so that Ctrl-C reaches this program first.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
