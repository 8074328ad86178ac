package backend

import (
	"github.com/cordon-sandbox/cordon/internal/egress"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// TrafficOf is what went through a proxy, for a Result.
func TrafficOf(p *egress.Proxy) []run.Traffic {
	var traffic []run.Traffic
	for _, t := range p.Traffic() {
		traffic = append(traffic, run.Traffic{
			Host: t.Host, Port: int(t.Port), Connections: int(t.Connections), Sent: policy.Bytes(t.Sent), Received: policy.Bytes(t.Received),
		})
	}
	return traffic
}
