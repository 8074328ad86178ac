package jobobject

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf16"
)

// CapabilitySID returns the identity that Windows derives from a capability's name. A container
// with the capability may open files that grant access to this identity.
func CapabilitySID(name string) string {
	var text []byte
	for _, unit := range utf16.Encode([]rune(strings.ToUpper(name))) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	sum := sha256.Sum256(text)
	sid := "S-1-15-3-1024"
	for part := sum[:]; len(part) > 0; part = part[4:] {
		sid += "-" + strconv.FormatUint(uint64(binary.LittleEndian.Uint32(part)), 10)
	}
	return sid
}
