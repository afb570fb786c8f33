package e2e

import (
	"crypto/rand"
	"time"

	"aliquot/internal/clamd/clamdtest"
)

// faults are what happens to a fleet, by name. Each ends by itself: what was killed is started again, and nobody helps
// the processes that use it.
var faults = map[string]func(c *fleet){
	"a killed web process": func(c *fleet) { c.restart(&c.webs[c.random.IntN(2)]) },
	"a killed worker":      func(c *fleet) { c.restart(&c.worker) },
	"a killed primary, and its standby promoted": func(c *fleet) {
		old := c.primary
		c.must(c.database[old].Kill())
		c.hold(2 * time.Second)
		c.must(c.database[1-old].Promote(c.Context()))
		c.must(c.database[old].Stop())
		c.database[old], c.primary = nil, 1-old
		c.addStandby()
		c.toDatabase[old].set(func() { c.toDatabase[old].to = hostOf(c.database[old]) })
	},
	"a killed S3 server": func(c *fleet) {
		c.files.Kill()
		c.hold(5 * time.Second)
		c.files.Start(c)
	},
	"a killed virus scanner, and an infected file": func(c *fleet) {
		c.scanner.Kill()
		by := c.tomas // whose notifications nobody counts
		by.base = c.webs[0].base
		made, err := did(by.upload(rand.Text()+".pdf", []byte("%PDF-1.4\n"+clamdtest.Eicar+"\n")))
		id, err := id(made, err)
		c.must(err)
		c.hold(5 * time.Second)
		c.scanner.Restart(c)
		c.must(by.untilScanned(id, "INFECTED"))
	},
	"no network to the virus scanner":  func(c *fleet) { c.disturb(broken, c.toScanner) },
	"no mail server":                   func(c *fleet) { c.disturb(broken, c.toMail) },
	"no network to the files":          func(c *fleet) { c.disturb(broken, c.toFiles) },
	"a silent network to files":        func(c *fleet) { c.disturb(silent, c.toFiles) },
	"no network to the database":       func(c *fleet) { c.disturb(broken, c.toDatabase[:]...) },
	"a silent network to the database": func(c *fleet) { c.disturb(silent, c.toDatabase[:]...) },
	"a slow database":                  func(c *fleet) { c.disturb(slowed, c.toDatabase[:]...) },
	"a full disk of the database": func(c *fleet) {
		c.disk.fill(c)
		c.hold(5 * time.Second)
		c.disk.empty(c)
		for _, s := range c.database {
			c.must(poll(func() error { return s.Resume(c.Context()) }))
		}
	},
	"a clock that jumps ahead": func(c *fleet) { c.jumps(time.Hour) },
	"a clock that jumps back":  func(c *fleet) { c.jumps(-time.Hour) },
}

// hold lets a fault last, for a random part of the longest time.
func (c *fleet) hold(longest time.Duration) {
	time.Sleep(longest/5 + time.Duration(c.random.Int64N(int64(longest*4/5))))
}

func (c *fleet) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// restart kills a process and starts it again a little later.
func (c *fleet) restart(p **process) {
	(*p).kill()
	<-(*p).ended
	c.hold(2 * time.Second)
	c.start(p)
}

// disturb has networks do something for a while.
func (c *fleet) disturb(do func(r *relay, on bool), networks ...*relay) {
	for _, on := range []bool{true, false} {
		for _, r := range networks {
			r.set(func() { do(r, on) })
		}
		if on {
			c.hold(6 * time.Second)
		}
	}
}

func broken(r *relay, on bool) { r.broken = on }

func silent(r *relay, on bool) { r.silent = on }

func slowed(r *relay, on bool) {
	if r.delay = 0; on {
		r.delay = 50 * time.Millisecond
	}
}

// jumps has the clock of one process jump, and back again.
func (c *fleet) jumps(by time.Duration) {
	p := []**process{&c.webs[0], &c.webs[1], &c.worker}[c.random.IntN(3)]
	c.clocks[p].jump(by)
	c.hold(5 * time.Second)
	c.clocks[p].jump(0)
}
