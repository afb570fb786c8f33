package e2e

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/clamd/clamdtest"
	"aliquot/internal/files/filestest"
	"aliquot/internal/mail/mailtest"
	"aliquot/internal/store/storetest"
	"aliquot/internal/store/storetest/pgserver"
)

var (
	chaosTime = flag.Duration("chaos", 0, "how long TestChaos makes faults; 0: not at all")
	chaosSeed = flag.Uint64("seed", 0, "the seed of the faults of TestChaos; 0: a random one")
)

// TestChaos has several processes work while one fault after the other happens to it, in a random order: each kind once, then
// again until the time is up. After each fault the fleet recovers by itself. In the end all that was answered is there,
// nothing happened twice, and the record verifies.
func TestChaos(t *testing.T) {
	if *chaosTime == 0 {
		return // make chaos runs it
	}
	seed := *chaosSeed
	if seed == 0 {
		seed = mathrand.Uint64N(1e6) + 1
	}
	t.Logf("seed %d", seed)
	c := startFleet(t, mathrand.New(mathrand.NewPCG(seed, 0)))
	w := c.work()
	end := time.Now().Add(*chaosTime)
	var next []string
	for times := map[string]int{}; time.Now().Before(end) && !t.Failed(); {
		if len(next) == 0 {
			next = slices.Sorted(maps.Keys(faults))
			c.random.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
		}
		name := next[0]
		next = next[1:]
		began, answered := time.Now(), w.answered.Load()
		faults[name](c)
		healed := time.Now()
		c.recovers(name)
		times[name]++
		t.Logf("%s for %.1f s, %d calls answered, whole after %.1f s more", name, healed.Sub(began).Seconds(),
			w.answered.Load()-answered, time.Since(healed).Seconds())
	}
	w.stop()
	c.verify(w)
}

// fleet is an installation of several processes, with a network between them and the servers that they use.
type fleet struct {
	*testing.T
	random *mathrand.Rand
	in     installation
	clocks map[**process]*clock
	flags  map[**process][]string

	webs     [2]*process
	worker   *process
	database [2]*pgserver.Server // the primary and its standby
	primary  int
	disk     *disk // of both
	files    *filestest.S3Server
	mail     *mailtest.Server
	scanner  *clamdtest.Real

	toDatabase                 [2]*relay
	toFiles, toMail, toScanner *relay

	lab           lab
	josiah, tomas client
}

