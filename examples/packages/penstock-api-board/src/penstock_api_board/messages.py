"""The messages, and who waits for further ones."""

import asyncio
from collections import deque
from dataclasses import dataclass

LONGEST = 1000  # characters


@dataclass(frozen=True)
class Message:
    """number: from 1 on."""

    number: int
    text: str


class Board:
    """Keeps the last so many messages, as long as the process lives."""

    def __init__(self, kept):
        self._messages = deque(maxlen=kept)
        self._count = 0
        self._news = asyncio.Event()

    def post(self, text):
        """Raises ValueError for what is no message."""
        if not isinstance(text, str) or not 0 < len(text) <= LONGEST:
            raise ValueError(f"a message is a text of 1 to {LONGEST} characters")
        self._count += 1
        message = Message(self._count, text)
        self._messages.append(message)
        self._news.set()
        self._news = asyncio.Event()
        return message

    def after(self, number):
        """The messages that are kept and came after that one."""
        return [message for message in self._messages if message.number > number]

    async def follow(self, number):
        """Each message after that one, for ever."""
        while True:
            news = self._news
            for message in self.after(number):
                number = message.number
                yield message
            await news.wait()
