package interpreter

import (
	"bytes"
	"encoding/binary"
	"path"
)

// The format of the loader's index, /etc/ld.so.cache, as glibc writes it since 2.2. Before
// 2.32 an older table precedes it, so the reader searches for the mark:
//
//	mark[20] count[4] strings[4] flags[4] extension[4] zero[12]
//	count × { flags[4] name[4] path[4] os[4] hwcap[8] }
//
// name and path are offsets from the mark to NUL-terminated strings.
const (
	cacheMark   = "glibc-ld.so.cache1.1"
	cacheHeader = 48
	cacheEntry  = 24
)

// parseCache returns the first path of each name. The loader also prefers the first that
// the processor supports. A malformed file gives an empty index.
func parseCache(data []byte) map[string]string {
	index := map[string]string{}
	start := bytes.Index(data, []byte(cacheMark))
	if start < 0 || len(data)-start < cacheHeader {
		return index
	}
	data = data[start:]
	order := binary.NativeEndian
	text := func(offset uint32) string {
		if uint64(offset) >= uint64(len(data)) {
			return ""
		}
		s, _, ok := bytes.Cut(data[offset:], []byte{0})
		if !ok {
			return ""
		}
		return string(s)
	}
	count := int(min(order.Uint32(data[len(cacheMark):]), uint32((len(data)-cacheHeader)/cacheEntry)))
	for n := range count {
		entry := data[cacheHeader+n*cacheEntry:]
		name, where := text(order.Uint32(entry[4:])), text(order.Uint32(entry[8:]))
		if name != "" && path.IsAbs(where) && index[name] == "" {
			index[name] = where
		}
	}
	return index
}
