package webhook

import (
	"math/rand/v2"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// registry is every range of the IANA IPv4 and IPv6 Special-Purpose Address Registries, as they were
// read in 2026, and multicast.
var registry = prefixes(
	"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.0.0/29",
	"192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24",
	"192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"255.255.255.255/32", "224.0.0.0/4",
	"::1/128", "::/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23",
	"2001::/32", "2001:1::1/128",
	"2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28",
	"2001:30::/28", "2001:db8::/32",
	"2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "ff00::/8", "fec0::/10",
	"::/96",
)

// within is an address of a prefix whose other bits are those of seed.
func within(p netip.Prefix, seed [16]byte) netip.Addr {
	bits := p.Addr().AsSlice()
	for i := range bits {
		for bit := range 8 {
			if i*8+bit >= p.Bits() {
				bits[i] = bits[i]&^(0x80>>bit) | seed[i]&(0x80>>bit)
			}
		}
	}
	a, _ := netip.AddrFromSlice(bits)
	return a
}

func TestPublicAddress_ExcludesSpecialPurposeRanges(t *testing.T) {
	t.Parallel()
	for _, p := range registry {
		for n := range 1000 {
			var seed [16]byte
			for i := range seed {
				seed[i] = byte(rand.Uint32()) //nolint:gosec // any bits
				if n < 2 {
					seed[i] = byte(-n) // the first address and the last
				}
			}
			a := within(p, seed)
			if public(a) || public(a.WithZone("eth0")) ||
				CheckURL("https://"+netip.AddrPortFrom(a, 443).String(), false) == nil {
				t.Fatalf("%s of %s is taken for public", a, p)
			}
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestPublicAddress_Examples(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
		"172.15.255.255", "172.32.0.0",
		"192.0.1.0", "192.167.255.255", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111",
		"2a00:1450:4001::200e", "2001:4860:4860::8888",
		"2001:200::1", "2003::1", "2620:4f:8001::1"} {
		if !public(netip.MustParseAddr(text)) {
			t.Errorf("%s is refused", text)
		}
	}
}

func TestCheckURL_SaysHowToCorrectAnAddress(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for address, says := range map[string]string{
		"https://lab.example.org/aliquot?x=1": "", "https://lab.example.org": "", "https://lab.example.org.:8443/": "",
		"HTTPS://LAB.EXAMPLE.ORG": "",
		"https://1.1.1.1/":        "", "https://[2606:4700::1111]:443/": "", "https://my_lab.example.org/ü": "",
		"": "web address", "lab.example.org": "web address", "/x": "web address", "https:///x": "web address",
		"https:lab.example.org": "web address",
		"ftp://lab.example.org": "web address", "javascript:alert(1)": "web address",
		"file:///etc/passwd": "web address", "https://a b.org": "web address",
		"https://lab.example.org:x": "web address", "https://lab.example.org/\x00": "web address",
		"https://[::1":           "web address",
		"http://lab.example.org": "https://", "https://user:pass@lab.example.org": "password",
		"https://@lab.example.org":   "password",
		"https://lab.example.org/#x": "fragment", "https://lab.example.org/#": "fragment",
		"https://lab.example.org:25": "port", "https://lab.example.org:80": "port", "https://lab.example.org:": "port",
		"https://lab.example.org:0": "port", "https://lab.example.org:65536": "port",
		"https://bücher.example.org": "ASCII",
		"https://127.0.0.1":          "private", "https://10.1.2.3:8443": "private", "https://[::1]": "private",
		"https://[::ffff:127.0.0.1]": "private", "https://[::ffff:8.8.8.8]": "private",
		"https://169.254.169.254/latest/meta-data": "private", "https://[fe80::1%25eth0]": "private",
		"https://[64:ff9b::a00:1]": "private", "https://[2002:a00:1::]": "private",
		"https://127.1": "four numbers", "https://2130706433": "four numbers", "https://0x7f000001": "four numbers",
		"https://0177.0.0.1": "four numbers", "https://127.0.0.1.": "four numbers", "https://1.2.3.256": "four numbers",
		"https://localhost": "full host name", "https://intranet/x": "full host name",
		"https://db.localhost": ".localhost", "https://printer.local": ".local",
		"https://metadata.google.internal": ".internal", "https://1.0.0.127.in-addr.arpa": ".arpa",
		"https://lab..example.org": "letters", "https://.example.org": "letters", "https://" + long + ".org": "letters",
		"https://a*b.org": "letters",
	} {
		err := CheckURL(address, false)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", address, err, says)
		}
	}
}

func TestCheckURL_TakesPrivateHostsWhereAllowed(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{
		"http://127.0.0.1:80": true, "http://localhost:8080/x": true, "http://intranet": true, "https://[::1]": true,
		"http://printer.local": true, "http://[fe80::1%25eth0]/": true,
		"http://user@localhost": false, "http://localhost/#x": false, "ftp://localhost": false, "http://": false,
		"http://127.1": false,
	} {
		if err := CheckURL(address, true); (err == nil) != good {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func FuzzAddresses(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add(netip.MustParseAddr("::ffff:10.0.0.1").AsSlice())
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok || !public(a) {
			return
		}
		for _, p := range registry {
			if p.Contains(a) || p.Contains(a.Unmap()) {
				t.Errorf("%s of %s is taken for public", a, p)
			}
		}
	})
}

func FuzzCheckURL(f *testing.F) {
	for _, address := range []string{"https://lab.example.org:8443/a?b=c", "https://127.0.0.1",
		"https://[::ffff:127.0.0.1]", "https://0x7f.1", "https://a@b#c", "http://localhost."} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if CheckURL(address, false) != nil {
			return
		}
		if err := CheckURL(address, true); err != nil {
			t.Errorf("%q is public, but not where private ones are taken too: %v", address, err)
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Fragment != "" || u.Hostname() == "" {
			t.Fatalf("%q passes: %v", address, err)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && !public(a) {
			t.Errorf("%q passes", address)
		}
	})
}
