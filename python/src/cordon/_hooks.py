"""The open hooks and their ids."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

from ._errors import CordonError, NothingSent

if TYPE_CHECKING:
    from concurrent.futures import Future


class HookSource(NamedTuple):
    """What a hook is opened with. Equal sources are the same hook."""

    script: str
    name: Optional[str] = None
    trust: Optional[str] = None
    limits: Tuple[Tuple[str, Any], ...] = ()

    def request(self) -> Dict[str, Any]:
        spec: Dict[str, Any] = {"script": self.script, "name": self.name, "trust": self.trust, "limits": dict(self.limits)}
        return {"hook": {key: value for key, value in spec.items() if value}}


class Hooks:
    """Maps what hooks were opened with to their ids. Keeps the most recently called ones.

    If several callers need the same hook at once, the first one opens it and the others wait.
    If the first is canceled, the others get NothingSent, and one of them opens it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._ids: OrderedDict[Any, Union[str, Future[str]]] = OrderedDict()  # or its opening

    def __len__(self) -> int:
        return len(self._ids)

    def known(self, source: Any) -> Optional[str]:
        """Returns the id of an open hook, or None."""
        found = self._ids.get(source)
        if not isinstance(found, str):
            return None
        try:
            self._ids.move_to_end(source)
        except KeyError:
            pass  # another caller found it closed
        return found

    def opened(self, source: Any, work: Callable[[], str]) -> str:
        """Returns the id of a hook that is opened now, by this call or by a concurrent one."""
        from concurrent.futures import Future

        mine: Future[str] = Future()
        try:
            found = self._ids.setdefault(source, mine)
            if found is mine:
                self._store(source, mine, work())
            return found if isinstance(found, str) else found.result()
        except BaseException as problem:
            self._give_up(source, mine, problem)
            raise

    async def opened_async(self, source: Any, work: Callable[[], Awaitable[str]]) -> str:
        import asyncio
        from concurrent.futures import Future

        mine: Future[str] = Future()
        try:
            found = self._ids.setdefault(source, mine)
            if isinstance(found, str):
                return found
            if found is mine:
                self._store(source, mine, await work())
            else:
                opened, _ = await asyncio.wait([asyncio.wrap_future(found)])
                opened.pop().exception()  # which result() raises, below
            return found.result()
        except BaseException as problem:
            self._give_up(source, mine, problem)
            raise

    def _store(self, source: Any, mine: Future[str], handle: str) -> None:
        if self._ids.get(source) is mine:
            self._ids[source] = handle
        mine.set_result(handle)

    def _give_up(self, source: Any, mine: Future[str], problem: BaseException) -> None:
        if not mine.done():
            if self._ids.get(source) is mine:
                self._ids.pop(source, None)
            mine.set_exception(problem if isinstance(problem, CordonError) else NothingSent())

    def forget(self, source: Any, handle: str) -> None:
        """Forgets a closed hook, unless it was opened again since."""
        if self._ids.get(source) == handle:
            self._ids.pop(source, None)

    def spare(self) -> List[str]:
        """Forgets the hooks above the maximum, and returns their ids."""
        return self.drop(len(self._ids) - self._most)

    def drop(self, count: int) -> List[str]:
        """Forgets the least recently called hooks."""
        ids = []
        for _ in range(count):
            try:
                _, found = self._ids.popitem(last=False)
            except KeyError:
                break
            if isinstance(found, str):
                ids.append(found)
        return ids
