package egress

import "errors"

// A ClientHello, in one or more records (RFC 8446, 4.1.2 and 5.1). Lengths are
// big-endian; each counts the bytes in the brackets after it.
//
//	record     22, any version16, length16 [ a piece of the message ]
//	message    1, length24 [
//	             version16, random 32 bytes, session8 […], ciphers16 […], compressions8 […],
//	             extensions16 [ type16, length16 […] … ] ]
//	type 0     list16 [ kind8 = 0, name16 […] ]
const (
	recordCipherSpec = 20
	recordAlert      = 21
	recordHandshake  = 22
	recordData       = 23
	recordHeartbeat  = 24
	messageHello     = 1
	maxRecord        = 1 << 14

	// maxHelloUnits is that of OpenSSL, which accepts up to 131396 bytes, more than
	// any other server.
	maxHelloUnits = 2
	// maxEarlyData is more than servers skip of early data that they reject.
	maxEarlyData = 128 << 10

	extensionServerName = 0
	extensionEarlyData  = 42
	// RFC 9849 of the encrypted ClientHello, its drafts and its predecessor.
	extensionECHFirst, extensionECHLast = 0xfe08, 0xfe0d
	extensionESNI                       = 0xffce
)

var errHello = errors.New("malformed ClientHello")

// hello holds the parts of a ClientHello that matter here.
type hello struct {
	name      string // empty if it has none
	encrypted bool   // has an encrypted ClientHello inside
	early     bool   // early data follows before the server's answer
}

// readHello reads records until they make up exactly one ClientHello. Clients send
// nothing else before the server's answer.
func readHello(e *early) (hello, error) {
	var message []byte
	for {
		head, err := e.take(5)
		if err != nil {
			return hello{}, err
		}
		size := int(head[3])<<8 | int(head[4])
		if head[0] != recordHandshake || size == 0 || size > maxRecord {
			return hello{}, errHello
		}
		piece, err := e.take(size)
		if err != nil {
			return hello{}, err
		}
		message = append(message, piece...)
		if message[0] != messageHello {
			return hello{}, errHello
		}
		if len(message) < 4 {
			continue
		}
		body := cursor(message[1:])
		size, _ = body.number(3)
		switch {
		case size > maxHello:
			return hello{}, errTooLong
		case len(body) > size:
			return hello{}, errHello
		case len(body) == size:
			return parseHello(body)
		}
	}
}

func parseHello(body cursor) (hello, error) {
	_, okVersion := body.bytes(2 + 32)
	_, okSession := body.vector(1)
	_, okCiphers := body.vector(2)
	_, okCompressions := body.vector(1)
	if !okVersion || !okSession || !okCiphers || !okCompressions {
		return hello{}, errHello
	}
	if len(body) == 0 {
		return hello{}, nil // an old client without extensions
	}
	extensions, ok := body.vector(2)
	if !ok || len(body) > 0 {
		return hello{}, errHello
	}
	var found hello
	named := false
	for len(extensions) > 0 {
		kind, okKind := extensions.number(2)
		data, okData := extensions.vector(2)
		switch {
		case !okKind || !okData:
			return hello{}, errHello
		case kind == extensionServerName && named:
			return hello{}, errHello // duplicates: some servers use the first, some the last
		case kind == extensionServerName:
			named = true
			if found.name, ok = serverName(data); !ok {
				return hello{}, errHello
			}
		case kind >= extensionECHFirst && kind <= extensionECHLast, kind == extensionESNI:
			found.encrypted = true
		case kind == extensionEarlyData:
			found.early = true
		}
	}
	return found, nil
}

// serverName requires exactly one name, for the same reason.
func serverName(data cursor) (string, bool) {
	list, okList := data.vector(2)
	kind, okKind := list.number(1)
	name, okName := list.vector(2)
	ok := okList && okKind && okName && kind == 0 && len(name) > 0 && len(list) == 0 && len(data) == 0
	return string(name), ok
}

// cursor parses a message from its front.
type cursor []byte

func (c *cursor) bytes(n int) (cursor, bool) {
	if n > len(*c) {
		return nil, false
	}
	taken := (*c)[:n]
	*c = (*c)[n:]
	return taken, true
}

func (c *cursor) number(size int) (int, bool) {
	b, ok := c.bytes(size)
	n := 0
	for _, x := range b {
		n = n<<8 | int(x)
	}
	return n, ok
}

// vector takes a length of size bytes, and then that many bytes.
func (c *cursor) vector(size int) (cursor, bool) {
	n, ok := c.number(size)
	if !ok {
		return nil, false
	}
	return c.bytes(n)
}
