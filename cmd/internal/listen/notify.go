package listen

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// Notifier tells systemd how the service is (sd_notify). Without systemd, its methods do nothing; so do those of a nil
// Notifier.
type Notifier struct {
	to       *net.UnixAddr
	watchdog time.Duration // how often systemd wants to hear of the service; 0 for never
}

// NewNotifier returns the Notifier of this process. It takes the variables of systemd from the environment, so that no
// child of the process speaks for it.
func NewNotifier() *Notifier {
	n := &Notifier{}
	if name := os.Getenv("NOTIFY_SOCKET"); name != "" {
		n.to = &net.UnixAddr{Name: name, Net: "unixgram"}
	}
	if pid := os.Getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if us, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 {
			n.watchdog = time.Duration(us) * time.Microsecond
		}
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"} {
		os.Unsetenv(name) // it fails for malformed names only
	}
	return n
}

// Ready says that the service answers, or answers again after Reloading.
func (n *Notifier) Ready(status string) { n.send("READY=1\nSTATUS=" + status) }

// Stopping says that the service ends.
func (n *Notifier) Stopping() { n.send("STOPPING=1\nSTATUS=finishing requests") }

// Reloading says that settings are being read again. Ready ends that.
func (n *Notifier) Reloading() {
	n.send(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", monotonic().Microseconds()))
}

// Opening says every so often that the service is about to be ready, until ctx ends: an archive that was not closed
// well may take longer to open than systemd waits.
func (n *Notifier) Opening(ctx context.Context) {
	const every = 10 * time.Second
	n.repeat(ctx, every, fmt.Sprintf("STATUS=opening the archive\nEXTEND_TIMEOUT_USEC=%d", (3*every).Microseconds()))
}

// Watch says that the service is alive as often as systemd wants to hear it, until ctx ends.
func (n *Notifier) Watch(ctx context.Context) {
	if n != nil && n.watchdog > 0 {
		n.repeat(ctx, max(n.watchdog/3, time.Millisecond), "WATCHDOG=1")
	}
}

func (n *Notifier) repeat(ctx context.Context, every time.Duration, state string) {
	if n == nil || n.to == nil {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		n.send(state)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// send sends a state. Nothing can be done if systemd does not take it.
func (n *Notifier) send(state string) {
	if n == nil || n.to == nil {
		return
	}
	if c, err := net.DialUnix("unixgram", nil, n.to); err == nil {
		_, _ = c.Write([]byte(state))
		c.Close()
	}
}
