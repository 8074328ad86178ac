# attack: send descriptors to the host over the result's channel
# class: 11
# walls: seccomp environment
# absent: socket.send_fds
# expect: held outcome:invalid_output outcome:denied
# naked: no there is no channel without cordon

import socket

# A host that received them would hold the guest's files open, or run out of
# descriptors. It must not be disturbed.
def attempt():
    channel = socket.socket(fileno=os.dup(3))
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(10)]
    socket.send_fds(channel, [b"\xff"], files)

result = judged(attempt, AttributeError)
