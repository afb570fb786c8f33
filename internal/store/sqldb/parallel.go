package sqldb

import (
	"runtime"
	"sync"
)

// Parallel calls do for each number below n, on all processors where there are more than a few.
func Parallel(n int, do func(i int)) {
	const few = 8
	workers := min(runtime.GOMAXPROCS(0), (n+few-1)/few)
	var all sync.WaitGroup
	for first := range workers {
		all.Go(func() {
			for i := first; i < n; i += workers {
				do(i)
			}
		})
	}
	all.Wait()
}
