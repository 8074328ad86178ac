package egress

import (
	"errors"
	"io"
)

// judgeFirstWords reads what the guest says first in a tunnel, as much as it
// takes to know what it is. The error is a refusal, or the connection's.
func (p *Proxy) judgeFirstWords(to route, e *early) error {
	first, err := e.take(1)
	if err != nil {
		return err
	}
	switch b := first[0]; {
	case b >= recordCipherSpec && b <= recordHeartbeat:
		return p.judgeTLS(to, e)
	case b&0x80 != 0:
		if err := judgeSSL2(to, e); err != nil || !isBlank(b) {
			return err
		}
		return p.judgeHTTP(to, e)
	case isBlank(b) || isToken(b):
		return p.judgeHTTP(to, e)
	}
	return nil
}

// judgeTLS goes on after the first byte, which is all that tells TLS from other
// protocols: servers do not look at the version that follows it. No client
// begins with another record than that of its hello, but servers skip some
// (an alert that is a warning) and take the hello behind it.
func (p *Proxy) judgeTLS(to route, e *early) error {
	e.next = 0
	said, err := readHello(e)
	if errors.Is(err, errHello) || errors.Is(err, errTooLong) {
		return tlsRefusal("TLS ClientHello for "+to.String()+" is malformed", "")
	}
	if err != nil {
		return cutOff(to.target, err)
	}
	e.hello = said
	return p.judgeHello(to, said)
}

func (p *Proxy) judgeHello(to route, said hello) error {
	switch {
	case said.encrypted:
		return tlsRefusal("TLS ClientHello for "+to.String()+" has an encrypted part that may name another server (ECH)",
			"turn the encrypted ClientHello (ECH) of the client off: the name of the server must be readable")
	case said.name == "" && to.name != "":
		return tlsRefusal("TLS ClientHello for "+to.String()+" names no server",
			"let the client send the server's name (SNI), as all do by default")
	case said.name != "" && !p.answersTo(to.target, said.name):
		return tlsRefusal("TLS server name "+show(said.name)+" does not match "+to.String(),
			"connect to the host that the TLS server name says: a tunnel is for one host only")
	}
	return nil
}

func tlsRefusal(detail, hint string) error {
	if hint == "" {
		hint = "use TLS as its libraries write it"
	}
	// A fatal alert, unrecognized_name, which clients show to their users.
	return &refusal{detail: detail, hint: hint, answer: []byte{21, 3, 1, 0, 2, 2, 112}}
}

// judgeSSL2 is for the oldest form of a ClientHello, which some servers still
// take and which cannot name a server. Nobody has to, at an address.
func judgeSSL2(to route, e *early) error {
	if to.name == "" {
		return nil
	}
	head, err := e.take(4)
	if err != nil {
		return cutOff(to.target, err)
	}
	if head[1] == messageHello && (head[2] == 3 || head[2] == 0 && head[3] == 2) {
		return tlsRefusal("SSL 2 ClientHello for "+to.String()+" names no server", "use TLS 1.2 or later")
	}
	return nil
}

// passSecondHello looks out for a second ClientHello: a server may ask for one
// (RFC 8446, 4.1.4), and not all compare its name with that of the first. It
// sends on what it reads, and is done at the first record after which there can
// be none. Small records that a server skips may be before it, and so may data
// that was sent early and that the server then does not want.
func (p *Proxy) passSecondHello(to route, e *early, server io.Writer, m *meter) error {
	skipped, budget := 0, 0
	if e.hello.early {
		budget = maxEarlyData
	}
	for {
		head, err := e.take(5)
		if err != nil {
			return secondError(to.target, e, err)
		}
		size := int(head[3])<<8 | int(head[4])
		switch kind := head[0]; {
		case kind == recordHandshake:
			e.next -= 5
			return p.passHandshake(to, e, server, m)
		case kind == recordData && size+5 <= budget:
			budget -= size + 5
		case (kind == recordCipherSpec || kind == recordAlert) && size <= 2 && skipped < 8:
			skipped++
		case kind == recordCipherSpec || kind == recordAlert:
			return tlsRefusal("TLS records for "+to.String()+" are out of order", "")
		default:
			return e.pass(server, m)
		}
		if _, err := e.take(size); err != nil {
			return secondError(to.target, e, err)
		}
		// The guest may now wait for the server.
		if err := e.passJudged(server, m); err != nil {
			return err
		}
	}
}

// passHandshake judges a handshake record after the first ClientHello.
func (p *Proxy) passHandshake(to route, e *early, server io.Writer, m *meter) error {
	looks, err := looksLikeHello(e)
	if err == nil && !looks {
		return e.pass(server, m)
	}
	var said hello
	if err == nil {
		said, err = readHello(e)
	}
	switch {
	case errors.Is(err, errHello) || errors.Is(err, errTooLong):
		return tlsRefusal("second TLS ClientHello for "+to.String()+" is malformed", "")
	case err != nil:
		return secondError(to.target, e, err)
	}
	if err := p.judgeHello(to, said); err != nil {
		return err
	}
	return e.pass(server, m)
}

// looksLikeHello tells a ClientHello from the other things that a handshake
// record may hold here: a part of the key exchange, or encrypted bytes. Those
// come here when a session of TLS 1.2 is resumed, and three times in 65536
// they begin like a hello; that connection is refused, and the next is not.
func looksLikeHello(e *early) (bool, error) {
	start := e.next
	defer func() { e.next = start }()
	var message []byte
	for len(message) < 2 {
		head, err := e.take(5)
		if err != nil {
			return false, err
		}
		size := int(head[3])<<8 | int(head[4])
		// Neither is in any handshake; servers may skip them all the same.
		if head[0] != recordHandshake || size == 0 {
			return false, errHello
		}
		piece, err := e.take(min(size, 2))
		if err != nil {
			return false, err
		}
		message = append(message, piece...)
	}
	// The second byte is the length's, in units of 64 KiB. One that is longer
	// than we read is refused for that; longer than this no server takes it.
	return message[0] == messageHello && message[1] <= maxHelloUnits, nil
}

// secondError lets a connection end here, but not in the middle of something.
func secondError(t target, e *early, err error) error {
	if len(e.data) == 0 {
		return err
	}
	return cutOff(t, err)
}

// cutOff is for a guest that stops in the middle of what it says first. To
// send on half of it would let the other half through unseen.
func cutOff(t target, err error) error {
	switch {
	case errors.Is(err, errSlow):
		return &refusal{detail: t.String() + ": the first message did not come to its end in time", hint: "send the first message of a connection in one piece"}
	case errors.Is(err, errTooLong):
		return &refusal{detail: t.String() + ": the first message is too long", hint: "keep the headers of a request below 64 KiB"}
	case errors.Is(err, io.EOF):
		return &refusal{detail: t.String() + ": the first message is cut off", hint: "send the first message of a connection in one piece"}
	}
	return err
}
