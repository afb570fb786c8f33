package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseExecutable takes the pages of the executable out of the process that only start-up needed, more than half of
// all that an idle process holds. Pages that are needed again come from the page cache of the system. Only mappings
// without any page of our own are released, so nothing can be lost; where that is not possible, nothing is done.
func releaseExecutable() {
	name, err := os.Executable()
	if err != nil {
		return
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	var start, end uint64
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case strings.HasSuffix(words[0], ":"):
			if words[0] == "Anonymous:" && words[1] == "0" && end > start {
				_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(start), uintptr(end-start),
					syscall.MADV_DONTNEED)
			}
		case len(words) == 6 && words[5] == name && words[1][1] != 'w':
			from, to, _ := strings.Cut(words[0], "-")
			start, _ = strconv.ParseUint(from, 16, 64)
			end, _ = strconv.ParseUint(to, 16, 64)
		default:
			start, end = 0, 0
		}
	}
}
