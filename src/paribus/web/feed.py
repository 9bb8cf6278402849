"""Events with the changed parts of a page, rendered once for all streams in a language."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Hashable


class Feed:
    """Versions of a page. A stream one version behind receives the changes, any other the whole page."""

    def __init__(self, stamp: Callable[[], Hashable], make: Callable[[], Awaitable[dict[str, str]]]) -> None:
        self._stamp = stamp
        self._make = make
        self._lock = asyncio.Lock()
        self._made_at: Hashable = None
        self._version = 0
        self._parts: dict[str, str] = {}
        self._whole = ""
        self._change = ""

    async def since(self, version: int) -> tuple[int, str]:
        """The current version, and the event that updates this version (0: nothing) to it; empty if they are equal.

        Raises what rendering the page raises.
        """
        async with self._lock:
            stamp = self._stamp()
            if stamp != self._made_at:
                parts = await self._make()
                self._made_at = stamp
                changed = {part: text for part, text in parts.items() if self._parts.get(part) != text}
                if changed:
                    self._parts |= parts
                    self._version += 1
                    self._change, self._whole = _event(changed), _event(self._parts)
        if version == self._version:
            return version, ""
        return self._version, self._change if version == self._version - 1 else self._whole


def _event(parts: dict[str, str]) -> str:
    return f"data: {json.dumps(parts)}\n\n"
