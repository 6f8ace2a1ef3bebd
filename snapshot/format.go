package snapshot

import (
	"errors"
	"hash/crc32"
)

// The format of a snapshot, version 1.0.
//
// A snapshot is a header, then frames, the last of them an end frame. Integers
// of fixed width are little endian; uvarint and varint are those of
// encoding/binary (varint is zig-zag).
//
//	header   magic     8 bytes  89 'H' 'C' 'S' 0d 0a 1a 0a
//	         major     u16      1
//	         minor     u16      0
//	         crc       u32      CRC-32C of the 12 bytes before it
//
//	frame    kind      u8
//	         count     u32      rows in the payload
//	         length    u32      bytes in the payload, at most 256 MiB
//	         payload   length bytes
//	         crc       u32      see below
//
// The payload of each kind, where a key is the family's index as a uvarint and
// then, for each of the family's labels, a value as uvarint length and bytes;
// and where a created is the varint difference to the row before it in the same
// frame, or to 0 in a frame's first row:
//
//	1 meta      writer 16 bytes, seq u64, started, taken
//	            each time is seconds i64 since 1970 UTC and nanoseconds u32;
//	            later minor versions may append fields
//	2 families  name, label count uvarint, label names;
//	            each name is uvarint length and bytes
//	3 counters  key, created, value varint
//	4 uniques   key, created, hash u8, fingerprint of the seed u64,
//	            sketch uvarint length and bytes
//	5 gauges    key, value u64 (IEEE 754 bits)
//	6 final     as counters
//	7 retired   as counters
//	8 folded    writer 16 bytes, seq uvarint
//	9 windows   key, row count uvarint, rows: resolution uvarint, start varint
//	            difference to the row before it, width uvarint, count varint;
//	            start is Unix nanoseconds, resolution and width nanoseconds; width
//	            is times 2, plus 1 for what an earlier writer counted
//	10 windows of uniques
//	            key, row count uvarint, rows: start as in 9, width uvarint in
//	            nanoseconds, scheme and sketch as in 4
//	255 end     length of the whole file u64
//
// The meta frame comes first and once. Families are numbered from 0 in the
// order of their first use and stand in a frame before that use, so a reader
// needs one pass and rows of different families may mix. Nothing follows the
// end frame. A section may span any number of frames.
//
// Every crc of a frame is the CRC-32C of all bytes of the file up to it, without
// the header's and the earlier frames' crc fields. (With them it would be worth
// nothing: a CRC over data and their own CRC is a constant.) So each frame can
// be trusted as soon as it is read, frames of different files cannot be mixed,
// and the last crc covers the whole file.
//
// CRC-32C and not xxHash64, because damage to a file is nearly always short:
// CRC-32C finds every error burst of up to 32 bits and every error of up to
// three bits in 256 MiB for certain, where a hash finds each only with high
// probability. The standard library computes it in hardware. What it leaves to
// chance, 2⁻³² of the long random damage, the lengths and the row checks narrow
// further.
//
// Compatibility: a reader refuses a newer major version with ErrVersion. It
// skips kinds that it does not know, so a minor version may add kinds, and
// fields at the end of meta. The header keeps its layout for good.
//
// A frame holds about frameSize bytes: its 13 bytes of overhead vanish, and the
// one frame that writer and reader hold stays in a core's private cache. A row
// larger than that gets a frame for itself.
const (
	magic        = "\x89HCS\r\n\x1a\n"
	majorVersion = 1
	minorVersion = 0

	headerSize      = len(magic) + 2 + 2 + crcSize
	frameHeaderSize = 1 + 4 + 4
	crcSize         = 4
	metaSize        = len(WriterID{}) + 8 + 2*timeSize
	timeSize        = 8 + 4
	endSize         = 8

	frameSize    = 64 << 10
	maxFrameSize = 256 << 20
)

const (
	kindMeta     = 1
	kindFamilies = 2
	kindCounters = 3
	kindUniques  = 4
	kindGauges   = 5
	kindFinal    = 6
	kindRetired  = 7
	kindFolded   = 8
	kindWindows  = 9

	kindUniquesWindows = 10
	kindEnd            = 255
)

var (
	// ErrCorrupt is wrapped by the error of ReadFrom when the bytes are no
	// whole, undamaged snapshot.
	ErrCorrupt = errors.New("hotcount/snapshot: damaged snapshot")

	// ErrVersion is wrapped by the error of ReadFrom when a newer program,
	// of another major version of the format, wrote the snapshot. It is
	// undamaged as far as that can be told.
	ErrVersion = errors.New("hotcount/snapshot: snapshot of a newer format version")
)

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
