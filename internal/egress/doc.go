// Package egress decides where a guest may connect to. The guest's network
// namespace is empty but for its own loopback, and on that there is one way out:
// a listening socket that the Runner holds and this proxy answers. Whatever
// does not speak to the proxy reaches nothing, so the proxy need not be obeyed
// to be effective.
//
// # Tasks
//
//	p := egress.New(egress.Options{Grants: grants, Report: report})
//	err := p.Serve(listener)              // HTTP and SOCKS5 on one socket
//	p.ServeConn(conn)                     // the same for one connection
//	env := egress.Environment(address)    // what makes programs use it
//	traffic := p.Traffic()                // bytes by host and port
//	err = p.Close()                       // ends all connections
//	found := egress.Preflight(grants, args) // hosts in a command line, before it starts
//
// # The rules
//
// In this order, for each tunnel and for each plain HTTP request:
//
//  1. The host is made canonical, once (policy.CanonicalHost). From here on
//     there is one spelling of it, and it is the one that is resolved.
//  2. Host and port must be in a grant. A name needs a grant by name, an
//     address a grant by address. Nothing is resolved before that, because a
//     query for data.evil.example is a message to evil.example.
//  3. The name is resolved, once. Addresses of the private kinds are dropped
//     (ranges.go), and so are those of this host, unless a grant by address
//     covers them: who controls a granted name's DNS must not gain the Runner's
//     network by it.
//  4. One of the addresses that are left is dialled, as a literal. There is no
//     second question to the resolver that could get a second answer.
//  5. In a tunnel, what the guest says first must not name another server: not
//     in a TLS ClientHello, not in a plain HTTP request. Nothing reaches the
//     server before that is judged. What the server says first flows meanwhile,
//     since in some protocols (SSH, SMTP) it is the one that begins.
//  6. Where it is plain HTTP, the tunnel ends here: net/http reads every request
//     of the connection, and what is for this host is written anew.
//
// # Decisions about tunnels
//
// A ClientHello without a server name is refused for a host that is a name: the
// server would choose its default site, and what the guest asks of it later is
// encrypted. Clients have sent the name for more than fifteen years.
//
// A ClientHello with an encrypted part (ECH) is refused, because the name that counts is
// the one inside. Browsers send a dummy that looks like a real one; they need ECH turned
// off.
//
// A tunnel to an address may be without a server name, which is how clients
// speak to addresses. If there is one it must be a granted name, so that the
// grant of a content network's address is not one of all sites behind it.
//
// HTTP/2 without TLS is refused for names, because its host is in compressed
// frames, and passes to what is granted by address. Of the protocols that a
// request in a tunnel can change to, only WebSocket is offered to the server:
// HTTP/2 and TLS name hosts of their own.
//
// # What this does not stop
//
//   - A granted host that passes things on. Whoever may reach a server that
//     stores what strangers write, or is itself a proxy, can use it so.
//   - Other sites behind the same certificate or front: inside of TLS the guest
//     may ask for another host than the one it named. Most content networks
//     refuse that; we cannot see it.
//   - TLS that begins later (STARTTLS), and any other protocol: host, port and
//     address are what was checked. That goes for a server, too, that takes for
//     TLS or HTTP what does not begin like it.
//   - A private network behind an address that is public to look at: a NAT64
//     prefix of one's own, or a router that translates. Grants by name to hosts
//     that one trusts are the remedy.
//   - The names themselves: queries for names below *.example.org tell the
//     servers of example.org something. They are granted.
package egress
