"""Processes that talk to each other, in the ways that Python programs use."""
import concurrent.futures
import multiprocessing
import multiprocessing.shared_memory
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading


def square(n):
    return n * n


def fill(name):
    memory = multiprocessing.shared_memory.SharedMemory(name)
    memory.buf[0] = 77
    memory.close()


def pools():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            assert pool.map(square, range(5)) == [0, 1, 4, 9, 16], method
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(square, range(100))) == 328350


def shared():
    memory = multiprocessing.shared_memory.SharedMemory(create=True, size=1 << 20)
    child = multiprocessing.Process(target=fill, args=(memory.name,))
    child.start()
    child.join()
    assert memory.buf[0] == 77
    memory.close()
    memory.unlink()
    queue = multiprocessing.Queue()
    lock = multiprocessing.Lock()
    with lock:
        queue.put("x")
        assert queue.get() == "x"


def answer(server, reply):
    connection, _ = server.accept()
    with connection:
        connection.sendall(connection.recv(100) + reply)


def sockets():
    """A server and a client in two processes, at every kind of address that is the jail's own."""
    here = os.path.join(os.getcwd(), "s")
    addresses = [
        (socket.AF_UNIX, here),
        (socket.AF_UNIX, tempfile.mktemp()),
        (socket.AF_UNIX, "\0tools"),
        (socket.AF_INET, ("127.0.0.1", 0)),
        (socket.AF_INET, ("0.0.0.0", 0)),
        (socket.AF_INET6, ("::1", 0)),
    ]
    for family, address in addresses:
        with socket.socket(family) as server:
            server.bind(address)
            server.listen()
            child = os.fork()
            if child == 0:
                answer(server, b" back")
                os._exit(0)
            with socket.socket(family) as client:
                client.connect(server.getsockname())
                client.sendall(b"there")
                client.shutdown(socket.SHUT_WR)
                data = b""
                while piece := client.recv(100):
                    data += piece
                assert data == b"there back", (address, data)
            assert os.waitpid(child, 0)[1] == 0
    os.unlink(here)
    with socket.create_server(("", 0)) as server, socket.create_connection(("localhost", server.getsockname()[1])):
        pass
    a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with a, b:
        a.bind(("127.0.0.1", 0))
        b.sendto(b"datagram", a.getsockname())
        assert a.recv(100) == b"datagram"


def children():
    out = subprocess.run(["sh", "-c", "echo $0 $PPID; exit 4"], capture_output=True, text=True)
    assert out.returncode == 4 and out.stdout.split()[1] == str(os.getpid()), out
    child = subprocess.Popen(["sleep", "100"], start_new_session=True)
    os.killpg(child.pid, signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM
    got = threading.Event()
    signal.signal(signal.SIGALRM, lambda *_: got.set())
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    assert got.wait(10)


if __name__ == "__main__":
    pools()
    shared()
    sockets()
    children()
    print("processes: all well")
    sys.exit(0)
