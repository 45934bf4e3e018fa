"""Processes that can be frozen, and messages between them that are lost, delayed and repeated."""

SECOND_US = 1_000_000


class Process:
    """Something that runs. Frozen, its timers and messages wait for it; ended, they are lost."""

    def __init__(self, world, name):
        self.world = world
        self.name = name
        self.ended = False
        self._frozen = None

    def call(self, event, *args):
        """Runs an event of this process, now or when it thaws."""
        if self.ended:
            return
        if self._frozen is not None:
            self._frozen.append((event, args))
            return
        event(*args)

    def later(self, delay_us, event, *args):
        self.world.at(delay_us, self.call, event, *args)

    @property
    def frozen(self):
        return self._frozen is not None

    def freeze(self):
        if self._frozen is None:
            self._frozen = []

    def thaw(self):
        waiting, self._frozen = self._frozen or [], None
        for event, args in waiting:
            self.call(event, *args)


class Network:
    def __init__(self, world):
        self.world = world
        self.rng = world.rng
        self.loss = self.slow = self.repeat = 0.0

    def delay_us(self):
        if self.rng.random() < self.slow:
            return self.rng.randrange(10_000, 1_500_000)
        return self.rng.randrange(200, 3_000)

    def held_up_us(self):
        """On the way from node to node a message may lie for seconds, while shards move."""
        if self.rng.random() < self.slow / 2:
            return self.rng.randrange(SECOND_US, 8 * SECOND_US)
        return self.delay_us()

    def send(self, process, event, *args):
        """The message reaches the process none, one or two times. To a host it reaches whatever runs there then."""
        if self.rng.random() < self.loss:
            return
        self.world.at(self.delay_us(), process.call, event, *args)
        if self.rng.random() < self.repeat:
            self.world.at(self.delay_us(), process.call, event, *args)
