package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Ints have any size in Python and in JSON text. marshal writes ints of more than 32 bits
// in base 2^15: a signed count with the sign of the number, then that many digits of 16
// bits each, the least significant first, the last not zero.
const (
	longShift = 15
	longMask  = 1<<longShift - 1

	// maxLongDigits limits an int to 65,536 decimal digits, and a few more because the
	// bases differ.
	maxLongDigits = 14514
	maxDecimal    = 65540
)

// longWork limits the time that the ints of one value take. Changing the base is the only
// conversion here that is not linear: the longest int takes 4 ms, so a frame of 64 MB could
// take ten seconds. The cost is about the square of the digits. 64 ints of the maximum
// length are allowed, and any number of ordinary ones.
type longWork uint64

const maxLongWork longWork = 64 * maxLongDigits * maxLongDigits

func (w *longWork) spend(digits int) error {
	*w += longWork(digits) * longWork(digits)
	if *w > maxLongWork {
		return &Error{Problem: "is one long int too many", Class: ErrTooLarge}
	}
	return nil
}

func longIntError() error {
	return &Error{Problem: "is an int of more than 65536 digits", Class: ErrTooLarge}
}

func appendInt(dst []byte, i int64) []byte {
	if i >= math.MinInt32 && i <= math.MaxInt32 {
		return binary.LittleEndian.AppendUint32(append(dst, typeInt), uint32(i))
	}
	if i < 0 {
		return appendMagnitude(dst, -uint64(i), -1)
	}
	return appendMagnitude(dst, uint64(i), 1)
}

func appendUint(dst []byte, u uint64) []byte {
	if u <= math.MaxInt32 {
		return appendInt(dst, int64(u))
	}
	return appendMagnitude(dst, u, 1)
}

func appendMagnitude(dst []byte, u uint64, sign int) []byte {
	n := (bits.Len64(u) + longShift - 1) / longShift
	dst = binary.LittleEndian.AppendUint32(append(dst, typeLong), uint32(int32(sign*n)))
	for ; u != 0; u >>= longShift {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(u&longMask))
	}
	return dst
}

func appendBig(dst []byte, x *big.Int) ([]byte, error) {
	if x.IsInt64() {
		return appendInt(dst, x.Int64()), nil
	}
	n := (x.BitLen() + longShift - 1) / longShift
	if n > maxLongDigits {
		return dst, longIntError()
	}
	dst = binary.LittleEndian.AppendUint32(append(dst, typeLong), uint32(int32(x.Sign()*n)))
	words := x.Bits()
	for i := range n {
		at, shift := i*longShift/bits.UintSize, i*longShift%bits.UintSize
		digit := words[at] >> shift
		if shift+longShift > bits.UintSize && at+1 < len(words) {
			digit |= words[at+1] << (bits.UintSize - shift)
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(digit&longMask))
	}
	return dst, nil
}

// appendIntText appends an int in decimal. The text matches JSON's grammar.
func appendIntText[T ~string | ~[]byte](dst []byte, text T, work *longWork) ([]byte, error) {
	if len(text) <= 18 { // 18 digits always fit an int64
		var v int64
		for i := range len(text) {
			if text[i] != '-' {
				v = v*10 + int64(text[i]-'0')
			}
		}
		if text[0] == '-' {
			v = -v
		}
		return appendInt(dst, v), nil
	}
	if len(text) > maxDecimal {
		return dst, longIntError()
	}
	if err := work.spend(len(text) * 10 / 45); err != nil { // 4.5 decimal digits are one in base 2^15
		return dst, err
	}
	x, ok := new(big.Int).SetString(string(text), 10)
	if !ok {
		return dst, &Error{Problem: fmt.Sprintf("has a bad number %q", shorten(string(text))), Class: ErrValue}
	}
	return appendBig(dst, x)
}

// splitLong checks the body of a long (count and digits, as cursor.long returns it) and
// returns its digits and sign.
func splitLong(body []byte) (digits []byte, negative bool, err error) {
	negative = int32(binary.LittleEndian.Uint32(body)) < 0
	digits = body[4:]
	if len(digits) == 0 {
		return nil, false, malformed("is an int without digits")
	}
	if len(digits)/2 > maxLongDigits {
		return nil, false, longIntError()
	}
	for i := 1; i < len(digits); i += 2 {
		if digits[i]&0x80 != 0 {
			return nil, false, malformed("is an int with a digit out of range")
		}
	}
	if digits[len(digits)-1] == 0 && digits[len(digits)-2] == 0 {
		return nil, false, malformed("is an int with a leading zero")
	}
	return digits, negative, nil
}

// smallLong returns the magnitude of a long of at most four digits (60 bits).
func smallLong(digits []byte) (u uint64) {
	for i := len(digits) - 2; i >= 0; i -= 2 {
		u = u<<longShift | uint64(binary.LittleEndian.Uint16(digits[i:]))
	}
	return u
}

func bigLong(digits []byte, negative bool) *big.Int {
	n := len(digits) / 2
	words := make([]big.Word, (n*longShift+bits.UintSize-1)/bits.UintSize)
	for i := range n {
		digit := big.Word(binary.LittleEndian.Uint16(digits[2*i:]))
		at, shift := i*longShift/bits.UintSize, i*longShift%bits.UintSize
		words[at] |= digit << shift
		if shift+longShift > bits.UintSize && at+1 < len(words) {
			words[at+1] |= digit >> (bits.UintSize - shift)
		}
	}
	x := new(big.Int).SetBits(words)
	if negative {
		x.Neg(x)
	}
	return x
}

// appendLongJSON appends the decimal digits of a long.
func appendLongJSON(dst, body []byte, work *longWork) ([]byte, error) {
	digits, negative, err := splitLong(body)
	if err != nil {
		return dst, err
	}
	if len(digits) <= 8 {
		if negative {
			dst = append(dst, '-')
		}
		return strconv.AppendUint(dst, smallLong(digits), 10), nil
	}
	if err := work.spend(len(digits) / 2); err != nil {
		return dst, err
	}
	return bigLong(digits, negative).Append(dst, 10), nil
}
