// Command testgate reads the output of "go test -json" and decides whether the tests passed:
//
//	go test -json ./... | testgate
//
// It prints a line for every package with tests, the output of what failed, the reason of every
// skipped test, and at the end "N passed, N failed, N skipped". The exit code is 1 when a test
// failed or was skipped, a package failed (to build, too), or no test ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	ok, err := gate(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testgate:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// event is one line of "go test -json"; see "go doc test2json".
type event struct {
	Action     string
	Package    string
	ImportPath string // instead of Package while building
	Test       string // empty for the package as a whole
	Elapsed    float64
	Output     string
}

// test names a test, or with an empty name the rest of its package.
type test struct{ pkg, name string }

// report is what is known so far.
type report struct {
	w                       io.Writer
	passed, failed, skipped int
	output                  map[test]*strings.Builder // of what has not ended yet
	passedIn, failedIn      map[string]int            // tests of a package
	skips                   []string
}

// gate reads events from r, writes what a person wants to know to w, and reports whether all is well.
// Lines that are no event are written as they are.
func gate(r io.Reader, w io.Writer) (ok bool, err error) {
	rep := &report{w: w, output: map[test]*strings.Builder{}, passedIn: map[string]int{}, failedIn: map[string]int{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err != nil && err != io.EOF {
			return false, err
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
			fmt.Fprintln(w, strings.TrimSuffix(line, "\n"))
			continue
		}
		rep.add(e)
	}
	for _, skip := range rep.skips {
		fmt.Fprintln(w, "SKIPPED", skip)
	}
	if rep.passed == 0 {
		fmt.Fprintln(w, "no test passed")
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", rep.passed, rep.failed, rep.skipped)
	return rep.passed > 0 && rep.failed == 0 && rep.skipped == 0, nil
}

func (r *report) add(e event) {
	what := test{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.w, e.Output)
	case e.Action == "output":
		if r.output[what] == nil {
			r.output[what] = &strings.Builder{}
		}
		r.output[what].WriteString(e.Output)
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail"):
		r.endPackage(e)
	case e.Action == "pass":
		r.passed++
		r.passedIn[e.Package]++
		delete(r.output, what)
	case e.Action == "fail":
		r.failed++
		r.failedIn[e.Package]++
		r.printOutput(what)
	case e.Action == "skip" && e.Test != "": // a package is "skipped" when it has no test files
		r.skipped++
		r.skips = append(r.skips, e.Package+" "+e.Test+": "+r.reason(what))
		delete(r.output, what)
	}
}

// endPackage prints the line of a package and, when it failed, the output of its tests that never
// ended and of the package itself: a panic, a race, a failed TestMain.
func (r *report) endPackage(e event) {
	if e.Action == "fail" {
		if r.failedIn[e.Package] == 0 {
			r.failed++ // no single test is to blame
		}
		for what := range r.output {
			if what.pkg == e.Package {
				r.printOutput(what)
			}
		}
		fmt.Fprintf(r.w, "FAIL %s %.1fs: %d passed, %d failed\n", e.Package, e.Elapsed, r.passedIn[e.Package],
			max(1, r.failedIn[e.Package]))
	} else if r.passedIn[e.Package] > 0 {
		fmt.Fprintf(r.w, "ok   %s %.1fs: %d passed\n", e.Package, e.Elapsed, r.passedIn[e.Package])
	}
	for what := range r.output {
		if what.pkg == e.Package {
			delete(r.output, what)
		}
	}
}

func (r *report) printOutput(what test) {
	if out := r.output[what]; out != nil {
		fmt.Fprint(r.w, out)
		delete(r.output, what)
	}
}

// reason gives what a skipped test said, in one line.
func (r *report) reason(what test) string {
	var said []string
	if out := r.output[what]; out != nil {
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
				said = append(said, line)
			}
		}
	}
	return strings.Join(said, " ")
}
