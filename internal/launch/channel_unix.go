//go:build unix

package launch

import "os"

// ChannelName returns the process's name for its channel, which is descriptor 3.
func ChannelName(*os.File) string { return "3" }
