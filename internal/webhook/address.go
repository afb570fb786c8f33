package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// specialRanges are the ranges of the IANA registries of special-purpose addresses (for IPv4 all, for IPv6 those inside
// 2000::/3), multicast and reserved ranges, and the one public address at which a cloud serves its machines' secrets.
// Ranges that embed an IPv4 address are refused altogether: a translator would forward to it.
var specialRanges = prefixes(
	"0.0.0.0/8",         // this network
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // carrier-grade NAT
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // the host of a virtual machine at Azure
	"169.254.0.0/16",    // link-local; where clouds serve their machines' secrets
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // AMT
	"192.88.99.0/24",    // 6to4 relays
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarking
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, and broadcast
	"2001::/23",         // protocol assignments: Teredo, benchmarking, ORCHID and others
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
)

// unicast contains the public IPv6 addresses. Outside of it are loopback, link-local, unique local, multicast, mapped
// or translated IPv4 (NAT64), and unassigned ranges.
var unicast = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range list {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// public reports whether an address is publicly reachable on the internet.
func public(a netip.Addr) bool {
	if a.Zone() != "" || !a.Is4() && !unicast.Contains(a) {
		return false
	}
	for _, p := range specialRanges {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// CheckURL returns an error with the remedy if no message may be sent to an address: it has to be https to a public
// host, at port 443 or one from 1024 on, without credentials and fragment. If private is set it may also be http, at
// any host and port. The addresses of a host name are only known, and checked again, when a message is sent.
func CheckURL(address string, private bool) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("must be a web address, such as https://lab.example.org/aliquot")
	}
	switch host := u.Hostname(); {
	case u.Scheme == "http" && !private:
		return errors.New("must start with https://, because http can be read and changed in transit")
	case u.User != nil:
		return errors.New("must not contain a user name or password; messages are signed instead")
	case strings.Contains(address, "#"):
		return errors.New("must not contain a fragment (#...), which is never sent")
	case !validPort(u, private):
		return errors.New("must have no port, or 443, or one from 1024 to 65535")
	case strings.ContainsFunc(host, func(r rune) bool { return r > '~' }):
		return errors.New("must have its host in ASCII letters, with xn-- before each part that has others")
	default:
		return checkHost(host, private)
	}
}

func validPort(u *url.URL, private bool) bool {
	if strings.HasSuffix(u.Host, ":") {
		return false
	}
	if u.Port() == "" {
		return true
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && (n == 443 || n >= 1024 || private && n > 0)
}

func checkHost(host string, private bool) error {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	last := labels[len(labels)-1]
	if a, err := netip.ParseAddr(host); err == nil {
		if !private && !public(a) {
			return errors.New("must lead to a public address; this one is private or reserved")
		}
		return nil
	}
	// some programs read it as an IPv4 address, such as 127.1
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || last == "0x" {
		return errors.New("must have a host name, or an IPv4 address of four numbers, such as 192.0.43.8")
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || len(host) > 254 ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return fmt.Errorf("must have a host name of letters, digits, hyphens and dots, which %.100q is not", host)
		}
	}
	if private {
		return nil
	}
	if len(labels) == 1 {
		return errors.New("must have a full host name, such as lab.example.org")
	}
	switch last {
	case "localhost", "local", "internal", "lan", "home", "corp", "intranet", "private", "localdomain", "onion":
		return fmt.Errorf("must lead to a public host; .%s is for private networks", last)
	case "arpa":
		return errors.New("must lead to a public host; .arpa has none")
	}
	return nil
}
