package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/files"
)

// TestForms_HostileOnesAreRefusedClearly wherever it is sent, whatever is wrong with it, and leaves no file behind.
func TestForms_HostileOnesAreRefusedClearly(t *testing.T) {
	t.Parallel()
	w := alone(t)
	folder, err := files.OpenFolder(filepath.Join(t.TempDir(), "files"))
	w.must(err)
	w.app.Files = folder
	hela := w.material("HeLa").ID
	const multi = "multipart/form-data; boundary=x"
	for _, form := range []struct{ who, path, field string }{
		{"mario", w.askPath(stemCells), "irb_attachment"},
		{"mario", "/share/new", "mta_file"},
		{"mario", fmt.Sprintf("/catalog/%d/edit", hela), "map_file"},
		{"mario", "/share/spreadsheet", "file"},
		{"mario", w.labOf("olivia") + "/documents", "file"},
		{"josiah", w.at("PDX model BL0269-F402") + "/documents/irb", "file"},
		{"mario", fmt.Sprintf("/catalog/%d/archive", hela), ""}, // which has none
	} {
		v, path := w.as(form.who), form.path
		v.cookies["__Host-lab"] = strings.TrimPrefix(w.labOf("olivia"), "/labs/")
		file := "--x\r\nContent-Disposition: form-data; name=\"" + form.field + "\"; filename=\"a.pdf\"\r\n\r\n" + pdf
		text := "\r\n--x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n"
		for what, c := range map[string]struct {
			kind string
			body io.Reader
			want []int
		}{
			"another type":      {"application/json", strings.NewReader("{}"), []int{400}},
			"no type":           {"", strings.NewReader("a=b"), []int{400}},
			"no boundary":       {"multipart/form-data", strings.NewReader(file), []int{400}},
			"another boundary":  {"multipart/form-data; boundary=y", strings.NewReader(file), []int{400}},
			"nothing":           {multi, strings.NewReader(""), []int{400}},
			"cut off in a file": {multi, strings.NewReader(file), []int{400}},
			"cut off in a text": {multi, strings.NewReader(file + text + "a"), []int{400}},
			"no text":           {multi, strings.NewReader(file + text + "a\xff\r\n--x--\r\n"), []int{400}},
			"no text, in a short form": {"application/x-www-form-urlencoded", strings.NewReader("note=%ff"),
				[]int{400}},
			"a long short form": {"application/x-www-form-urlencoded",
				io.MultiReader(strings.NewReader("note="), &endless{}), []int{413}},
			"many fields": {multi,
				strings.NewReader(file + strings.Repeat(text+"a", 4000) + "\r\n--x--\r\n"), []int{413}},
			"a long name": {multi,
				strings.NewReader(file + strings.ReplaceAll(text, "note", strings.Repeat("n", 1<<20+1)) +
					"\r\n--x--\r\n"), []int{413}},
			"many files": {multi, strings.NewReader(strings.Repeat(file+"\r\n", 5) + "--x--\r\n"),
				[]int{413}},
			"an endless text": {multi, io.MultiReader(strings.NewReader(file+text), &endless{}), []int{413}},
			"an endless head": {multi,
				io.MultiReader(strings.NewReader("--x\r\nContent-Disposition: "), &endless{}), []int{413}},
		} {
			if form.field == "" && what == "many files" { // it passes them over
				continue
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+path, c.body)
			r.Header.Set("Content-Type", c.kind)
			a := v.send(r)
			if inPlace := a.status == http.StatusUnprocessableEntity && a.has("#errors") &&
				slices.Contains(c.want, 400); !slices.Contains(c.want, a.status) && !inPlace {
				t.Errorf("%s to %s: %d, want %v: %s", what, path, a.status, c.want, a.text("h1, #errors"))
			}
			if text := a.text("h1") + a.text("#errors"); text == "" || strings.Contains(text, "%!") {
				t.Errorf("%s to %s: nothing is said: %s", what, path, a.text("h1, #errors"))
			}
		}
	}
	for key, err := range folder.Keys(t.Context()) {
		t.Errorf("the file %s was left behind, %v", key.Key, err)
	}
}

// TestUpload_TooLargeFileKeepsWhatWasTyped holds for what stands before it in the form: behind it nothing is
// read.
func TestUpload_TooLargeFileKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := alone(t)
	body := io.MultiReader(strings.NewReader("--x\r\nContent-Disposition: form-data; "+
		"name=\"requester_abstract\"\r\n\r\nTo learn.\r\n"+
		"--x\r\nContent-Disposition: form-data; name=\"irb_attachment\"; filename=\"a.pdf\"\r\n\r\n"+pdf), &endless{})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+w.askPath(stemCells), body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	a := w.as("josiah").send(r).want(http.StatusUnprocessableEntity)
	if a.input("requester_abstract") != "To learn." ||
		!strings.Contains(a.text("#f-irb_attachment-e"), "limit is 1.0 MB") {
		t.Errorf("%q, %s", a.input("requester_abstract"), a.text("#errors"))
	}
}