func startFleet(t *testing.T, random *mathrand.Rand) *fleet {
	t.Helper()
	if _, ok := storetest.Postgres(); !ok || !filestest.HasS3() || !clamdtest.HasReal() {
		t.Fatal("there is no PostgreSQL, no S3 server or no clamd: run make chaos")
	}
	c := &fleet{T: t, random: random, disk: mountDisk(t), files: filestest.StartS3(t), mail: mailtest.Start(t),
		scanner: clamdtest.StartReal(t)}
	primary, err := pgserver.StartIn(t.Context(), c.disk.folder)
	if err != nil {
		t.Fatal(err)
	}
	c.database[0] = primary
	t.Cleanup(func() {
		for _, s := range c.database {
			if s != nil {
				_ = s.Stop()
			}
		}
	})
	c.addStandby()
	for i, s := range c.database {
		c.toDatabase[i] = startRelay(t, hostOf(s))
	}
	c.toMail = startRelay(t, strings.TrimPrefix(c.mail.URL, "smtp://"))
	c.toScanner = startRelay(t, strings.TrimPrefix(c.scanner.Address, "clamd://"))
	c.toFiles = startRelay(t, c.files.Address.Endpoint)
	address := c.files.Address
	address.Endpoint = c.toFiles.address
	c.in = installation{folder: t.TempDir(), binary: withClock(t), postgres: strings.Replace(primary.URL(), hostOf(primary),
		c.toDatabase[0].address+","+c.toDatabase[1].address, 1), sources: filestest.Environ()}.filesIn(address.String())
	c.clocks, c.flags = map[**process]*clock{}, map[**process][]string{}
	for process, role := range map[**process]string{&c.webs[0]: "web", &c.webs[1]: "web", &c.worker: "worker"} {
		c.clocks[process] = newClock(t)
		c.flags[process] = []string{"--role", role, "--addr", freeAddress(t), "--rate-limit", "off", "--mail",
			"smtp://" + c.toMail.address, "--files-scan", "clamd://" + c.toScanner.address, "--job-lease", "10s"}
		c.start(process)
	}
	t.Cleanup(func() {
		for _, p := range []*process{c.webs[0], c.webs[1], c.worker} {
			p.kill()
			<-p.ended
		}
	})
	c.lab = c.webs[0].lab(t)
	for id, who := range map[string]*client{josiah: &c.josiah, tomas: &c.tomas} {
		if *who, err = signIn(c.webs[0].base, id); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// start starts a process of the fleet, again where it ended.
func (c *fleet) start(p **process) {
	c.Helper()
	in := c.in
	in.sources = append(in.sources[:len(in.sources):len(in.sources)], c.clocks[p].environ())
	if err := poll(func() (err error) {
		*p, err = in.start(c.flags[p]...)
		return err
	}); err != nil {
		c.Fatal(err)
	}
}

// addStandby gives the primary a standby that has each commit before it is answered.
func (c *fleet) addStandby() {
	c.Helper()
	primary := c.database[c.primary]
	standby, err := primary.Standby(c.Context())
	if err == nil {
		err = primary.Set(c.Context(), "synchronous_standby_names", "*")
	}
	if err != nil {
		c.Fatal(err)
	}
	c.database[1-c.primary] = standby
}

// recovers waits until every process is ready, and takes a request through its steps at each web process.
func (c *fleet) recovers(after string) {
	c.Helper()
	for _, p := range c.webs {
		josiah, mario := c.josiah, c.lab.manager
		josiah.base, mario.base = p.base, p.base
		if err := poll(func() error {
			if err := josiah.readiness(http.StatusOK, `"ready"`); err != nil {
				return err
			}
			return (&transfer{josiah: josiah, mario: mario, lab: c.lab.id, answered: func() {}}).write()
		}); err != nil {
			c.Errorf("after %s: %s: %v", after, p.base, err)
		}
	}
	if err := c.worker.ready(); err != nil {
		c.Errorf("after %s: the worker: %v", after, err)
	}
}

// work is what people did while faults happened.
type work struct {
	answered  atomic.Int64
	refusals  atomic.Int64 // 503 and 507
	unheard   atomic.Int64 // no answer came
	ended     chan struct{}
	working   sync.WaitGroup
	mu        sync.Mutex
	transfers []*transfer
	keyed     map[string]string // the id of each material by its title, of calls that were repeated until they were answered
}

// pause is how long a person does nothing before their next request.
const pause = 300 * time.Millisecond

// work lets people work at all web processes.
func (c *fleet) work() *work {
	w := &work{ended: make(chan struct{}), keyed: map[string]string{}}
	for i := range 6 {
		w.working.Go(func() {
			for n := i; w.goesOn(); n++ {
				base := c.flags[&c.webs[n%2]][3] // of the flag addr
				if i < 4 {
					c.transfer(w, "http://"+base)
				} else {
					c.keyed(w)
				}
			}
		})
	}
	return w
}

// goesOn reports whether there is to be more work, after a pause.
func (w *work) goesOn() bool {
	select {
	case <-w.ended:
		return false
	case <-time.After(pause):
		return true
	}
}

// stop ends the work.
func (w *work) stop() {
	close(w.ended)
	w.working.Wait()
}

// transfer takes a request through its steps, until one is not answered.
func (c *fleet) transfer(w *work, base string) {
	josiah, mario := c.josiah, c.lab.manager
	josiah.base, mario.base = base, base
	made := &transfer{josiah: josiah, mario: mario, lab: c.lab.id, answered: func() { w.answered.Add(1) }}
	c.expected(w, made.write())
	w.mu.Lock()
	w.transfers = append(w.transfers, made)
	w.mu.Unlock()
}

// expected counts an error that a fault may cause, and fails the test because of any other.
func (c *fleet) expected(w *work, err error) {
	refused, answered := errors.AsType[refusal](err)
	switch {
	case err == nil:
	case !answered:
		w.unheard.Add(1)
	case refused.status == http.StatusServiceUnavailable && refused.header.Get("Retry-After") != "",
		refused.status == http.StatusInsufficientStorage:
		w.refusals.Add(1)
	default:
		c.Errorf("a fault showed: %v\n%s", err, c.logged(refused.header.Get("X-Request-Id")))
	}
}

// logged returns what the logs of all processes say about a request.
func (c *fleet) logged(id string) (lines string) {
	logs, _ := filepath.Glob(filepath.Join(c.in.folder, "serve-*.log"))
	for _, path := range logs {
		log, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, id) {
				lines += line
			}
		}
	}
	return lines
}

