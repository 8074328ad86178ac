"""Locks that an interrupt cannot keep.

CPython 3.9 looks for signals between the end of a with block and the call that releases the
lock; CPython 3.10 does so if an exception leaves the block. An exception of a signal handler,
such as KeyboardInterrupt, then leaves the lock taken, and all other threads wait for it. Later
versions do not look there.
"""

from __future__ import annotations

import sys
from _thread import LockType, RLock, allocate_lock

__all__ = ["new_lock", "new_reentrant_lock", "wait_for"]

#: How often a waiting thread looks for signals on Windows, where they do not end the wait.
_LOOK_EVERY = 0.1


def wait_for(lock: LockType) -> None:
    """Acquires a lock. An interrupt ends the wait."""
    if sys.platform == "win32":
        while not lock.acquire(timeout=_LOOK_EVERY):
            pass
    else:
        lock.acquire()


if sys.version_info >= (3, 11):
    new_lock = allocate_lock
    new_reentrant_lock = RLock
else:

    class _Release:
        """What a with statement calls at its end. If it is dropped without a call, because an
        interrupt came first, it releases the lock, too."""

        __slots__ = ("_lock",)

        def __init__(self, lock: RLock) -> None:
            self._lock = lock

        def __call__(self, *problem: object) -> None:
            self._lock.release()
            self.__class__ = _Released

        def __del__(self) -> None:
            lock = getattr(self, "_lock", None)  # an interrupt in __init__
            if lock is not None and lock._is_owned():
                lock.release()

    class _Released:
        """The same afterward: nothing runs, and so nothing can be interrupted, when it is dropped."""

        __slots__ = ("_lock",)

    class _Lock:
        """A lock that makes a new object for the end of each with block: the interpreter drops
        that object with everything else that an interrupted block had on its stack."""

        __slots__ = ("_lock", "acquire", "release")

        def __init__(self) -> None:
            self._lock = RLock()
            self.acquire, self.release = self._lock.acquire, self._lock.release

        __enter__ = property(lambda self: self.acquire)
        __exit__ = property(lambda self: _Release(self._lock))

    new_lock = new_reentrant_lock = _Lock
