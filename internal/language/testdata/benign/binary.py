#: bytes-and-bytearrays
#: bytes, bytearray and memoryview: slicing, searching, translating and views.
data = bytearray(b"hello world")
data[0:1] = b"J"
data.extend(b"!!")
del data[-1]
view = memoryview(data)
part = bytes(view[6:11])
view[0] = ord("C")
view.release()


def hexdump(raw, width=8):
    lines = []
    for i in range(0, len(raw), width):
        chunk = raw[i:i + width]
        hexes = " ".join(map("{:02x}".format, chunk))
        text = "".join(chr(b) if 32 <= b < 127 else "." for b in chunk)
        lines.append(f"{i:04x}  {hexes:<{width * 3 - 1}}  {text}")
    return lines


def xor(raw, key):
    return bytes(b ^ key[i % len(key)] for i, b in enumerate(raw))


secret = xor(b"attack at dawn", b"key")
result = [
    data.decode(),
    part.decode("ascii"),
    hexdump(b"\x00\x01binary\xff\n data"),
    secret.hex(),
    xor(secret, b"key").decode(),
    bytes.fromhex("de ad be ef").hex("-"),
    b"a,b,,c".split(b","),
    list(b"\x01\x02"),
    b"abc".translate(bytes.maketrans(b"abc", b"xyz")).decode(),
    int.from_bytes(b"\x01\x00", "big"),
    (1000).to_bytes(2, "little").hex(),
    b"needle in hay".find(b"in"),
    "héllo".encode("utf-8").hex(),
    "€".encode("utf-16-le").hex(),
    b"caf\xe9".decode("latin-1"),
    b"bad\xff".decode("utf-8", errors="replace"),
]
result[6] = [p.decode() for p in result[6]]
#= ["Cello world!", "world", ["0000  00 01 62 69 6e 61 72 79  ..binary", "0008  ff 0a 20 64 61 74 61     .. data"], "0a110d0a06124b040d4b01181c0b", "attack at dawn", "de-ad-be-ef", ["a", "b", "", "c"], [1, 2], "xyz", 256, "e803", 7, "68c3a96c6c6f", "ac20", "caf\u00e9", "bad\ufffd"]

#: struct-records
#: Packs and parses a small binary file format with struct.
import struct
from collections import namedtuple

MAGIC = b"CRD1"
HEADER = struct.Struct("<4sHI")
ENTRY = struct.Struct("<8sfB")
Entry = namedtuple("Entry", "name score flags")


def pack(entries):
    body = b"".join(ENTRY.pack(e.name.encode().ljust(8, b"\0"), e.score, e.flags) for e in entries)
    return HEADER.pack(MAGIC, len(entries), sum(body) & 0xFFFFFFFF) + body


def unpack(blob):
    magic, count, checksum = HEADER.unpack_from(blob)
    if magic != MAGIC:
        raise ValueError(f"bad magic {magic!r}")
    body = memoryview(blob)[HEADER.size:]
    if sum(body) & 0xFFFFFFFF != checksum:
        raise ValueError("bad checksum")
    return [Entry(n.rstrip(b"\0").decode(), s, f) for n, s, f in ENTRY.iter_unpack(body)][:count]


blob = pack([Entry("ann", 1.5, 3), Entry("bob", -2.25, 128)])
errors = []
for broken in (b"XXXX" + blob[4:], blob[:-1] + b"\x01", blob[:5]):
    try:
        unpack(broken)
    except (ValueError, struct.error) as e:
        errors.append(str(e) if isinstance(e, ValueError) else "struct.error")
result = [len(blob), [list(e) for e in unpack(blob)], errors, struct.calcsize(">hhl"), list(struct.unpack(">Hb?", b"\x01\x02\xff\x01")), struct.pack("!d", 1.0).hex()]
#= [36, [["ann", 1.5, 3], ["bob", -2.25, 128]], ["bad magic b'XXXX'", "bad checksum", "struct.error"], 8, [258, -1, true], "3ff0000000000000"]

#: base64-and-hashes
#: base64 variants, hash digests, a Merkle root and a hash chain.
import base64
import hashlib
import json


def digest(data, name="sha256"):
    return hashlib.new(name, data).hexdigest()


def merkle(leaves):
    level = [hashlib.sha256(x.encode()).digest() for x in leaves]
    while len(level) > 1:
        if len(level) % 2:
            level.append(level[-1])
        level = [hashlib.sha256(a + b).digest() for a, b in zip(level[::2], level[1::2])]
    return level[0].hex()


class Chain:
    def __init__(self):
        self.blocks = []

    def add(self, payload):
        previous = self.blocks[-1]["hash"] if self.blocks else "0" * 64
        nonce = 0
        while True:
            text = json.dumps([previous, payload, nonce])
            h = hashlib.sha256(text.encode()).hexdigest()
            if h.startswith("00"):
                break
            nonce += 1
        self.blocks.append({"previous": previous, "payload": payload, "nonce": nonce, "hash": h})

    def valid(self):
        previous = "0" * 64
        for b in self.blocks:
            text = json.dumps([previous, b["payload"], b["nonce"]])
            if b["previous"] != previous or hashlib.sha256(text.encode()).hexdigest() != b["hash"]:
                return False
            previous = b["hash"]
        return True


