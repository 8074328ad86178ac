package launch

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// rusageSize is the size of XNU's struct rusage_info_v0 (<sys/resource.h>):
//
//	0          16           24             … 72                80
//	┌──────────┬────────────┬──────────────┬─┬─────────────────┬─┐
//	│ uuid     │ user time  │ system time  │ │ phys. footprint │ │
//	└──────────┴────────────┴──────────────┴─┴─────────────────┴─┘
//
// Times are in ticks; hw.tbfrequency is the number of ticks in a second.
const rusageSize = 96

// readRusage parses the structure.
func readRusage(b []byte, frequency uint64) (u used, ok bool) {
	if len(b) < rusageSize || frequency == 0 {
		return u, false
	}
	ticks := binary.LittleEndian.Uint64(b[16:]) + binary.LittleEndian.Uint64(b[24:])
	hi, lo := bits.Mul64(ticks, uint64(time.Second))
	if hi >= frequency {
		return u, false // more than 500 years
	}
	nanoseconds, _ := bits.Div64(hi, lo, frequency)
	return used{CPUTime: time.Duration(nanoseconds), Memory: policy.Bytes(binary.LittleEndian.Uint64(b[72:]))}, true
}
