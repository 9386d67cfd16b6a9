package transport

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// RefusedError is a target that may not be connected to.
type RefusedError struct {
	Host   string
	Reason string
}

// Error names the host and why it is refused.
func (e *RefusedError) Error() string { return fmt.Sprintf("host %s is refused: %s", e.Host, e.Reason) }

// GuardConfig assembles a Guard.
type GuardConfig struct {
	// Dial opens a checked address. Defaults to a net.Dialer with 10 s.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// ForbidLoopback refuses localhost too. Defaults to false.
	ForbidLoopback bool
	// Lookup resolves names. Defaults to the machine's resolver.
	Lookup func(ctx context.Context, host string) ([]net.IP, error)
}

// Guard is layer 4: it opens connections to globally routable addresses only,
// and to loopback by its three names (spec 04 §5.3). Names are resolved for
// each connection, which goes to an address that was checked.
type Guard struct {
	config    GuardConfig
	transport *http.Transport
}

// NewGuard gives a guarded connection layer. It uses no proxy.
func NewGuard(c GuardConfig) *Guard {
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	if c.Lookup == nil {
		c.Lookup = func(ctx context.Context, host string) ([]net.IP, error) {
			return net.DefaultResolver.LookupIP(ctx, "ip", host)
		}
	}
	g := &Guard{config: c}
	g.transport = &http.Transport{
		DialContext: g.dial, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second, MaxIdleConns: 128,
		MaxIdleConnsPerHost: 64, TLSHandshakeTimeout: 10 * time.Second,
	}
	return g
}

// RoundTrip checks the URL and sends.
func (g *Guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.Check(req.URL); err != nil {
		return nil, err
	}
	return g.transport.RoundTrip(req)
}

// CloseIdleConnections closes connections that no call uses.
func (g *Guard) CloseIdleConnections() { g.transport.CloseIdleConnections() }

// loopbackNames may be reached, also by plain http.
var loopbackNames = []string{"localhost", "127.0.0.1", "::1"}

// metadataNames answer cloud credentials to whoever asks.
var metadataNames = []string{"metadata.google.internal", "metadata.internal"}

// Check refuses what can be told without a connection.
func (g *Guard) Check(u *url.URL) error {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	loopback := slices.Contains(loopbackNames, host)
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return &RefusedError{Host: host, Reason: "scheme " + u.Scheme + " is not http or https"}
	case u.Scheme == "http" && !loopback:
		return &RefusedError{Host: host, Reason: "plain http goes to localhost, 127.0.0.1 and ::1 only; use https"}
	case slices.Contains(metadataNames, host):
		return &RefusedError{Host: host, Reason: "it serves cloud credentials"}
	case loopback && g.config.ForbidLoopback:
		return &RefusedError{Host: host, Reason: "COVEL_LLM_ALLOW_LOOPBACK=false forbids loopback"}
	}
	if addr, err := netip.ParseAddr(host); err == nil && !loopback && !Routable(addr) {
		return &RefusedError{Host: host, Reason: "the address is not globally routable"}
	}
	return nil
}

// dial connects to an address that was checked.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(name); err == nil { // Check has passed it
		return g.config.Dial(ctx, network, net.JoinHostPort(addr.String(), port))
	}
	ips, err := g.config.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	last := error(&RefusedError{Host: name, Reason: "it has no globally routable address"})
	for _, ip := range ips {
		addr, ok := netip.AddrFromSlice(ip)
		if addr = addr.Unmap(); !ok || name == "localhost" && !addr.IsLoopback() || name != "localhost" && !Routable(addr) {
			continue
		}
		conn, err := g.config.Dial(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// The special-purpose ranges of spec 04 §5.3.
var (
	closedV4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3")
	globalV6 = netip.MustParsePrefix("2000::/3")
	openV6   = prefixes("2001:3::/32", "2001:4:112::/48", "2001:20::/28", "2001:30::/28", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128")
	closedV6 = prefixes("2002::/16", "2001:db8::/32", "3fff::/20", "2001::/23")
)

// Routable says whether an address is a globally routable one.
func Routable(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	contains := func(p netip.Prefix) bool { return p.Contains(addr) }
	if addr.Is4() {
		return !slices.ContainsFunc(closedV4, contains)
	}
	return globalV6.Contains(addr) && (slices.ContainsFunc(openV6, contains) || !slices.ContainsFunc(closedV6, contains))
}
