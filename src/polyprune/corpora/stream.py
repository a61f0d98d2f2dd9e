"""The stream of training examples: endless, exactly resumable, for any number of processes.

Slot n of a run belongs to lane n % lanes. Its language is drawn from (seed, n) alone, and its
example is the next one that this lane has of this language. A process owns whole lanes, so that
the batches are the same whatever the number of processes, and nobody reads for another.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from ..errors import ConfigError, DataError
from .cursor import Cursor, Lane
from .example import Example
from .packing import PackedTokens, Packing, Unit, pack
from .positions import PackerPosition, StreamPosition
from .text_sources import TextSource


def language_shares(
    sizes: Mapping[str, int | float], exponent: int | float = 0.3
) -> dict[str, float]:
    """Return each language's sampling probability q ∝ p^exponent; p is its share of all text.

    1 is in proportion to the text, 0 is the same for every language; 0.3 is XLM-R's.
    """
    if not 0 <= exponent <= 1:
        raise ConfigError(
            f"The exponent of the sampling is {exponent}; choose one from 0, every language alike, "
            "to 1, in proportion to its text."
        )
    if not sizes:
        raise DataError("There are no languages to sample from. Name at least one with text.")
    for code, size in sizes.items():
        if not size > 0:
            raise DataError(
                f"There is no text in {code}: its size is {size}. Leave the language out, or put "
                "text into its file."
            )
    total = sum(sizes.values())
    powers = {code: (size / total) ** exponent for code, size in sizes.items()}
    whole = sum(powers.values())
    return {code: power / whole for code, power in powers.items()}


def resampling(sizes: Mapping[str, int | float], exponent: int | float = 0.3) -> dict[str, float]:
    """Return how often each language's text is read while all text is read once: q · Σn / n.

    This is `size_ratio` in fairseq's `multilingual_masked_lm`.
    """
    total = sum(sizes.values())
    shares = language_shares(sizes, exponent)
    return {code: share * total / sizes[code] for code, share in shares.items()}


@dataclass(frozen=True, slots=True)
class StreamConfig:
    """How text becomes examples, and how languages are sampled."""

    exponent: int | float = 0.3
    """The exponent of a language's share of the text; 0 samples all languages equally."""
    block: int = 512
    """The number of tokens in a block with its special tokens, or the maximum of a line."""
    window: int = 4096
    """The number of documents that are shuffled together."""
    unit: Unit = "block"
    """`block` packs whole lines into blocks; `line` makes one example per line; `input` does too,
    of a text or of two with a tab between them, as a fine-tuned model reads them."""
    prefix: str = ""
    """A prefix for every line, such as `query: ` for e5; not for blocks."""
    seed: int = 0
    lanes: int = 1
    """The number of independent shares of the text: the maximum number of processes."""

    def __post_init__(self):
        least = {"block": 3, "window": 1, "seed": 0, "lanes": 1}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise ConfigError(
                    f"`{name}` is {getattr(self, name)}; choose a whole number from {value} on."
                )
        if self.unit not in get_args(Unit):
            raise ConfigError(
                f"`unit` is {self.unit!r}; choose `block`, whole lines packed together, `line`, or "
                "`input`, a line with one or two texts."
            )


@dataclass(frozen=True, slots=True)
class ProcessShard:
    """The part of every batch that one process trains on."""

    batch: int
    """The number of examples in a batch, over all processes."""
    process: int = 0
    processes: int = 1
    held_out: Mapping[str, int] = field(default_factory=dict)
    """For each language, the document before which every tenth is held out."""


def stream(
    sources: Mapping[str, TextSource],
    tokenizer: Any,
    stream_config: StreamConfig,
    share: ProcessShard,
    position: StreamPosition | None = None,
) -> Iterator[tuple[list[Example], StreamPosition]]:
    """Yield this process's part of each batch from a position on, with the position after it."""
    check_shard(stream_config, share, position)
    # Others may use theirs meanwhile, with other settings: those are kept in the object.
    packing = Packing(
        deepcopy(tokenizer), stream_config.block, stream_config.unit, stream_config.prefix
    )
    # In one order, however the languages were named: the draw depends on it.
    sizes = {code: sources[code].size for code in sorted(sources)}
    shares = language_shares(sizes, stream_config.exponent)

    def packer(
        lane: int, code: str, start: PackerPosition | None
    ) -> Iterator[tuple[PackedTokens, PackerPosition]]:
        limit = share.held_out.get(code, 0)
        where = Lane(lane, stream_config.lanes)
        cursor = Cursor(sources[code], code, where, stream_config.window, stream_config.seed, limit)
        return pack(cursor, packing, start)

    return _batches(shares, stream_config, share, position, packer)


def merge_positions(positions: Sequence[StreamPosition]) -> StreamPosition:
    """Merge the processes' positions into one that any number of processes can resume from."""
    if len({(position.number, position.lanes) for position in positions}) != 1:
        raise ConfigError(
            "Positions can be merged when all are of the same batch of the same run, got batches "
            f"that end at {', '.join(str(position.number) for position in positions)}."
        )
    packers = {key: place for position in positions for key, place in position.packers.items()}
    return replace(positions[0], packers=packers)


def draw_languages(shares: Mapping[str, float], seed: int, first: int, count: int) -> list[str]:
    """Draw the languages of `count` slots from `first` on; each depends only on its number."""
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
    position: StreamPosition | None,
    packer: Any,
) -> Iterator[tuple[list[Example], StreamPosition]]:
    number = position.number if position else 0
    places = _own(position.packers, share) if position else {}
    packers: dict[str, Iterator[tuple[PackedTokens, PackerPosition]]] = {}
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
        yield batch, StreamPosition(number, stream_config.lanes, dict(places))


def _own(places: Mapping[str, PackerPosition], share: ProcessShard) -> dict[str, PackerPosition]:
    """Return the positions of this process's lanes."""
    lanes = {key: int(key.partition("/")[0]) for key in places}
    return {key: places[key] for key in places if lanes[key] % share.processes == share.process}


def check_shard(
    stream_config: StreamConfig, share: ProcessShard, position: StreamPosition | None = None
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
    if position and position.lanes != stream_config.lanes:
        raise ConfigError(
            f"This run has read its text in {position.lanes} lanes and cannot go on in "
            f"{stream_config.lanes}. Set the lanes to {position.lanes}, or begin a new run."
        )
