"""The child process without subprocess, and values without dataclasses."""

import copy
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading

import pytest

import cordon
from cordon._process import FILE, Process, nameless_file
from cordon._record import Record


def start(*command):
    notes = nameless_file()
    process = Process(list(command), notes)
    return process, notes


def close(process, notes):
    for fd in (process.stdin, process.stdout, notes):
        os.close(fd)


def test_pipes_and_exit_code():
    process, notes = start("/bin/sh", "-c", "read x; echo \"got $x\"; echo no >&2; exit 3")
    assert process.poll() is None
    os.write(process.stdin, b"it\n")
    assert os.read(process.stdout, 100) == b"got it\n"
    assert process.wait(10) == process.poll() == process.returncode == 3
    assert os.pread(notes, 100, 0) == b"no\n"
    close(process, notes)


def test_file_has_a_fixed_place():
    keep = [os.open("/dev/null", os.O_RDONLY) for _ in range(4)]  # an inheritable one may have the number of that place
    for fd in keep:
        os.set_inheritable(fd, True)
    notes = nameless_file()
    process = Process(["/bin/cat", FILE], notes, "a policy\n")
    assert os.read(process.stdout, 100) == b"a policy\n" and process.wait(10) == 0
    close(process, notes)
    for fd in keep:
        os.close(fd)


def test_signals_end_it_once():
    process, notes = start("/bin/sleep", "60")
    with pytest.raises(TimeoutError):
        process.wait(0.01)
    process.terminate()
    assert process.wait(10) == -signal.SIGTERM
    process.kill()  # its pid may belong to another process by now
    close(process, notes)


def test_missing_program_leaves_no_descriptor():
    before = len(os.listdir("/proc/self/fd"))
    notes = nameless_file()
    with pytest.raises(FileNotFoundError):
        Process(["/no/such/program"], notes)
    os.close(notes)
    assert len(os.listdir("/proc/self/fd")) == before


def test_many_threads_get_one_exit_code():
    process, notes = start("/bin/sh", "-c", "exit 5")
    codes = []
    threads = [threading.Thread(target=lambda: codes.append(process.wait(10))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [5] * 8
    close(process, notes)


def test_child_reaped_by_another_is_over():
    process, notes = start("/bin/true")
    os.waitpid(process.pid, 0)
    assert process.poll() == 0
    close(process, notes)


def test_child_inherits_its_streams_only():
    with socket.socket() as listener:
        listener.set_inheritable(True)
        process, notes = start("/bin/sh", "-c", "ls /proc/self/fd")
        process.wait(10)
        names = os.read(process.stdout, 1000).split()
    assert len(names) == 4, names  # the fourth is of ls itself
    close(process, notes)


def test_child_has_default_signals_and_its_own_group():
    process, notes = start("/bin/sh", "-c", "grep SigIgn /proc/self/status; read x")
    assert int(os.read(process.stdout, 100).split()[1], 16) & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1) == 0
    assert os.getpgid(process.pid) == process.pid != os.getpgid(0)
    process.kill()
    process.wait(10)
    close(process, notes)


def test_program_without_standard_streams():
    """A daemon has closed them, and the pipes get their numbers."""
    code = (
        "import os, sys\n"
        "out = os.dup(1)\n"
        "for fd in (0, 1, 2): os.close(fd)\n"
        "import cordon\n"
        "os.write(out, repr(cordon.run('result = 42').value).encode())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, timeout=60)
    assert done.stdout == b"42" and done.returncode == 0


def test_interrupt_at_the_terminal_is_not_for_cordon():
    code = (
        "import cordon, os, signal\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "cordon.run('pass')\n"
        "from cordon import _sandbox\n"
        "child = _sandbox.default()._transport.child()\n"
        "os.killpg(0, signal.SIGINT)\n"
        "print(cordon.run('result = 1').value, child is _sandbox.default()._transport.child())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, start_new_session=True)
    assert done.stdout == "1 True\n", done.stderr


class Point(Record):
    x: int
    y: int = 0
    tags: list = []
    secret: str = "s"

    _hidden = ("secret",)
    _equal_without = ("tags",)


def test_record():
    point = Point(1, secret="no")
    assert repr(point) == "Point(x=1, y=0, tags=[])"
    assert point == Point(1, 0, ["other"], "no") != Point(1) and point != (1, 0)
    assert hash(point) == hash(Point(1, secret="no"))
    assert Point(1).tags is not Point(1).tags
    for other in (pickle.loads(pickle.dumps(point)), copy.copy(point), copy.deepcopy(point)):
        assert other == point and type(other) is Point
    for change in (lambda: setattr(point, "x", 2), lambda: delattr(point, "x")):
        with pytest.raises(AttributeError):
            change()


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: Point(), "Point needs the field 'x'"),
        (lambda: Point(1, 2, [], "", 5), "Point has 4 fields, and 5 were given"),
        (lambda: Point(1, z=2), "Point has no field 'z'"),
        (lambda: Point(1, x=2), "x was given twice"),
    ],
)
def test_record_refuses_wrong_fields(wrong, words):
    with pytest.raises(TypeError) as raised:
        wrong()
    assert str(raised.value) == words


def test_every_name_is_imported_late_and_only_once():
    listed = {name for names in cordon._MODULES.values() for name in names}
    assert listed == set(cordon.__all__) and sum(map(len, cordon._MODULES.values())) == len(listed)
    assert set(cordon.__all__) <= set(dir(cordon))
