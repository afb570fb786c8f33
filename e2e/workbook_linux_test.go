package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/store/storetest"
)

// workbookBar is the most memory, in MiB, of a process that is sent hostile workbooks.
const workbookBar = 512

// bomb returns a small XLSX whose header is the last of 600,000 texts: 45 MiB of memory when they are kept, so sixteen
// at a time would take well over workbookBar.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	part := func(name string, write func(io.Writer) error) {
		f, err := w.Create(name)
		if err == nil {
			err = write(f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	const texts = 600_000
	part("xl/workbook.xml", text(`<workbook xmlns:r="r"><sheets><sheet name="S" r:id="x"/></sheets></workbook>`))
	part("xl/_rels/workbook.xml.rels",
		text(`<Relationships><Relationship Id="x" Target="sheet1.xml"/></Relationships>`))
	part("xl/sheet1.xml", text(fmt.Sprintf(`<worksheet><sheetData><row><c t="inlineStr"><is><t>Title</t></is></c><c t="s"><v>%d</v></c></row><row><c t="s"><v>1</v></c></row></sheetData></worksheet>`, texts-1)))
	part("xl/sharedStrings.xml", func(w io.Writer) error {
		many := strings.Repeat("<si><t>"+strings.Repeat("a", 34)+"</t></si>", 1000)
		_, err := io.WriteString(w, "<sst>")
		for range texts / 1000 {
			if err == nil {
				_, err = io.WriteString(w, many)
			}
		}
		if err == nil {
			_, err = io.WriteString(w, "</sst>")
		}
		return err
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWorkbooks_SixteenHostileOnesAtOnceLeaveMemory: they wait for each other, and whoever waits too long is told to
// come again. What is taken in the jobs read one after the other.
func TestWorkbooks_SixteenHostileOnesAtOnceLeaveMemory(t *testing.T) {
	t.Parallel()
	in := install(t, storetest.SQLite, t.TempDir())
	p := in.serve(t, "--access", "members", "--rate-limit", "off")
	l := p.lab(t)
	content := bomb(t)
	if len(content) > 1<<20 {
		t.Fatalf("the file has %d bytes", len(content))
	}
	var mu sync.Mutex
	statuses := map[int]int{}
	var jobs []string
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			status, job, err := l.sendBook(content)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if statuses[status]++; job != "" {
				jobs = append(jobs, job)
			}
		})
	}
	all.Wait()
	if statuses[202] == 0 || statuses[202]+statuses[429]+statuses[503] != 16 {
		t.Errorf("answers %v", statuses)
	}
	for _, job := range jobs {
		if err := poll(func() error { return l.stocked(job) }); err != nil {
			t.Error(err)
		}
	}
	if most := p.peak(t); most > workbookBar {
		t.Errorf("the process took %d MiB, more than %d", most, workbookBar)
	}
	t.Logf("answers %v, %d MiB", statuses, p.peak(t))
}

// sendBook sends a workbook and gives the status of the answer, with the path of the job where there is one.
func (l lab) sendBook(content []byte) (status int, job string, err error) {
	a, err := l.manager.send("POST", "/organizations/"+l.id+"/materials/bulk?category=OTHER&unknown=keep",
		"application/octet-stream", bytes.NewReader(content))
	if err != nil || a.status != 202 {
		return a.status, "", err
	}
	id, err := a.at("id")
	return a.status, "/jobs/" + id, err
}

// peak is the most memory that a process ever held, in MiB.
func (p *process) peak(t *testing.T) (most int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &most); err != nil {
				t.Fatal(err)
			}
		}
	}
	return most >> 10
}
