"""Lines that are drawn again and again, for as long as something goes on."""

import time
from collections.abc import Callable
from typing import Any


def follow_live(
    console: Any, look: Callable[[], Any], lines_of: Callable[..., list], every: float
) -> list:
    """Look again and again, until it is finished or somebody has seen enough; the last lines."""
    from rich.console import Group
    from rich.live import Live

    state = look()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        try:
            while state.state != "finished":
                lines = lines_of(state, console.width, console.height)
                live.update(Group(*lines), refresh=True)
                time.sleep(every)
                state = look()
        except KeyboardInterrupt:
            pass
    return lines_of(state, console.width, None)


def show_lines(console: Any, lines: list) -> None:
    """Print lines once."""
    from rich.console import Group

    console.print(Group(*lines))
