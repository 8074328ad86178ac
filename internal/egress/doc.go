// Package egress decides which hosts a guest may connect to. The guest's network
// namespace contains only its loopback interface, on which this proxy listens. A
// program that does not use the proxy reaches nothing, so the rules hold whether or
// not programs cooperate.
//
// # Tasks
//
//	p := egress.New(egress.Options{Grants: grants, Report: report})
//	err := p.Serve(listener)              // HTTP and SOCKS5 on one socket
//	p.ServeConn(conn)                     // the same for one connection
//	m := egress.NewModules(options, rules) // a proxy for each module of a guest with module rules
//	env := egress.Environment(address)    // variables that make programs use the proxy
//	traffic := p.Traffic()                // bytes by host and port
//	err = p.Close()                       // ends all connections
//	found := egress.Preflight(grants, args) // hosts in a command line, before it starts
//
// # The rules
//
// In this order, for each tunnel and for each plain HTTP request:
//
//  1. The host is made canonical once (policy.CanonicalHost). All later steps,
//     including the resolver, use this spelling.
//  2. Host and port must be in a grant. A name needs a grant by name, an
//     address a grant by address. Nothing is resolved before this check, because a
//     query for data.evil.example is a message to evil.example.
//  3. The name is resolved once. Non-public addresses (ranges.go) and those of this
//     host are dropped, unless a grant by address covers them: the owner of a granted
//     name's DNS must not gain access to the Runner's network.
//  4. The proxy dials one of the remaining addresses as a literal, so that no second
//     query can get a different answer.
//  5. In a tunnel, the first message of the guest must not name another server,
//     neither in a TLS ClientHello nor in a plain HTTP request. No byte reaches the
//     server before this check. Bytes of the server pass at once, because in some
//     protocols (SSH, SMTP) the server speaks first.
//  6. If the tunnel contains plain HTTP, the proxy terminates it: net/http parses
//     every request of the connection, and requests for this host are written anew.
//
// # Decisions about tunnels
//
// A ClientHello without a server name is refused if the target is a name: the server
// would choose its default site, and the later requests are encrypted. Clients have
// sent the name for more than fifteen years.
//
// A ClientHello with an encrypted part (ECH) is refused, because the server uses the
// name inside it. Browsers send a dummy that looks like a real one; they work only with
// ECH turned off.
//
// A tunnel to an address may have no server name, because clients send none to
// addresses. If it has one, the name must be granted, so that the grant of a content
// network's address does not include all sites behind it.
//
// HTTP/2 without TLS is refused for names, because its host is in compressed frames.
// It passes to targets that are granted by address. A request in a tunnel can upgrade
// only to WebSocket, because HTTP/2 and TLS would name hosts again.
//
// # What this does not stop
//
//   - A granted host that forwards data: a server that stores uploads, or one that is
//     itself a proxy.
//   - Other sites behind the same certificate or front end: inside TLS, the guest may
//     ask for another host than the one in its ClientHello. Most content networks
//     refuse that; the proxy cannot see it.
//   - TLS that begins later (STARTTLS), and any other protocol: only host, port and
//     address are checked. The same holds for a server that accepts as TLS or HTTP
//     something that does not begin like it.
//   - A private network behind an address that looks public: a local NAT64 prefix, or
//     a router that translates addresses. The remedy is to grant only names that you
//     trust.
//   - Data in names: queries for names below a granted *.example.org reach the servers
//     of example.org.
package egress
