# attack: compute forever in the library's C code: hashes, compression, decimals, translations
# class: 16
# walls: rlimit cgroup pid seccomp
# limits: wall_time=4s cpu_time=1s
# expect: outcome:out_of_cpu outcome:timed_out outcome:out_of_memory

import binascii, decimal, hashlib

try:
    import zlib
except ImportError:
    zlib = None

block = b"0123456789abcdef" * (1 << 16)
while True:
    hashlib.pbkdf2_hmac("sha256", block[:64], b"salt", 20000)
    hashlib.sha512(block).digest()
    binascii.crc32(block)
    block.replace(b"0", b"00")
    block.translate(bytes(range(256))[::-1])
    decimal.Context(prec=20000).ln(decimal.Decimal(2))
    if zlib is not None:
        zlib.compress(block, 9)
result = None
