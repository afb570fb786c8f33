package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aliquot/internal/store/storetest"
)

// storage is that of an installation, which a test fills and empties.
type storage struct {
	installation
	fill, empty func(p *process)
	whileFull   []string // begins commands that run on the full storage
}

// TestFullStorage_IsReadAndRefusesWrites fills the storage under a server: what is read is answered as ever, what is
// written with 507, also by a server that starts then; and once there is room, writes go through again.
func TestFullStorage_IsReadAndRefusesWrites(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) { fillsUp(t, limited(t, in)) })
	if small, ok := smallDisk(t); ok {
		t.Run("a disk", func(t *testing.T) {
			t.Parallel()
			fillsUp(t, small(t))
		})
	}
}

func fillsUp(t *testing.T, s storage) {
	p := s.serve(t, "--rate-limit", "off")
	l, content, kept := openStockedLab(t, p)
	reads := func(while string) {
		t.Helper()
		for _, path := range []string{"/materials/", "/materials/" + l.material, "/search/materials?search=HT-29",
			"/organizations/" + l.id,
			"/users/" + l.manager.id, "/users/" + l.manager.id + "/notifications/", kept, "/", "/catalog", "/catalog/" +
				l.material} {
			if _, err := did(l.manager.call("GET", path, "")); err != nil {
				t.Errorf("%s: GET %s: %v", while, path, err)
			}
		}
		if err := poll(func() error { return l.manager.readiness(http.StatusOK, "storage is full") }); err != nil {
			t.Errorf("%s: %v", while, err)
		}
	}
	refuses := func(while string) {
		t.Helper()
		for name, write := range map[string]func() (answer, error){
			"a record": func() (answer, error) {
				return l.manager.call("PATCH", "/materials/"+l.material,
					fmt.Sprintf(`{"additional_info": %q}`, strings.Repeat("x", 15_000+len(while))))
			},
			"an upload": func() (answer, error) { return l.manager.upload("more.txt", content) },
			"a form": func() (answer,
				error) {
				return l.manager.form("/account", "first_name", strings.Repeat("M", 200))
			},
		} {
			a, err := untilRefused(write)
			page := name == "a form"
			switch said := string(a.body); {
			case err != nil || a.status != http.StatusInsufficientStorage:
				t.Errorf("%s: %s: %d, %v: %s, want 507", while, name, a.status, err, said)
			case !page && !strings.Contains(said, `"STORAGE_FULL"`), page && !strings.Contains(said, "storage is full"):
				t.Errorf("%s: %s: the answer does not say why: %s", while, name, said)
			}
		}
	}
	s.fill(p)
	refuses("full")
	reads("full")
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if s.whileFull == nil {
		s.fill(nil) // what ending the process made room for too
	}
	again := s
	again.before = append(again.before[:len(again.before):len(again.before)], s.whileFull...)
	p = again.serve(t, "--rate-limit", "off")
	l.manager.base = p.base
	s.fill(p)
	refuses("started full")
	reads("started full")
	s.empty(p)
	if err := poll(func() error {
		_, err := did(l.manager.call("PATCH", "/materials/"+l.material, `{"additional_info": "room again"}`))
		return err
	}); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if _, err := did(l.manager.upload("later.txt", content)); err != nil {
		t.Errorf("an upload with room again: %v", err)
	}
	if err := poll(func() error { return l.manager.readiness(http.StatusOK, `"ready"`) }); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	verified(t, s.installation)
}

// openStockedLab opens a lab that has a file: its content, and the address at which that is read.
func openStockedLab(t *testing.T, p *process) (l lab, content []byte, address string) {
	t.Helper()
	l = p.lab(t)
	content = bytes.Repeat([]byte("ACGT\n"), 20_000)
	uploaded, err := did(l.manager.upload("reads.txt", content))
	address, urlErr := uploaded.at("download_url")
	if err := errors.Join(err, urlErr); err != nil {
		t.Fatal(err)
	}
	return l, content, address
}

