package seccomp

// Socket families, types, protocols and levels. The level of getsockopt and setsockopt is
// solSocket, a protocol, or solNetlink.
const (
	afInet    = 2
	afInet6   = 10
	afNetlink = 16
	sockRaw   = 3

	protoIP    = 0
	protoTCP   = 6
	protoUDP   = 17
	protoIPv6  = 41
	protoMPTCP = 262

	netlinkRoute = 0
	solNetlink   = 270
)

// Options of level solSocket.
const (
	soReuseAddr      = 2
	soDontRoute      = 5
	soBroadcast      = 6
	soKeepAlive      = 9
	soOOBInline      = 10
	soPriority       = 12
	soLinger         = 13
	soReusePort      = 15
	soPassCred       = 16
	soRcvLoWat       = 18
	soRcvTimeo       = 20
	soSndTimeo       = 21
	soBindToDevice   = 25
	soAttachFilter   = 26
	soTimestamp      = 29
	soSndBufForce    = 32
	soRcvBufForce    = 33
	soTimestampNS    = 35
	soRxQOvfl        = 40
	soPeekOff        = 42
	soBusyPoll       = 46
	soBindToIfIndex  = 62
	soTimestampNew   = 63
	soTimestampNSNew = 64
	soRcvTimeoNew    = 66
	soSndTimeoNew    = 67
)

// Options of level protoTCP.
const (
	tcpNoDelay      = 1
	tcpMaxSeg       = 2
	tcpCork         = 3
	tcpKeepIdle     = 4
	tcpKeepIntvl    = 5
	tcpKeepCnt      = 6
	tcpSynCnt       = 7
	tcpLinger2      = 8
	tcpDeferAccept  = 9
	tcpWindowClamp  = 10
	tcpQuickAck     = 12
	tcpUserTimeout  = 18
	tcpFastOpen     = 23
	tcpNotSentLoWat = 25
)

// Options of level protoUDP.
const (
	udpCork    = 1
	udpSegment = 103
	udpGRO     = 104
)

// Options of level protoIP.
const (
	ipTOS               = 1
	ipTTL               = 2
	ipPktInfo           = 8
	ipMTUDiscover       = 10
	ipRecvErr           = 11
	ipRecvTTL           = 12
	ipRecvTOS           = 13
	ipBindAddressNoPort = 24
	ipMulticastIf       = 32
	ipMulticastTTL      = 33
	ipMulticastLoop     = 34
	ipAddMembership     = 35
	ipDropMembership    = 36
	ipMulticastAll      = 49
)

// Options of level protoIPv6.
const (
	ipv6UnicastHops   = 16
	ipv6MulticastIf   = 17
	ipv6MulticastHops = 18
	ipv6MulticastLoop = 19
	ipv6JoinGroup     = 20
	ipv6LeaveGroup    = 21
	ipv6MTUDiscover   = 23
	ipv6RecvErr       = 25
	ipv6V6Only        = 26
	ipv6MulticastAll  = 29
	ipv6RecvPktInfo   = 49
	ipv6RecvHopLimit  = 51
	ipv6DontFrag      = 62
	ipv6RecvTClass    = 66
	ipv6TClass        = 67
)

// Options of level solNetlink.
const (
	netlinkAddMembership  = 1
	netlinkDropMembership = 2
	netlinkPktInfo        = 3
	netlinkCapAck         = 10
	netlinkExtAck         = 11
	netlinkStrictCheck    = 12
)
