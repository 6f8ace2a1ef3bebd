package series

import "encoding/binary"

// AppendValue appends one packed label value: its length as a varint, then its
// bytes. The length in front keeps any two different value lists apart,
// whatever bytes they hold.
func AppendValue(dst []byte, v string) []byte {
	if len(v) < 0x80 { // one byte of varint: nearly every label value
		dst = append(dst, byte(len(v)))
	} else {
		dst = binary.AppendUvarint(dst, uint64(len(v)))
	}
	return append(dst, v...)
}

// CutValue splits the first packed label value from the rest. It reports false
// when packed does not begin with a whole value.
func CutValue(packed string) (value, rest string, ok bool) {
	if len(packed) > 0 && packed[0] < 0x80 {
		if end := 1 + int(packed[0]); end <= len(packed) {
			return packed[1:end], packed[end:], true
		}
		return "", "", false
	}
	return cutLong(packed)
}

func cutLong(packed string) (value, rest string, ok bool) {
	var n uint64
	for i := 0; i < len(packed) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(packed[i]&0x7f) << (7 * i)
		if packed[i] < 0x80 {
			packed = packed[i+1:]
			if n > uint64(len(packed)) {
				return "", "", false
			}
			return packed[:n], packed[n:], true
		}
	}
	return "", "", false
}
