package devserver

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

func loopbackAddr(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}

// ports are the listening ports of one server. The Temporal services open
// their listeners themselves, so between choosing a port and using it another
// process can take it; Start then tries again with other ports.
type ports struct {
	frontend, history, matching, worker, ui int
}

// choosePorts holds all ports open at once while it chooses, so that they
// differ. A port asked for by number that is taken is an error.
func choosePorts(ctx context.Context, frontend, ui int) (ports, error) {
	var (
		chosen ports
		config net.ListenConfig
		held   []net.Listener
	)
	defer func() {
		for _, listener := range held {
			_ = listener.Close()
		}
	}()
	for _, want := range []struct {
		name string
		port int
		dest *int
	}{
		{"FrontendPort", frontend, &chosen.frontend},
		{"UIPort", ui, &chosen.ui},
		{"history", 0, &chosen.history},
		{"matching", 0, &chosen.matching},
		{"worker", 0, &chosen.worker},
	} {
		if want.port == NoUI {
			*want.dest = NoUI
			continue
		}
		listener, err := config.Listen(ctx, "tcp", loopbackAddr(want.port))
		if err != nil {
			return ports{}, fmt.Errorf("devserver: %s %d cannot be used: %w; stop what listens there or give another port", want.name, want.port, err)
		}
		held = append(held, listener)
		address, ok := listener.Addr().(*net.TCPAddr)
		if !ok {
			return ports{}, fmt.Errorf("devserver: %s: listener has the address %v, not a TCP one", want.name, listener.Addr())
		}
		*want.dest = address.Port
	}
	return chosen, nil
}
