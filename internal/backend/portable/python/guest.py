"""Last part: the guest side on systems other than Linux, where each script has its own
process behind the system's walls.

    Runner                            here
    ──────                            ────
    program, by standard input  ──▶   the loader (program.go) executes it
    order                       ──▶   path, preload, language
                                ◀──   ready, by the channel: empty, or what failed
    start, or check             ──▶   script, name, context, variables
    the script's own input      ──▶   what is left of standard input
                                ◀──   done: the report, see internal/report

Up to "ready" all messages are ours. After that any message may be the guest's.
"""
import marshal
import sys


def open_channel(name):
    if sys.platform != "win32":
        return int(name)
    import msvcrt

    return msvcrt.open_osfhandle(int(name), system.O_WRONLY | system.O_BINARY | system.O_NOINHERIT)


def send(channel, kind, payload):
    """Sends kind, length, payload. See internal/wire."""
    data = memoryview(kind + len(payload).to_bytes(4, "little") + payload)
    while data:
        data = data[system.write(channel, data[: 1 << 20]) :]


def receive():
    """Reads a frame, and not a byte more: what follows is the guest's input."""
    header = take(5)
    return header[:1], marshal.loads(take(int.from_bytes(header[1:], "little")))


def main():
    channel = open_channel(sys.argv[1])
    step = "order"
    try:
        path, preload, language = receive()[1]
        sys.path[:] = path
        step = "preload"
        prepare(preload)
        step = "language"
        rules, names, compiling = None, sys.modules["builtins"], compiled
        if language is not None:
            modules, builtins, source = language
            load_language(b"", source)
            rules = learn_language(modules, builtins, False)
            names, compiling = rules.builtins, rules.compiled
        space = stage(names)
        out_of_memory = raised("MemoryError")  # made in advance, while there is memory
    except BaseException as error:
        words = {"step": step, "error": bounded(str, error, 1000)}
        send(channel, b"R", marshal.dumps(words, 2))
        system._exit(1)
    send(channel, b"R", b"")
    kind, (script, name, context, shown, most) = receive()
    try:
        if kind == b"V":
            report = {"end": "checked", "code": 0, "findings": rules.check(script, name)}
        else:
            report = run(script, name, context, shown, None, space, compiling)
        flush()
        words = pack(report, most)
    except MemoryError:
        words = out_of_memory
        flush()
    send(channel, b"D", words)
    system._exit(0)


main()
