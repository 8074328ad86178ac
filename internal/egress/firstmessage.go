package egress

import (
	"errors"
	"io"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/run"
)

// judgeFirstMessage reads the guest's first message in a tunnel, as far as needed to
// know its protocol and host. The error is a refusal or that of the connection.
func (p *Proxy) judgeFirstMessage(to route, e *early) error {
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

// judgeTLS continues after the first byte, which alone identifies TLS: servers ignore
// the version that follows it. Clients begin with the record of their hello, but
// servers would skip some other records (a warning alert) and accept a hello after
// them.
func (p *Proxy) judgeTLS(to route, e *early) error {
	e.next = 0
	h, err := readHello(e)
	if errors.Is(err, errHello) || errors.Is(err, errTooLong) {
		return tlsRefusal("TLS ClientHello for "+to.String()+" is malformed", hints.UsualTLS)
	}
	if err != nil {
		return cutOff(to.target, err)
	}
	e.hello = h
	return p.judgeHello(to, h)
}

func (p *Proxy) judgeHello(to route, h hello) error {
	switch {
	case h.encrypted:
		return tlsRefusal("TLS ClientHello for "+to.String()+" has an encrypted part that may name another server (ECH)",
			hints.ReadableName)
	case h.name == "" && to.name != "":
		return tlsRefusal("TLS ClientHello for "+to.String()+" names no server",
			hints.SendName)
	case h.name != "" && !p.matchesTarget(to.target, h.name):
		return tlsRefusal("TLS server name "+show(h.name)+" does not match "+to.String(),
			hints.SameHost)
	}
	return nil
}

func tlsRefusal(detail string, hint run.HintCode) error {
	// The fatal alert unrecognized_name, which clients show to their users.
	return &refusal{detail: detail, hint: hint, answer: []byte{21, 3, 1, 0, 2, 2, 112}}
}

// judgeSSL2 judges the oldest form of a ClientHello, which some servers still accept.
// It cannot name a server, so it passes only for targets granted by address.
func judgeSSL2(to route, e *early) error {
	if to.name == "" {
		return nil
	}
	head, err := e.take(4)
	if err != nil {
		return cutOff(to.target, err)
	}
	if head[1] == messageHello && (head[2] == 3 || head[2] == 0 && head[3] == 2) {
		return tlsRefusal("SSL 2 ClientHello for "+to.String()+" names no server", hints.NewerTLS)
	}
	return nil
}

// passSecondHello checks for a second ClientHello: a server may ask for one
// (RFC 8446, 4.1.4), and not every server compares its name with that of the first. It
// sends what it reads to the server, and ends at the first record after which no hello
// can follow. Small records that a server skips, and early data that it rejects, may
// come before the second hello.
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
			return tlsRefusal("TLS records for "+to.String()+" are out of order", hints.UsualTLS)
		default:
			return e.pass(server, m)
		}
		if _, err := e.take(size); err != nil {
			return secondError(to.target, e, err)
		}
		// The guest may wait for the server's answer.
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
	var h hello
	if err == nil {
		h, err = readHello(e)
	}
	switch {
	case errors.Is(err, errHello) || errors.Is(err, errTooLong):
		return tlsRefusal("second TLS ClientHello for "+to.String()+" is malformed", hints.UsualTLS)
	case err != nil:
		return secondError(to.target, e, err)
	}
	if err := p.judgeHello(to, h); err != nil {
		return err
	}
	return e.pass(server, m)
}

// looksLikeHello distinguishes a ClientHello from the other contents of a handshake
// record at this point: a part of the key exchange, or encrypted bytes, which follow
// when a session of TLS 1.2 is resumed. Encrypted bytes begin like a hello three times
// in 65536; that connection is refused, and a new one succeeds.
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
		// No handshake has either, but servers may skip them.
		if head[0] != recordHandshake || size == 0 {
			return false, errHello
		}
		piece, err := e.take(min(size, 2))
		if err != nil {
			return false, err
		}
		message = append(message, piece...)
	}
	// The second byte is the length in units of 64 KiB. A message that is
	// longer than we read is refused; no server accepts more than maxHelloUnits.
	return message[0] == messageHello && message[1] <= maxHelloUnits, nil
}

// secondError accepts the end of the connection between two records, not inside one.
func secondError(t target, e *early, err error) error {
	if len(e.data) == 0 {
		return err
	}
	return cutOff(t, err)
}

// cutOff returns the error for a guest that stops inside its first message. Sending the
// first half to the server would let the other half pass unchecked.
func cutOff(t target, err error) error {
	switch {
	case errors.Is(err, errSlow):
		return &refusal{detail: t.String() + ": the first message was not complete in time", hint: hints.OnePiece}
	case errors.Is(err, errTooLong):
		return &refusal{detail: t.String() + ": the first message is too long", hint: hints.ShortHeaders}
	case errors.Is(err, io.EOF):
		return &refusal{detail: t.String() + ": the first message is cut off", hint: hints.OnePiece}
	}
	return err
}