// untilRefused writes until that is refused: a little room may be left in files that are there.
func untilRefused(write func() (answer, error)) (a answer, err error) {
	for range 2000 {
		if a, err = write(); err != nil || a.status >= 400 {
			break
		}
	}
	return a, err
}

// form sends the form of a page.
func (c client) form(path string, fields ...string) (answer, error) {
	values := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		values.Add(fields[i], fields[i+1])
	}
	r, err := http.NewRequest(http.MethodPost, c.base+path, strings.NewReader(values.Encode()))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: "__Host-session", Value: c.token})
	response, err := web.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return answer{"POST " + path, response.StatusCode, response.Header, raw}, err
}

// limited fills a storage up by a limit on the files of the process (EFBIG), which needs no rights. A PostgreSQL
// server, which it does not reach, says that its disk is full by a trigger of each table.
func limited(t *testing.T, in installation) storage {
	limit := func(size string) func(p *process) {
		return func(p *process) {
			if out, err := exec.Command("prlimit", "--pid", fmt.Sprint(p.cmd.Process.Pid), "--fsize="+size+
				":").CombinedOutput(); err != nil {
				t.Fatalf("prlimit: %v\n%s", err, out)
			}
		}
	}
	// What a start writes: the index of the log, and a log of some pages.
	s := storage{installation: in, fill: limit("4096"), empty: limit("unlimited"),
		whileFull: []string{"prlimit", "--fsize=32768:"}}
	if in.postgres == "" {
		return s
	}
	onEach := func(statement string) {
		db, err := in.database()
		if err == nil {
			defer db.Close()
			_, err = db.ExecContext(t.Context(),
				`CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
				DO $$ DECLARE name TEXT; BEGIN FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
				EXECUTE format('`+statement+`', name); END LOOP; END $$`)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.fill = func(p *process) {
		limit("4096")(p)
		onEach("CREATE OR REPLACE TRIGGER full_disk BEFORE INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION " +
			"full_disk()")
	}
	s.empty = func(p *process) {
		limit("unlimited")(p)
		onEach("DROP TRIGGER IF EXISTS full_disk ON %I")
	}
	return s
}

// smallDisk gives installations on a disk of their own, of few bytes, where this system lets us mount one: in a
// namespace of users and mounts, which needs no rights on most systems.
func smallDisk(t *testing.T) (small func(t *testing.T) storage, ok bool) {
	if err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", t.TempDir()).Run(); err != nil {
		t.Logf("no disk of its own here, so the storage is filled by a limit alone: %v", err)
		return nil, false
	}
	return func(t *testing.T) storage {
		in := install(t, storetest.SQLite, t.TempDir())
		data := filepath.Join(in.folder, "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		holder := exec.Command("unshare", "-Urm", "sh", "-c",
			`mount -t tmpfs -o size=12m,mode=0700 tmpfs "$0" && echo mounted && exec cat`, data)
		holder.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		stdin, err := holder.StdinPipe()
		stdout, outErr := holder.StdoutPipe()
		if err := errors.Join(err, outErr, holder.Start()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = errors.Join(stdin.Close(), holder.Wait()) })
		if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "mounted\n" {
			t.Fatalf("the disk is not mounted: %q, %v", line, err)
		}
		in.before = []string{"nsenter", "--target", fmt.Sprint(holder.Process.Pid), "--user", "--mount",
			"--preserve-credentials", "--"}
		filler := filepath.Join("/proc", fmt.Sprint(holder.Process.Pid), "root", data, "filler")
		return storage{installation: in,
			fill: func(*process) {
				file, err := os.OpenFile(filler, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				for err == nil {
					_, err = file.Write(make([]byte, 4096))
				}
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("the disk is not full: %v", err)
				}
			},
			empty: func(*process) {
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
			},
		}
	}, true
}
