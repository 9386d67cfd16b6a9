package devserver

import (
	"context"
	"fmt"
	"net"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

// webUI is Temporal's web interface, served beside the server.
type webUI struct {
	server *uiserver.Server
	ended  chan struct{}
}

// startUI returns when the UI accepts connections.
func startUI(ctx context.Context, port int, frontend, namespace string) (*webUI, error) {
	ui := &webUI{
		ended: make(chan struct{}),
		server: uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
			CORS:                uiconfig.CORS{CookieInsecure: true},
			DefaultNamespace:    namespace,
			DisableNewsFetch:    true,
			EnableUI:            true,
			HideLogs:            true,
			Host:                loopback,
			Port:                port,
			TemporalGRPCAddress: frontend,
		})),
	}
	go func() {
		defer close(ui.ended)
		_ = ui.server.Start()
	}()
	tick := time.NewTicker(readyInterval)
	defer tick.Stop()
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", loopbackAddr(port))
		if err == nil {
			return ui, conn.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ui, fmt.Errorf("devserver: UIPort %d: %w", port, err)
		}
	}
}

func (u *webUI) stop() {
	u.server.Stop()
	<-u.ended
}
