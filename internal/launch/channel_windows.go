package launch

import (
	"os"
	"strconv"
)

// ChannelName returns the process's name for its channel. An inherited handle keeps its
// value.
func ChannelName(channel *os.File) string {
	return strconv.FormatUint(uint64(channel.Fd()), 10)
}
