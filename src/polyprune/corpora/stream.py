"""The mix of languages that is trained on: endless, exactly resumable, in any number of processes.

Slot n of a run belongs to lane n % lanes. Its language is drawn from (seed, n) alone, and its
example is the next one that this lane has of this language. A process owns whole lanes, so that
the batches are the same whatever the number of processes, and nobody reads for another.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from ..errors import ConfigError
from .cursor import Cursor, Lane
from .packing import PackedTokens, Packing, Unit, pack
from .sampling import language_shares
from .text_sources import Position, TextSource


@dataclass(frozen=True, slots=True)
class Example:
    """What a model is trained on once."""

    number: int
    """Its place in the whole run, the same whatever the number of processes."""
    language: str
    ids: list[int]
    pair: list[int] | None = None
    """Of the translation, if there is one."""
    text: str | None = None
    """Of a line, without the prefix; None for blocks."""


@dataclass(frozen=True, slots=True)
class StreamConfig:
    """How text becomes examples, and how the languages are mixed."""

    exponent: int | float = 0.3
    """Of a language's share of the text; 0 is every language alike, 1 in proportion."""
    block: int = 512
    """Tokens of a block, its ends among them, or that a line is cut to."""
    window: int = 4096
    """Documents that are shuffled together."""
    unit: Unit = "block"
    """Whole lines packed into blocks, or one line an example."""
    prefix: str = ""
    """What every line begins with, such as `query: ` for e5; for lines only."""
    seed: int = 0
    lanes: int = 1
    """Shares of the text that are read apart: the largest number of processes there may be."""

    def __post_init__(self):
        least = {"block": 3, "window": 1, "seed": 0, "lanes": 1}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise ConfigError(
                    f"`{name}` is {getattr(self, name)}; choose a whole number from {value} on."
                )
        if self.unit not in get_args(Unit):
            raise ConfigError(
                f"`unit` is {self.unit!r}; choose `block`, whole lines packed together, or `line`."
            )


@dataclass(frozen=True, slots=True)
class ProcessShard:
    """Which part of which batches a process trains on."""

    batch: int
    """Examples of all processes together."""
    process: int = 0
    processes: int = 1
    held_out: Mapping[str, int] = field(default_factory=dict)
    """The document of each language before which every tenth is held out."""


def stream(
    sources: Mapping[str, TextSource],
    tokenizer: Any,
    stream_config: StreamConfig,
    share: ProcessShard,
    position: Position | None = None,
) -> Iterator[tuple[list[Example], Position]]:
    """This process's part of each batch from a position on, with the position after it."""
    check_shard(stream_config, share, position)
    # Others may use theirs meanwhile, with other settings: those are kept in the object.
    packing = Packing(
        deepcopy(tokenizer), stream_config.block, stream_config.unit, stream_config.prefix
    )
    # In one order, however the languages were named: the draw depends on it.
    sizes = {code: sources[code].size for code in sorted(sources)}
    shares = language_shares(sizes, stream_config.exponent)

    def packer(
        lane: int, code: str, start: Position | None
    ) -> Iterator[tuple[PackedTokens, Position]]:
        limit = share.held_out.get(code, 0)
        where = Lane(lane, stream_config.lanes)
        cursor = Cursor(sources[code], code, where, stream_config.window, stream_config.seed, limit)
        return pack(cursor, packing, start)

    return _batches(shares, stream_config, share, position, packer)


def merge_positions(positions: Sequence[Position]) -> Position:
    """The position of a whole run, which any number of processes can go on from."""
    if len({(position["number"], position["lanes"]) for position in positions}) != 1:
        raise ConfigError(
            "Positions can be merged when all are of the same batch of the same run, got batches "
            f"that end at {', '.join(str(position['number']) for position in positions)}."
        )
    packers = {key: place for position in positions for key, place in position["packers"].items()}
    return positions[0] | {"packers": packers}


def draw_languages(shares: Mapping[str, float], seed: int, first: int, count: int) -> list[str]:
    """The languages of so many slots, the first of them given; each depends on its number alone."""
    # A counter-based generator gives four numbers for each value of its counter.
    skipped = first % 4
    key = np.array([seed, 0], dtype=np.uint64)
    raw = np.random.Philox(key=key, counter=first // 4).random_raw(skipped + count)[skipped:]
    uniform = (raw >> np.uint64(11)) * 2.0**-53
    bounds = np.cumsum(list(shares.values()))[:-1]
    codes = list(shares)
    return [codes[i] for i in np.searchsorted(bounds, uniform, side="right").tolist()]


def _batches(
    shares: Mapping[str, float],
    stream_config: StreamConfig,
    share: ProcessShard,
    position: Position | None,
    packer: Any,
) -> Iterator[tuple[list[Example], Position]]:
    number = position["number"] if position else 0
    places = _own(position["packers"], share) if position else {}
    packers: dict[str, Iterator[tuple[PackedTokens, Position]]] = {}
    while True:
        batch: list[Example] = []
        codes = draw_languages(shares, stream_config.seed, number, share.batch)
        for slot, code in enumerate(codes, number):
            lane = slot % stream_config.lanes
            if lane % share.processes != share.process:
                continue
            key = f"{lane}/{code}"
            if key not in packers:
                packers[key] = packer(lane, code, places.get(key))
            tokens, places[key] = next(packers[key])
            batch.append(Example(slot, code, *tokens))
        number += share.batch
        yield batch, {"number": number, "lanes": stream_config.lanes, "packers": dict(places)}


def _own(places: Mapping[str, Position], share: ProcessShard) -> dict[str, Position]:
    """The positions of this process's lanes."""
    lanes = {key: int(key.partition("/")[0]) for key in places}
    return {key: places[key] for key in places if lanes[key] % share.processes == share.process}


def check_shard(
    stream_config: StreamConfig, share: ProcessShard, position: Position | None = None
) -> None:
    """Raise unless batches divide into lanes, and lanes among processes."""
    if share.batch < 1 or share.batch % stream_config.lanes:
        raise ConfigError(
            f"A batch of {share.batch} examples cannot be split into "
            f"{stream_config.lanes} lanes. Choose "
            f"a multiple of {stream_config.lanes}, such as "
            f"{stream_config.lanes * max(1, round(share.batch / stream_config.lanes))}."
        )
    if stream_config.lanes % share.processes:
        raise ConfigError(
            f"{stream_config.lanes} lanes cannot be split among "
            f"{share.processes} processes. Choose a "
            f"multiple of {share.processes}, such as "
            f"{share.processes * max(1, round(stream_config.lanes / share.processes))}."
        )
    if not 0 <= share.process < share.processes:
        raise ConfigError(f"There is no process {share.process} among {share.processes}.")
    if position and position["lanes"] != stream_config.lanes:
        raise ConfigError(
            f"This run has read its text in {position['lanes']} lanes and cannot go on in "
            f"{stream_config.lanes}. Set the lanes to {position['lanes']}, or begin a new run."
        )
