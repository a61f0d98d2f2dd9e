"""A clock for tests: nothing in them is really timed."""


class Time:
    """Stands still but for what is said to take a while."""

    def __init__(self):
        self.now = 0.0
        self.called: list[str] = []

    def __call__(self) -> float:
        return self.now

    def takes(self, name: str, seconds: float):
        def call() -> None:
            self.called.append(name)
            self.now += seconds

        return call
