package wasmbin

import "encoding/binary"

func appendU32(out []byte, v uint32) []byte { return binary.AppendUvarint(out, uint64(v)) }

func appendSigned(out []byte, v int64) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func appendName(out []byte, name string) []byte {
	return append(appendU32(out, uint32(len(name))), name...)
}

func appendSection(out []byte, id byte, data []byte) []byte {
	return append(appendU32(append(out, id), uint32(len(data))), data...)
}
