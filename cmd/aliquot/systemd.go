package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"
)

// systemd tells systemd the state of this process (sd_notify(3)), if it is started as a service of Type=notify.
func systemd(getenv func(string) string, log *slog.Logger, state string) {
	path := getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	socket, err := net.Dial("unixgram", path) // a leading @ is an abstract address to Go too
	if err == nil {
		_, err = socket.Write([]byte(state))
		_ = socket.Close()
	}
	if err != nil {
		log.Warn("systemd cannot be reached", "state", state, "error", err)
	}
}

// watchdog tells systemd that this process works for as long as its own address answers, if the service has a
// WatchdogSec; systemd restarts a process from which it gets no message for that long.
func watchdog(ctx context.Context, getenv func(string) string, address net.Addr, log *slog.Logger) {
	limit, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || limit <= 0 {
		return
	}
	every := time.Duration(limit) * time.Microsecond / 2
	client := &http.Client{Timeout: every}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := alive(ctx, client, address); err != nil {
			log.WarnContext(ctx, "this process does not answer; systemd may restart it", "error", err)
			continue
		}
		systemd(getenv, log, "WATCHDOG=1")
	}
}

// alive asks this process whether it is alive.
func alive(ctx context.Context, client *http.Client, address net.Addr) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address.String()+"/healthz", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %s", answer.Status)
	}
	return nil
}
