package transport_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/covel-engine/covel/model/transport"
)

func TestRoutable(t *testing.T) {
	t.Parallel()
	for addr, routable := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.15.0.1": true, "172.32.0.1": true, "100.63.0.1": true, "100.128.0.1": true, "192.0.1.1": true,
		"223.255.255.1": true, "0.1.2.3": false, "10.1.2.3": false, "127.0.0.1": false, "100.64.0.1": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.0.0.1": false, "192.0.2.1": false, "192.168.1.1": false, "198.18.0.1": false,
		"198.19.255.255": false, "198.51.100.7": false, "203.0.113.9": false, "224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"2606:4700::1111": true, "2001:4860::8888": true, "2001:3::1": true, "2001:4:112::1": true, "2001:20::1": true, "2001:30::1": true, "2001:1::1": true,
		"2001:1::3": true, "2001:1::4": false, "2001::1": false, "2001:1ff::1": false, "2001:db8::1": false, "2002::1": false, "3fff::1": false,
		"::1": false, "::": false, "fe80::1": false, "fc00::1": false, "ff02::1": false, "64:ff9b::1": false, "100::1": false, "4000::1": false,
		"::ffff:8.8.8.8": true, "::ffff:192.168.1.1": false,
	} {
		if got := transport.Routable(netip.MustParseAddr(addr)); got != routable {
			t.Errorf("%s: %v", addr, got)
		}
	}
}

// A name goes only to an address that was checked, at every connection.
func TestGuardDialsCheckedAddressesOnly(t *testing.T) {
	t.Parallel()
	errDialed := errors.New("dialed")
	for _, c := range []struct {
		url    string
		ips    []string
		dialed string
		forbid bool
	}{
		{"https://good.example/x", []string{"10.0.0.1", "8.8.8.8"}, "8.8.8.8:443", false},
		{"https://bad.example/x", []string{"10.0.0.1", "127.0.0.1"}, "", false},
		{"https://none.example/x", nil, "", false},
		{"https://[2606:4700::1111]:8443/x", nil, "[2606:4700::1111]:8443", false},
		{"http://localhost:8080/x", []string{"8.8.8.8", "127.0.0.1"}, "127.0.0.1:8080", false},
		{"http://localhost:8080/x", []string{"127.0.0.1"}, "", true},
		{"http://127.0.0.1:8080/x", nil, "127.0.0.1:8080", false},
		{"https://127.0.0.2/x", nil, "", false},
		{"http://good.example/x", []string{"8.8.8.8"}, "", false},
		{"https://metadata.google.internal./x", []string{"8.8.8.8"}, "", false},
		{"ftp://good.example/x", []string{"8.8.8.8"}, "", false},
	} {
		dialed := ""
		g := transport.NewGuard(transport.GuardConfig{
			Dial: func(_ context.Context, _, address string) (net.Conn, error) {
				dialed = address
				return nil, errDialed
			},
			ForbidLoopback: c.forbid,
			Lookup: func(context.Context, string) ([]net.IP, error) {
				var ips []net.IP
				for _, s := range c.ips {
					ips = append(ips, net.ParseIP(s))
				}
				return ips, nil
			},
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.RoundTrip(req) //nolint:bodyclose // there is no response
		var refused *transport.RefusedError
		if dialed != c.dialed || c.dialed == "" && !errors.As(err, &refused) || c.dialed != "" && !errors.Is(err, errDialed) {
			t.Errorf("%s: dialed %q, want %q (%v)", c.url, dialed, c.dialed, err)
		}
	}
}
