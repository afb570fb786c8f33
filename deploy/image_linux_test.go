package deploy_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// image is what the last stage of the Dockerfile makes, on an empty base.
type image struct {
	root     string
	environ  []string
	command  []string
	uid, gid int
}

// buildImage follows the last stage of the Dockerfile without a daemon. The stage before is a folder.
func buildImage(t *testing.T, stage string) image {
	t.Helper()
	made := image{root: t.TempDir()}
	text := read(t, "../Dockerfile")
	for line := range strings.Lines(text[strings.LastIndex(text, "\nFROM ")+1:]) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "FROM":
			if !strings.HasPrefix(rest, "gcr.io/distroless/static-") || !strings.HasSuffix(rest, ":nonroot") {
				t.Errorf("the base is %s", rest)
			}
		case "COPY":
			made.copy(t, stage, strings.Fields(rest))
		case "ENV":
			made.environ = append(made.environ, strings.Fields(rest)...)
		case "USER":
			uid, gid, _ := strings.Cut(rest, ":")
			made.uid, made.gid = number(t, uid), number(t, gid)
		case "ENTRYPOINT", "CMD":
			var part []string
			if err := json.Unmarshal([]byte(rest), &part); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			made.command = append(made.command, part...)
		case "EXPOSE", "VOLUME":
		default:
			t.Fatalf("this test does not know %q", line)
		}
	}
	return made
}

// copy follows COPY --from=build [--chown=UID:GID] SOURCE TARGET.
func (made *image) copy(t *testing.T, stage string, args []string) {
	t.Helper()
	uid, gid := "0", "0"
	if owner, ok := strings.CutPrefix(args[1], "--chown="); ok {
		uid, gid, _ = strings.Cut(owner, ":")
	}
	source, target := filepath.Join(stage, args[len(args)-2]), filepath.Join(made.root, args[len(args)-1])
	if err := os.CopyFS(target, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return // everything belongs to whoever runs the test
	}
	if err := filepath.WalkDir(target, func(name string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Chown(name, number(t, uid), number(t, gid))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// runsAsImage: the program serves with nothing but the files of the image, as its user. Other users than root see the
// files of the machine too.
func runsAsImage(t *testing.T, program string) {
	stage := t.TempDir()
	for _, folder := range []string{"image/usr/bin", "image/var/lib/aliquot"} {
		if err := os.MkdirAll(filepath.Join(stage, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, stage, nil, "cp", program, "image/usr/bin/aliquot")
	made := buildImage(t, stage)
	if made.uid == 0 || made.gid == 0 {
		t.Errorf("the image runs as %d:%d", made.uid, made.gid)
	}
	if err := os.Mkdir(filepath.Join(made.root, "tmp"), 0o777|fs.ModeSticky); err != nil { // as the base has
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), made.command[0], made.command[1:]...)
	cmd.Env = slices.Concat(made.environ, []string{"ALIQUOT_ADDR=127.0.0.1:0", "ALIQUOT_PUBLIC_URL=http://localhost:8080",
		"ALIQUOT_ACCESS=members"})
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: made.root,
			Credential: &syscall.Credential{Uid: uint32(made.uid), Gid: uint32(made.gid)}}
	} else {
		cmd.Path = filepath.Join(made.root, made.command[0])
		cmd.Env = append(cmd.Env, "ALIQUOT_DATA="+filepath.Join(made.root, "var/lib/aliquot"))
	}
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended
	if err := cmd.Wait(); err != nil || !strings.HasPrefix(line, "Aliquot is ready at ") {
		t.Errorf("it printed %q and ended: %v\n%s", line, err, log.String())
	}
}
