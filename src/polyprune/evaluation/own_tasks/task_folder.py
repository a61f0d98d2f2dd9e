"""The files of a task of one's own: which split and which language each of them holds."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...corpora.languages import language
from ...corpora.text_files import PACKED
from ...errors import DataError, PolypruneError
from ..readers.hub_tables import configurations, is_data_set, splits_of
from ..readers.language_codes import LANGUAGES
from ..readers.splits import Split
from .records import suffix_of
from .task_file import TASK_FILE, TaskFile, read_task_file

FORMATS = (".tsv", ".csv", ".jsonl", ".json", ".conll")

SPLIT_NAMES: dict[str, Split] = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "valid": "dev",
    "validation": "dev",
    "val": "dev",
    "test": "test",
}
"""The splits by what people call them."""

_SPLIT = re.compile(rf"({'|'.join(SPLIT_NAMES)})[-_.](.+)", re.IGNORECASE)


class HubPlace(NamedTuple):
    """A split of one configuration of a data set."""

    hub: str
    configuration: str
    split: str

    def __str__(self) -> str:
        return f"{self.hub}/{self.configuration}, {self.split}"


class Translations(NamedTuple):
    """A file whose rows hold a sentence in one language and its translation."""

    path: Path
    first: str
    second: str

    def __str__(self) -> str:
        return str(self.path)


Place = Path | HubPlace | Translations
"""Where the examples of a language are."""


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """A folder or data set with a task's examples, and what its task file says about them."""

    data: str
    """As it was given."""
    about: TaskFile
    splits: Mapping[Split, Mapping[str, Place]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the task is called."""
        return self.about.name or Path(self.data).expanduser().resolve().name

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that have examples in any split, in the order of the alphabet."""
        return tuple(sorted({code for own in self.splits.values() for code in own}))

    @property
    def places(self) -> list[Place]:
        """Where all examples are, those for training first."""
        return [place for own in self.splits.values() for place in own.values()]

    def told(self) -> str:
        """Describe the splits and their languages: `test (en, sw)`."""
        return " and ".join(f"{split} ({', '.join(own)})" for split, own in self.splits.items())


def open_task_folder(data: str, about: TaskFile | None = None) -> TaskFolder:
    """Find the files of a task in a folder, or the languages of a data set."""
    folder = Path(data).expanduser()
    about = about or read_about(data)
    if folder.is_file() and folder.suffix == ".toml":
        return open_task_folder(str(folder.parent), about)
    if is_data_set(data):
        found = _in_data_set(data)
    elif not folder.is_dir():
        raise DataError(f"There is no folder {data} with the files of a task.")
    else:
        found = _in_folder(folder, about)
    splits: dict[Split, dict[str, Place]] = {}
    for split, code, place in found:
        before = splits.setdefault(split, {}).setdefault(code, place)
        if before != place:
            raise DataError(f"There are two files for {code!r}: {before} and {place}. Keep one.")
    order: tuple[Split, ...] = ("train", "dev", "test")
    ordered: dict[Split, dict[str, Place]] = {
        split: dict(sorted(splits[split].items())) for split in order if split in splits
    }
    return TaskFolder(data, about, ordered)


def read_about(data: str) -> TaskFile:
    """Return what a task file says, given itself or its folder; nothing if there is none."""
    place = Path(data).expanduser()
    path = place if place.suffix == ".toml" else place / TASK_FILE
    return read_task_file(path) if path.is_file() else TaskFile()


def holds_task(folder: Path) -> bool:
    """Whether a folder has files with a task's examples, or a task file."""
    if not folder.is_dir() or (folder / TASK_FILE).is_file():
        return folder.is_dir()
    named = _named_files(folder)
    return any(suffix_of(path) in FORMATS and _is_named(name) for path, _, name in named)


def _in_folder(folder: Path, about: TaskFile) -> Iterator[tuple[Split, str, Place]]:
    named = list(_by_pattern(folder, about.files) if about.files else _named_files(folder))
    if not named:
        raise DataError(_nothing_in(folder))
    if not about.files:
        _check_splits(folder, named)
    for path, split, name in named:
        if suffix_of(path) not in FORMATS:
            raise DataError(
                f"{path} is of no known format. Tables are {', '.join(FORMATS)}, also packed as "
                f"{', '.join(PACKED[1:])}."
            )
        yield split, *_language(path, name)


def _check_splits(folder: Path, named: list[tuple[Path, Split, str]]) -> None:
    """Raise if a folder that is called like a split has no files in it."""
    filled = {path.parent for path, _, _ in named}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name.lower() in SPLIT_NAMES and path not in filled:
            raise DataError(f"{path} is empty. Put a file of each language into it: sw.tsv.")


def _nothing_in(folder: Path) -> str:
    """Say what is missing in a folder, and what it may be instead."""
    inner = [path.name for path in sorted(folder.iterdir()) if path.is_dir()]
    if own := [name for name in inner if name in LANGUAGES]:
        return f"{folder} holds tasks of XTREME: say which, such as `task={own[0]!r}`."
    if own := [name for name in inner if holds_task(folder / name)]:
        return f"{folder} holds several tasks: give the folder of one, such as {folder / own[0]}."
    such = ", ".join(f"sw{ending}" for ending in FORMATS)
    return (
        f"There are no files of a task in {folder}: call them {such}, or test-sw.tsv and "
        "train-sw.tsv if there are several splits."
    )


def _named_files(folder: Path) -> Iterator[tuple[Path, Split, str]]:
    """Yield the files whose names say what they hold: `sw.tsv`, `test-sw.tsv`, `test/sw.tsv`."""
    for path in sorted(folder.iterdir()):
        if path.name[0] in "._":
            continue
        if path.is_dir() and path.name.lower() in SPLIT_NAMES:
            inner = [each for each in sorted(path.iterdir()) if _may_be_meant(each)]
            for each in inner:
                yield each, SPLIT_NAMES[path.name.lower()], _stem(each)
        elif path.is_file() and (found := _SPLIT.fullmatch(_stem(path))):
            yield path, SPLIT_NAMES[found[1].lower()], found[2]
        elif path.is_file() and _may_be_meant(path):
            yield path, "test", _stem(path)


def _may_be_meant(path: Path) -> bool:
    """Whether a file is one of the task's: by its format, or by a name that is a language's."""
    if not path.is_file() or path.name[0] in "._":
        return False
    return suffix_of(path) in FORMATS or (suffix_of(path) != "" and _is_language(_stem(path)))


def _stem(path: Path) -> str:
    name = path.name.removesuffix(path.suffix) if path.suffix in PACKED[1:] else path.name
    return name.removesuffix(Path(name).suffix)


def _by_pattern(folder: Path, files: str | Mapping[str, str]) -> Iterator[tuple[Path, Split, str]]:
    """Yield the files that a task file's pattern describes."""
    patterns = {"": files} if isinstance(files, str) else files
    for given, pattern in patterns.items():
        if given and given not in SPLIT_NAMES:
            raise DataError(f"{given!r} is no split. There are: train, dev, test.")
        exact = re.escape(pattern).replace(r"\{language\}", "(?P<language>[^/]+?)")
        exact = exact.replace(r"\{split\}", f"(?P<split>{'|'.join(SPLIT_NAMES)})")
        for path in sorted(folder.glob(re.sub(r"\{\w+\}", "*", pattern))):
            found = re.fullmatch(exact, path.relative_to(folder).as_posix())
            if found:
                split = found.groupdict().get("split") or given or "test"
                yield path, SPLIT_NAMES[split], found["language"]


def _in_data_set(hub: str) -> Iterator[tuple[Split, str, Place]]:
    """Yield the splits of configurations that are called like languages."""
    names = [name for name in configurations(hub) if _is_language(name)]
    if not names:
        raise DataError(
            f"No configuration of {hub} is called like a language: it has "
            f"{', '.join(configurations(hub)[:8])}. Save it as files: train-en.jsonl."
        )
    for name in names:
        for split in splits_of(hub, name):
            if split in SPLIT_NAMES:
                yield SPLIT_NAMES[split], known_language(name), HubPlace(hub, name, split)


def _language(path: Path, name: str) -> tuple[str, Place]:
    """Return the language that a file's name says, or the pair of languages."""
    if pair := _pair(name):
        first, second = pair
        # English is what the sentences of all other languages are compared with.
        return (second if first == "en" else first), Translations(path, first, second)
    if name.lower() in SPLIT_NAMES:
        raise DataError(f"{path} does not say its language: call it {name}-en{suffix_of(path)}.")
    try:
        return known_language(name), path
    except PolypruneError as error:
        raise DataError(
            f"{path} is not called by a language: {error} If it is no part of the task, say which "
            'files are: files = "{language}.tsv" in a task.toml.'
        ) from error


def known_language(name: str) -> str:
    """Return the code of a language as tasks write it: `zh` stays `zh`; raise if it is unknown."""
    return name if name in _XTREME else language(name).code


def _pair(name: str) -> tuple[str, str] | None:
    """Return the two languages of `en-sw`; None for one (`zh-Hans`) and for something else."""
    first, _, second = name.partition("-")
    if _is_language(name) or not (_is_language(first) and _is_language(second)):
        return None
    return known_language(first), known_language(second)


def _is_named(name: str) -> bool:
    return _is_language(name) or _pair(name) is not None


def _is_language(name: str) -> bool:
    try:
        known_language(name)
    except PolypruneError:
        return False
    return True


_XTREME = {code for codes in LANGUAGES.values() for code in codes}
