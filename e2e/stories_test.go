package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/importer/sourcetest"
	"aliquot/internal/store/storetest"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestStories runs testdata/*.txtar on each kind of database. testdata/README.md explains the
// commands of a story.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir:                "testdata",
				RequireUniqueNames: true,
				Setup:              func(env *testscript.Env) error { return begin(env, kind) },
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"serve":  tell((*story).serve),
					"halt":   tell((*story).halt),
					"kill9":  tell((*story).kill9),
					"signin": tell((*story).signin),
					"lab":    tell((*story).lab),
					"api":    tell((*story).api),
					"upload": tell((*story).upload),
					"put":    tell((*story).put),
					"fetch":  tell((*story).fetch),
					"keep":   tell((*story).keep),
					"field":  tell((*story).field),
					"await":  tell((*story).await),
					"turn":   tell((*story).turn),
					"sql":    tell((*story).sql),
					"flip":   tell((*story).flip),
					"source": tell((*story).source),
				},
			})
		})
	}
}

// story is what the commands of one script share.
type story struct {
	*testscript.TestScript
	in      installation
	sources *sourcetest.Server
	serving *process
	people  map[string]client
	last    answer
}

// begin gives a story its installation and the files of internal/demo/files.
func begin(env *testscript.Env, kind string) error {
	t := env.T().(testing.TB)
	in, sources := install(t, kind, env.WorkDir), sourcetest.Start(t)
	in.sources = sources.Environment()
	env.Vars = append(env.Vars, in.settings()...)
	env.Setenv("PATH", filepath.Dir(aliquot)+string(os.PathListSeparator)+env.Getenv("PATH"))
	s := &story{in: in, sources: sources, people: map[string]client{}}
	env.Values["story"] = s
	env.Defer(func() {
		if s.serving != nil {
			s.serving.kill()
			<-s.serving.ended
		}
	})
	return os.CopyFS(env.WorkDir, os.DirFS("../internal/demo/files"))
}

// tell makes a command of a method; a command has no "!", and its error ends the story.
func tell(do func(*story, []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		s := ts.Value("story").(*story)
		s.TestScript = ts
		ts.Check(do(s, args))
	}
}

func (s *story) serve(args []string) (err error) {
	if s.serving != nil {
		return fmt.Errorf("the server runs already")
	}
	s.serving, err = s.in.launch(args...)
	if err == nil {
		s.Setenv("BASE", s.serving.base)
	}
	return err
}

func (s *story) halt([]string) error {
	p := s.serving
	s.serving = nil
	return p.stop()
}

func (s *story) kill9([]string) error {
	s.serving.kill()
	<-s.serving.ended
	s.serving = nil
	return nil
}

func (s *story) know(name string, c client) {
	s.people[name] = c
	s.Setenv(name, c.id)
}

func (s *story) signin(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: signin NAME ORCID")
	}
	c, err := signIn(s.serving.base, args[1])
	s.know(args[0], c)
	return err
}

func (s *story) lab([]string) error {
	l, err := openLab(s.serving.base)
	s.know("olivia", l.owner)
	s.know("mario", l.manager)
	s.know("tomas", l.officer)
	s.Setenv("lab", l.id)
	s.Setenv("shipping", l.shipping)
	s.Setenv("material", l.material)
	return err
}

// person gives whom a name stands for, at the address of the server that runs now.
func (s *story) person(name string) (client, error) {
	c, known := s.people[name]
	if !known && name != "-" {
		return c, fmt.Errorf("nobody called %s has signed in", name)
	}
	if s.serving == nil {
		return c, fmt.Errorf("no server runs")
	}
	c.base = s.serving.base
	return c, nil
}

// call is what the commands that make a call share: NAME, what the command says, and "-> STATUS".
func (s *story) call(args []string, do func(c client, args []string) (answer, error)) error {
	n := len(args)
	if n < 4 || args[n-2] != "->" {
		return fmt.Errorf("a call begins with a NAME and ends with -> STATUS")
	}
	c, err := s.person(args[0])
	if err != nil {
		return err
	}
	if s.last, err = do(c, args[1:n-2]); err != nil {
		return err
	}
	if _, err := s.Stdout().Write(s.last.body); err != nil {
		return err
	}
	if got := fmt.Sprint(s.last.status); got != args[n-1] {
		return fmt.Errorf("the answer is %s", got)
	}
	return nil
}

func (s *story) api(args []string) error {
	return s.call(args, func(c client, args []string) (answer, error) {
		body := ""
		if len(args) > 2 {
			body = args[2]
			if file, ok := strings.CutPrefix(body, "@"); ok {
				body = s.ReadFile(file)
			}
			body = os.Expand(body, s.Getenv)
		}
		return c.call(args[0], args[1], body)
	})
}

func (s *story) upload(args []string) error {
	return s.call(args, func(c client, args []string) (answer, error) {
		return c.upload(args[0], []byte(s.ReadFile(args[0])), args[1:]...)
	})
}

func (s *story) put(args []string) error {
	return s.call(args, func(c client, args []string) (answer, error) {
		return c.send("PUT", args[0], "application/octet-stream", strings.NewReader(s.ReadFile(args[1])))
	})
}

func (s *story) fetch(args []string) error {
	return s.call(append(args, "->", "200"), func(c client, args []string) (answer, error) {
		got, err := c.call("GET", args[0], "")
		if want := s.ReadFile(args[1]); err == nil && got.status == 200 && string(got.body) != want {
			err = fmt.Errorf("%d bytes came that are not those of %s", len(got.body), args[1])
		}
		return answer{status: got.status}, err // the bytes are not for the log
	})
}

func (s *story) keep(args []string) error {
	value, err := s.last.at(args[1])
	s.Setenv(args[0], value)
	return err
}

func (s *story) field(args []string) error {
	got, err := s.last.at(args[0])
	if want := os.Expand(strings.Join(args[1:], " "), s.Getenv); err == nil && got != want {
		err = fmt.Errorf("%s is %s", args[0], got)
	}
	return err
}

func (s *story) await(args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("usage: await NAME PATH MEMBER VALUE")
	}
	c, err := s.person(args[0])
	if err != nil {
		return err
	}
	err = poll(func() error {
		if s.last, err = c.call("GET", args[1], ""); err != nil {
			return err
		}
		return s.field(args[2:])
	})
	_, written := s.Stdout().Write(s.last.body)
	return errors.Join(err, written)
}

func (s *story) turn(args []string) error {
	var request struct {
		WaitingOn *struct {
			Party string
			What  []string
		} `json:"waiting_on"`
	}
	if err := json.Unmarshal(s.last.body, &request); err != nil {
		return err
	}
	got := "nobody"
	if w := request.WaitingOn; w != nil {
		got = strings.Join(append([]string{w.Party}, w.What...), " ")
	}
	if want := strings.Join(args, " "); got != want {
		return fmt.Errorf("it is the turn of: %s", got)
	}
	return nil
}

func (s *story) sql(args []string) error {
	db, err := s.in.database()
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range args {
		done, err := db.Exec(os.Expand(statement, s.Getenv))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(fmt.Errorf("it touches no row: %s", statement), err)
		}
	}
	return nil
}

func (s *story) source(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: source PATH well, or source PATH STATUS [TEXT]")
	}
	if args[1] == "well" {
		s.sources.Break(args[0], nil)
		return nil
	}
	status, err := strconv.Atoi(args[1])
	s.sources.Break(args[0], func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Join(args[2:], " "))
	})
	return err
}

func (s *story) flip(args []string) error {
	names, err := filepath.Glob(s.MkAbs(args[0]))
	if err != nil || len(names) != 1 {
		return errors.Join(fmt.Errorf("%s is not one file but %v", args[0], names), err)
	}
	content, err := os.ReadFile(names[0])
	if err != nil {
		return err
	}
	content[len(content)/2] ^= 1
	return os.WriteFile(names[0], content, 0o600)
}
