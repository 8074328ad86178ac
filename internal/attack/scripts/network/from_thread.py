# attack: connect from a new thread
# class: 4
# walls: seccomp net
# needs: threads

import socket, threading

# A filter binds the thread that installed it and those made later.
def attempt():
    heard = []
    def connect():
        try:
            with socket.create_connection(("127.0.0.1", need("tcp4_port")), 2) as s:
                heard.append(s.recv(200).decode())
        except OSError:
            pass
    threads = [threading.Thread(target=connect) for _ in range(3)]
    start(*threads)
    for t in threads:
        t.join()
    return heard and "a thread heard " + heard[0]

result = judged(attempt)