// keyed makes a material with an Idempotency-Key, at one process after the other until it is answered.
func (c *fleet) keyed(w *work) {
	title, key := rand.Text(), rand.Text()
	for n := 0; w.goesOn(); n++ {
		manager := c.lab.manager
		manager.base = "http://" + c.flags[&c.webs[n%2]][3]
		made, err := did(manager.sendKeyed(key, "POST", "/materials/", "application/json", strings.NewReader(
			fmt.Sprintf(`{"category": "OTHER", "title": %q, "organization_id": %s}`, title, c.lab.id))))
		if c.expected(w, err); err != nil {
			continue
		}
		w.answered.Add(1)
		id, err := made.at("id")
		if err != nil {
			c.Error(err)
		}
		w.mu.Lock()
		w.keyed[title] = id
		w.mu.Unlock()
		return
	}
}

// verify holds what was answered against what there is.
func (c *fleet) verify(w *work) {
	c.Helper()
	josiah, mario := c.josiah, c.lab.manager
	josiah.base, mario.base = c.webs[0].base, c.webs[0].base
	c.Logf("%d calls answered, %d refused with 503 or 507, %d without an answer; %d requests, %d repeated calls",
		w.answered.Load(), w.refusals.Load(), w.unheard.Load(), len(w.transfers), len(w.keyed))
	for _, made := range w.transfers {
		made.josiah, made.mario = josiah, mario
		if err := poll(made.check); err != nil { // a file is withheld until it is scanned
			c.Errorf("request %s: %v", made.request, err)
		}
	}
	heardOnce(c.T, josiah, mario)
	times := map[string][]string{}
	for _, m := range listed[struct {
		ID    int64
		Title string
	}](c.T, mario, "/organizations/"+c.lab.id+"/materials?limit=200") {
		times[m.Title] = append(times[m.Title], fmt.Sprint(m.ID))
	}
	for title, id := range w.keyed {
		if !slices.Equal(times[title], []string{id}) {
			c.Errorf("the call that was answered with material %s made %v", id, times[title])
		}
	}
	c.mailsOnce()
	verified(c.T, c.in)
}

// mailsOnce checks that nobody was told the same twice: a message may be sent again when its answer was lost, but then
// it is the same message.
func (c *fleet) mailsOnce() {
	ids := map[string]string{}
	for _, m := range c.mail.Messages() {
		what, id := m.To+": "+m.Text, m.Header.Get("Message-Id")
		if before, ok := ids[what]; ok && before != id {
			c.Errorf("%s and %s say the same: %s", before, id, what)
		}
		ids[what] = id
	}
	c.Logf("%d different mails of %d", len(ids), len(c.mail.Messages()))
}