chain = Chain()
for payload in ("genesis", {"from": "a", "to": "b", "amount": 5}):
    chain.add(payload)
before = chain.valid()
chain.blocks[1]["payload"]["amount"] = 500
h = hashlib.md5()
for part in (b"ab", b"c"):
    h.update(part)
result = [
    base64.b64encode(b"hello world").decode(),
    base64.urlsafe_b64encode(bytes(range(250, 256))).decode(),
    base64.b32encode(b"hi").decode(),
    base64.b16decode("CAFE").hex(),
    base64.b64decode("aGk=").decode(),
    digest(b"abc")[:16],
    digest(b"abc", "sha1")[:16],
    h.hexdigest() == hashlib.md5(b"abc").hexdigest(),
    hashlib.blake2b(b"x", digest_size=8).hexdigest(),
    merkle("abc")[:12],
    [before, chain.valid()],
    hashlib.sha256().name,
]
#= ["aGVsbG8gd29ybGQ=", "-vv8_f7_", "NBUQ====", "cafe", "hi", "ba7816bf8f01cfea", "a9993e364706816a", true, "4adf4367f96e584f", "d31a37ef6ac1", [true, false], "sha256"]

#: uuid-ids
#: Name-based UUIDs, UUID fields and short identifiers.
import uuid

ns = uuid.uuid5(uuid.NAMESPACE_DNS, "example.org")
users = {name: uuid.uuid5(ns, name) for name in ("ann", "bob")}
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def short(u, length=8):
    n, out = u.int, []
    while n and len(out) < length:
        n, r = divmod(n, len(ALPHABET))
        out.append(ALPHABET[r])
    return "".join(out)


parsed = uuid.UUID("{12345678-1234-5678-1234-567812345678}")
try:
    uuid.UUID("nonsense")
    error = None
except ValueError:
    error = "not a uuid"
fresh = uuid.uuid4()
result = {
    "ann": str(users["ann"]),
    "stable": users["bob"] == uuid.uuid5(ns, "bob"),
    "version": [ns.version, uuid.uuid3(uuid.NAMESPACE_URL, "x").version, fresh.version],
    "short": short(users["ann"]),
    "hex": parsed.hex,
    "urn": parsed.urn,
    "fields": parsed.fields[0],
    "bytes": len(parsed.bytes),
    "unique": len({uuid.uuid4() for _ in range(50)}),
    "error": error,
}
#= {"ann": "7e0ece1a-7917-5e2c-a783-8fa6f8bc9a9c", "stable": true, "version": [5, 3, 4], "short": "8392rh2q", "hex": "12345678123456781234567812345678", "urn": "urn:uuid:12345678-1234-5678-1234-567812345678", "fields": 305419896, "bytes": 16, "unique": 50, "error": "not a uuid"}

#: bit-manipulation
#: Bit tricks, bit fields, gray codes, checksums and a bloom filter.
import hashlib


def popcount(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


def gray(n):
    return n ^ (n >> 1)


def crc8(data, poly=0x07):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = ((crc << 1) ^ poly) & 0xFF if crc & 0x80 else (crc << 1) & 0xFF
    return crc


class BitField:
    def __init__(self, value=0):
        self.value = value

    def __getitem__(self, key):
        if isinstance(key, slice):
            width = key.stop - key.start
            return (self.value >> key.start) & ((1 << width) - 1)
        return (self.value >> key) & 1

    def __setitem__(self, bit, on):
        self.value = self.value | 1 << bit if on else self.value & ~(1 << bit)

    def __index__(self):
        return self.value


class Bloom:
    def __init__(self, bits=256, hashes=3):
        self.bits, self.hashes, self.field = bits, hashes, 0

    def _positions(self, item):
        for i in range(self.hashes):
            h = hashlib.sha256(f"{i}:{item}".encode()).digest()
            yield int.from_bytes(h[:4], "big") % self.bits

    def add(self, item):
        for p in self._positions(item):
            self.field |= 1 << p

    def __contains__(self, item):
        return all(self.field >> p & 1 for p in self._positions(item))


flags = BitField(0b10110)
flags[0] = True
flags[1] = False
bloom = Bloom()
for word in ("alpha", "beta", "gamma"):
    bloom.add(word)
result = [popcount(255), [format(gray(i), "03b") for i in range(8)], crc8(b"123456789"), bin(flags), flags[2:5], hex(flags), [w in bloom for w in ("alpha", "gamma", "delta")], (1 << 100).bit_length(), ~5 & 0xFF, 0b1010 ^ 0b0110, f"{37:08b}"]
#= [8, ["000", "001", "011", "010", "110", "111", "101", "100"], 244, "0b10101", 5, "0x15", [true, true, false], 101, 250, 12, "00100101"]
