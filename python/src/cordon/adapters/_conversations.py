"""Runs the code of a tool: in a session for each conversation, or each time in a new guest."""

from __future__ import annotations

import threading
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from .._options import SessionOptions
from .._result import Result
from .._sandbox import Sandbox, default
from .._session import Session

# The sessions that a tool keeps, of the 32 that a program may have open.
_MOST = 16


class Conversations:
    """A tool is often made once for all users of a program, so each conversation has a session of
    its own. The one that was not used for the longest time is given up for a new one.

    ``session`` is False for a new guest for each call, or a session that the caller opened, for
    all conversations.
    """

    def __init__(self, sandbox: Optional[Sandbox], session: Union[bool, Session], options: Mapping[str, Any]) -> None:
        of_session, self._options = split(options)
        self.keeps = session is not False
        self._given = session if isinstance(session, Session) else None
        if self._given is not None and (sandbox is not None or of_session):
            raise TypeError(f"{', '.join(of_session) or 'sandbox'}: the session that was given has its own")
        if session is False:
            self._options = dict(options)
        self._sandbox, self._of_session = sandbox if sandbox is not None else default(), of_session
        self._sessions: Dict[str, Session] = {}  # the last used is the last
        self._lock = threading.Lock()

    def run(self, code: str, conversation: str) -> Result:
        return self._of(conversation).run(code, **self._options)

    async def arun(self, code: str, conversation: str) -> Result:
        return await self._of(conversation).arun(code, **self._options)

    def _of(self, conversation: str) -> Union[Sandbox, Session]:
        """Returns what runs the code of a conversation."""
        if self._given is not None:
            return self._given
        if not self.keeps:
            return self._sandbox
        with self._lock:
            session = self._sessions.pop(conversation, None)
            if session is None or not session.alive:
                session = self._sandbox.session(**self._of_session)
            self._sessions[conversation] = session
            if len(self._sessions) > _MOST:
                del self._sessions[next(iter(self._sessions))]  # it is closed when its steps have ended
        return session


def split(options: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Returns the options of a session, and those of its steps.

    >>> split({"timeout": 5, "stdin": "typed"})
    ({'timeout': 5}, {'stdin': 'typed'})
    """
    of_session = {name: value for name, value in options.items() if name in SessionOptions.__annotations__}
    return of_session, {name: value for name, value in options.items() if name not in of_session}
