# attack: make every system call with a number that the filter does not name
# class: 1
# walls: seccomp
# needs: syscall
# naked: no the numbers beyond the kernel's last are unknown everywhere

import errno

# Denied and unknown are both fine. Any other answer means that a number that is not on
# the list reached the kernel.
def attempt():
    reached = []
    for number in (424, 425, 428, 430, 438, 440, 442, 443, 447, 448, 453, 457, 458, 459, 460, 461, 463, 467, 500, 600, 1 << 20):
        try:
            syscall(number, -1, 0, 0, 0, 0, 0)
            reached.append(str(number))
        except OSError as e:
            if e.errno not in (errno.EPERM, errno.ENOSYS):
                reached.append("%d (%s)" % (number, e.strerror))
    return reached and "the kernel answers to " + ", ".join(reached)

result = judged(attempt)
