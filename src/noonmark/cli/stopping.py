"""Signals as steps: the first begins to stop, the second hurries, the third kills."""

import asyncio
import signal


class Signals:
    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.hurry = asyncio.Event()
        self.kill = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self.on_signal)

    def on_signal(self) -> None:
        if self.hurry.is_set():
            self.kill.set()
        elif self.stop.is_set():
            self.hurry.set()
        self.stop.set()
