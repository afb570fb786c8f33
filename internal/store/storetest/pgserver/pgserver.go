//go:build unix

// Package pgserver runs PostgreSQL servers of tests, each in a temporary folder of its own.
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	startTime = 60 * time.Second // for the server to answer
	stopTime  = 20 * time.Second // for the server to end by itself
)

// fast gives up what only matters after a crash.
var fast = []string{"fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"}

// Server is a running PostgreSQL server and its folder.
type Server struct {
	url      string
	port     int
	settings []string
	folder   string
	bin      string
	owner    *syscall.SysProcAttr // whom its processes run as
	cmd      *exec.Cmd
	ended    chan struct{} // closed when cmd has ended
}

// Start makes a folder, fills it and starts a server in it, which gives up durability for speed unless it is to be
// durable. Nothing is left of a failed start.
func Start(ctx context.Context, durable bool) (*Server, error) {
	return initialize(ctx, durable, parent(durable))
}

// StartIn starts a server as Start does, in a folder of another folder, as on a disk of its own.
func StartIn(ctx context.Context, parent string) (*Server, error) {
	return initialize(ctx, true, parent)
}

func initialize(ctx context.Context, durable bool, parent string) (*Server, error) {
	return start(ctx, durable, parent, "initdb", "--pgdata=data", "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync")
}

// Standby starts a standby of the server, beside it, which follows it until it is promoted.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	return start(ctx, true, filepath.Dir(s.folder), "pg_basebackup", "--pgdata=data", "--write-recovery-conf",
		"--checkpoint=fast", "--wal-method=stream", "--no-sync", "--dbname="+s.url)
}

// Pair starts a server and a standby that has each commit before it is answered. The address has both, for programs
// that find out which one takes writes. Nothing is left of a failed start.
func Pair(ctx context.Context) (primary, standby *Server, address string, err error) {
	if primary, err = Start(ctx, true); err != nil {
		return nil, nil, "", err
	}
	if standby, err = primary.Standby(ctx); err == nil {
		err = primary.Set(ctx, "synchronous_standby_names", "*")
	}
	if err != nil {
		if standby != nil {
			err = errors.Join(err, standby.Stop())
		}
		return nil, nil, "", errors.Join(err, primary.Stop())
	}
	both := fmt.Sprintf("127.0.0.1:%d,127.0.0.1:%d", primary.port, standby.port)
	return primary, standby, strings.Replace(primary.url, fmt.Sprintf("127.0.0.1:%d", primary.port), both, 1), nil
}

// Kill ends the server process at once. Those that serve connections end when they notice.
func (s *Server) Kill() error {
	err := s.cmd.Process.Kill()
	<-s.ended
	return err
}

// Promote makes a standby a server that can be written to.
func (s *Server) Promote(ctx context.Context) error {
	if out, err := s.command(ctx, "pg_ctl", "promote", "--pgdata=data").CombinedOutput(); err != nil {
		return fmt.Errorf("pg_ctl: %w\n%s", err, out)
	}
	return nil
}

