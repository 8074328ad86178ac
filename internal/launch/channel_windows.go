package launch

import (
	"os"
	"strconv"
)

// ChannelName is what a process calls its channel: a handle keeps its value.
func ChannelName(channel *os.File) string {
	return strconv.FormatUint(uint64(channel.Fd()), 10)
}
