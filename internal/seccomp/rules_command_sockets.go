package seccomp

// commandSockets: the network. The guest's network namespace decides which hosts are
// reachable. The filter decides which protocols of the kernel can be used: TCP, UDP,
// local sockets, and listing interfaces.
func commandSockets() []Group {
	anyFlags := uint64(sockNonblock | sockCloexec)
	return []Group{
		{"talking", Allow, calls(
			"bind", "listen", "accept", "accept4", "connect",
			"sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg",
		)},

		// An allowlist, because each other family is another parser, and namespaces do
		// not confine all of them (AF_VSOCK reaches the hypervisor). Excluded: MPTCP
		// (below), SCTP, UDP-Lite, ping and raw sockets, and all netlink protocols but
		// NETLINK_ROUTE, which getifaddrs reads. The kernel checks that TCP has the
		// type stream and UDP datagram.
		{"new sockets", Allow, []Rule{
			{"socket", Where{is(0, afUnix), localType, is(2, 0, afUnix)}},
			{"socketpair", Where{is(0, afUnix), localType, is(2, 0, afUnix)}},
			{"socket", Where{is(0, afInet, afInet6), ignoring(1, anyFlags, sockStream, sockDgram), is(2, 0, protoTCP, protoUDP)}},
			{"socket", Where{is(0, afNetlink), ignoring(1, anyFlags, sockRaw, sockDgram), is(2, netlinkRoute)}},
		}},

		// Go tries MPTCP whenever it listens, and falls back to TCP.
		{"multipath", NoSys, []Rule{
			{"socket", Where{is(0, afInet, afInet6), ignoring(1, anyFlags, sockStream), is(2, protoMPTCP)}},
		}},

		setSocketOptions(),

		// Reading an option is harmless, with exceptions that the bounds exclude: from
		// 64 on, options of IP and IPv6 belong to netfilter and multicast routing;
		// TCP_ZEROCOPY_RECEIVE is 35 and maps pages.
		{"asking sockets", Allow, []Rule{
			{"getsockopt", Where{is(1, solSocket), ignoring(2, 0x7f, 0)}},
			{"getsockopt", Where{is(1, protoIP, protoIPv6), ignoring(2, 0x3f, 0)}},
			{"getsockopt", Where{is(1, protoIPv6), is(2, ipv6RecvTClass, ipv6TClass)}},
			{"getsockopt", Where{is(1, protoTCP), ignoring(2, 0x1f, 0)}},
			{"getsockopt", Where{is(1, protoUDP), is(2, udpCork, udpSegment, udpGRO)}},
			{"getsockopt", Where{is(1, solNetlink), ignoring(2, 0x1f, 0)}},
		}},

		// Listing interfaces with ioctl.
		{"interfaces", Allow, []Rule{{"ioctl", Where{is(1,
			siocAtMark, siocGIfName, siocGIfConf, siocGIfFlags, siocGIfAddr, siocGIfDstAddr,
			siocGIfBrdAddr, siocGIfNetmask, siocGIfMetric, siocGIfMTU, siocGIfHWAddr,
			siocGIfIndex, siocGIfTxQLen)}}}},
	}
}

// setSocketOptions: options that change how a connection behaves, by level. Excluded:
//
//   - socket: the ATTACH family (they give the kernel a program), SO_ZEROCOPY and
//     SO_TXTIME (rare and new), SO_MARK.
//   - IP and IPv6: from 64 on they are netfilter's tables, whose parsers allowed many
//     container escapes; IP_OPTIONS, IP_MSFILTER, IPV6_ADDRFORM, IPV6_RTHDR and IPsec
//     policies had bugs too; IP_TRANSPARENT and IP_FREEBIND use addresses of other
//     hosts.
//   - TCP: TCP_ULP (TLS in the kernel), TCP_REPAIR, the MD5 and AO keys.
//   - UDP: UDP_ENCAP (IPsec).
//
// The FORCE options need a capability: the kernel refuses them, and sd-bus and quic-go
// then use the plain ones.
func setSocketOptions() Group {
	return Group{"socket options", Allow, []Rule{
		{"setsockopt", Where{is(1, solSocket), is(2,
			soReuseAddr, soReusePort, soKeepAlive, soLinger, soBroadcast, soDontRoute,
			soSndBuf, soRcvBuf, soSndBufForce, soRcvBufForce, soOOBInline, soPriority,
			soPassCred, soRcvLoWat, soRcvTimeo, soSndTimeo, soRcvTimeoNew, soSndTimeoNew,
			soTimestamp, soTimestampNS, soTimestampNew, soTimestampNSNew,
			soRxQOvfl, soPeekOff, soBusyPoll, soBindToDevice, soBindToIfIndex)}},
		{"setsockopt", Where{is(1, protoTCP), is(2,
			tcpNoDelay, tcpMaxSeg, tcpCork, tcpKeepIdle, tcpKeepIntvl, tcpKeepCnt,
			tcpSynCnt, tcpLinger2, tcpDeferAccept, tcpWindowClamp, tcpQuickAck,
			tcpUserTimeout, tcpFastOpen, tcpNotSentLoWat)}},
		{"setsockopt", Where{is(1, protoIP), is(2,
			ipTOS, ipTTL, ipPktInfo, ipMTUDiscover, ipRecvErr, ipRecvTTL, ipRecvTOS,
			ipBindAddressNoPort, ipMulticastIf, ipMulticastTTL, ipMulticastLoop,
			ipAddMembership, ipDropMembership, ipMulticastAll)}},
		{"setsockopt", Where{is(1, protoIPv6), is(2,
			ipv6V6Only, ipv6UnicastHops, ipv6MulticastIf, ipv6MulticastHops, ipv6MulticastLoop,
			ipv6JoinGroup, ipv6LeaveGroup, ipv6MTUDiscover, ipv6RecvErr, ipv6MulticastAll,
			ipv6RecvPktInfo, ipv6RecvHopLimit, ipv6DontFrag, ipv6RecvTClass, ipv6TClass)}},
		{"setsockopt", Where{is(1, protoUDP), is(2, udpCork, udpSegment, udpGRO)}},
		{"setsockopt", Where{is(1, solNetlink), is(2,
			netlinkAddMembership, netlinkDropMembership, netlinkPktInfo,
			netlinkCapAck, netlinkExtAck, netlinkStrictCheck)}},
	}}
}