// start starts a server in a new folder in parent, whose data a program makes.
func start(ctx context.Context, durable bool, parent, program string, args ...string) (_ *Server, err error) {
	s := &Server{}
	if s.bin, err = findBin(ctx); err != nil {
		return nil, err
	}
	if s.folder, err = os.MkdirTemp(parent, "aliquot-pg-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := s.giveToOwner(); err != nil {
		return nil, err
	}
	if out, err := s.command(ctx, program, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	s.url = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
	s.settings = []string{
		"listen_addresses=127.0.0.1", fmt.Sprintf("port=%d", s.port), "unix_socket_directories=" + s.folder,
		"max_connections=200", "shared_buffers=128MB",
	}
	if !durable {
		s.settings = append(s.settings, fast...)
	}
	return s, s.launch(ctx)
}

// parent returns the folder that the server's folder is made in: of a server that gives up durability the one in memory
// that Linux has, if there is room for 4 GiB, since a database is hundreds of files, and making and dropping it takes a
// sixth of the time there. Otherwise it is empty, which stands for that of temporary files.
func parent(durable bool) string {
	const inMemory = "/dev/shm"
	var room syscall.Statfs_t
	if durable || syscall.Statfs(inMemory, &room) != nil || room.Bavail*uint64(room.Bsize) < 4<<30 {
		return ""
	}
	return inMemory
}

// URL is where the server's database "postgres" is.
func (s *Server) URL() string { return s.url }

// Restart stops the server with a signal (SIGINT: at once, SIGQUIT: as if it had crashed) and starts it again.
func (s *Server) Restart(ctx context.Context, signal syscall.Signal) error {
	if err := s.cmd.Process.Signal(signal); err != nil {
		return err
	}
	select {
	case <-s.ended:
	case <-time.After(stopTime):
		return errors.New("the server does not stop")
	}
	return s.launch(ctx)
}

// Resume starts the server again if it has ended, and waits until it answers.
func (s *Server) Resume(ctx context.Context) error {
	select {
	case <-s.ended:
		return s.launch(ctx)
	default:
		return s.wait(ctx)
	}
}

// Set changes a setting of the server that needs no restart.
func (s *Server) Set(ctx context.Context, setting, value string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "ALTER SYSTEM SET "+setting+" = '"+value+"'")
	if err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_reload_conf()")
	}
	return err
}

// launch starts the server process and waits until it answers. It is no child of ctx: Stop ends it.
func (s *Server) launch(ctx context.Context) error {
	log, err := os.Create(s.logFile())
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", "data"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	s.cmd = s.command(context.Background(), "postgres", args...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return err
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // its log says why it ended
		close(ended)
	}(s.cmd, s.ended)
	return s.wait(ctx)
}

// wait returns when the server answers. It asks on the socket in the folder: on the port another
// server might answer, were it taken since freePort looked.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	socket := fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres sslmode=disable", s.folder, s.port)
	for {
		conn, err := pgx.Connect(ctx, socket)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.ended:
			log, _ := os.ReadFile(s.logFile())
			return fmt.Errorf("the server did not start:\n%s", log)
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends the server at once, without the work that would keep its data, and removes the folder.
func (s *Server) Stop() error {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGQUIT) // fails when it has ended
		select {
		case <-s.ended:
		case <-time.After(stopTime):
			_ = s.cmd.Process.Kill()
			<-s.ended
		}
	}
	return os.RemoveAll(s.folder)
}

func (s *Server) logFile() string { return filepath.Join(s.folder, "log") }

// command prepares one of PostgreSQL's programs. It runs in the folder, as its owner, and in a
// process group of its own, so that ^C reaches the command first and the server after it.
func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = s.owner
	return cmd
}

// giveToOwner settles whom the server runs as: us, or the user postgres when we are root, whom
// PostgreSQL refuses.
func (s *Server) giveToOwner() error {
	s.owner = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return nil
	}
	postgres, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, uidErr := strconv.ParseUint(postgres.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(postgres.Gid, 10, 32)
	s.owner.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(uidErr, gidErr, os.Chown(s.folder, int(uid), int(gid)))
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// Installed reports whether there is a server to start.
func Installed(ctx context.Context) bool {
	_, err := findBin(ctx)
	return err == nil
}

// findBin returns the folder of PostgreSQL's programs: the newest of Debian's, else the one that pg_config names, else
// the one of initdb in PATH.
func findBin(ctx context.Context) (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is fine
	if len(found) > 0 {
		return filepath.Dir(newest(found)), nil
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		bin := strings.TrimSpace(string(out))
		if _, err := os.Stat(filepath.Join(bin, "initdb")); err == nil {
			return bin, nil
		}
	}
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("no PostgreSQL server is installed: neither /usr/lib/postgresql, pg_config nor PATH " +
			"leads to initdb")
	}
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
		return "", err
	}
	return filepath.Dir(initdb), nil
}

// newest returns the path with the highest version of /usr/lib/postgresql/VERSION/bin/initdb.
func newest(paths []string) string {
	version := func(path string) float64 {
		v, _ := strconv.ParseFloat(strings.Split(path, "/")[4], 64) // 9.6 was the last with a point
		return v
	}
	return slices.MaxFunc(paths, func(a, b string) int { return int(10 * (version(a) - version(b))) })
}
