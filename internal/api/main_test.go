package api_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
)

// TestMain lets more tests run at once than there are processors: they wait for clients, streams and the
// disk more than they compute.
func TestMain(m *testing.M) {
	if os.Getenv(paperVariable) != "" {
		readPaperInChild()
	}
	if err := flag.Set("test.parallel", fmt.Sprint(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // the flag is the testing package's own
	}
	os.Exit(m.Run())
}
