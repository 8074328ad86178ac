package main

import (
	"errors"
	"net"
)

// bindPrivately refuses: on Windows a socket has no mode that would keep others out.
func bindPrivately(string) (net.Listener, error) {
	return nil, errors.New("sockets with a path have no mode on Windows: listen on 127.0.0.1:8734")
}

func mostConnections() int { return wantedConnections }
