package seccomp

// commandSockets is the network of the guest's own namespace, which decides what
// can be reached. The filter decides which of the kernel's protocols exist: TCP,
// UDP, local sockets, and asking for the list of interfaces.
func commandSockets() []Group {
	anyFlags := uint64(sockNonblock | sockCloexec)
	return []Group{
		{"talking", Allow, calls(
			"bind", "listen", "accept", "accept4", "connect",
			"sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg",
		)},

		// By list, since each of the others is a parser of its own and some do not
		// end at the namespace (AF_VSOCK reaches the hypervisor). Not here: MPTCP
		// (below), SCTP, UDP-Lite, ping sockets, raw ones, and of the netlink
		// family everything but the routes that getifaddrs reads. That TCP goes
		// with streams and UDP with datagrams is for the kernel to say.
		{"new sockets", Allow, []Rule{
			{"socket", Where{is(0, afUnix), localType, is(2, 0, afUnix)}},
			{"socketpair", Where{is(0, afUnix), localType, is(2, 0, afUnix)}},
			{"socket", Where{is(0, afInet, afInet6), ignoring(1, anyFlags, sockStream, sockDgram), is(2, 0, protoTCP, protoUDP)}},
			{"socket", Where{is(0, afNetlink), ignoring(1, anyFlags, sockRaw, sockDgram), is(2, netlinkRoute)}},
		}},

		// Go asks for MPTCP whenever it listens, and takes TCP when there is none.
		{"multipath", NoSys, []Rule{
			{"socket", Where{is(0, afInet, afInet6), ignoring(1, anyFlags, sockStream), is(2, protoMPTCP)}},
		}},

		setSocketOptions(),

		// To read an option is harmless, with exceptions that the bounds leave
		// out: from 64 on, level IP and IPv6 belong to netfilter and to multicast
		// routing; TCP_ZEROCOPY_RECEIVE is 35 and maps pages.
		{"asking sockets", Allow, []Rule{
			{"getsockopt", Where{is(1, solSocket), ignoring(2, 0x7f, 0)}},
			{"getsockopt", Where{is(1, protoIP, protoIPv6), ignoring(2, 0x3f, 0)}},
			{"getsockopt", Where{is(1, protoIPv6), is(2, ipv6RecvTClass, ipv6TClass)}},
			{"getsockopt", Where{is(1, protoTCP), ignoring(2, 0x1f, 0)}},
			{"getsockopt", Where{is(1, protoUDP), is(2, udpCork, udpSegment, udpGRO)}},
			{"getsockopt", Where{is(1, solNetlink), ignoring(2, 0x1f, 0)}},
		}},

		// The list of interfaces, the old way.
		{"interfaces", Allow, []Rule{{"ioctl", Where{is(1,
			siocAtMark, siocGIfName, siocGIfConf, siocGIfFlags, siocGIfAddr, siocGIfDstAddr,
			siocGIfBrdAddr, siocGIfNetmask, siocGIfMetric, siocGIfMTU, siocGIfHWAddr,
			siocGIfIndex, siocGIfTxQLen)}}}},
	}
}

// setSocketOptions is the options that change how a connection behaves, level by
// level. Not here, of each level:
//
//   - socket: the ATTACH family (they hand the kernel a program), SO_ZEROCOPY and
//     SO_TXTIME (rare, young), SO_MARK.
//   - IP and IPv6: from 64 on they are netfilter's tables, whose parsers were the
//     way out of many a container; IP_OPTIONS, IP_MSFILTER, IPV6_ADDRFORM,
//     IPV6_RTHDR and IPsec policies have a history too; IP_TRANSPARENT and
//     IP_FREEBIND borrow addresses of others.
//   - TCP: TCP_ULP (TLS in the kernel), TCP_REPAIR, the MD5 and AO keys.
//   - UDP: UDP_ENCAP (IPsec).
//
// The FORCE options need a capability: the kernel refuses them, and sd-bus and
// quic-go then take the plain ones.
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
