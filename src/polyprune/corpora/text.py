"""Open text from a folder, the bundled sample, or a Hugging Face data set."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from ..errors import ConfigError, DataError
from .corpus import Corpus, open_corpus
from .hub_text import HubText, language_configurations
from .languages import find_languages
from .text_files import Damaged
from .text_sources import TextFile, TextSource, TranslatedFiles


def open_text(
    source: str,
    languages: Sequence[str] | None,
    parallel: str | None = None,
    damaged: Damaged = "stop",
) -> dict[str, TextSource]:
    """Open the text of these languages, or of all there are if None.

    `source` is a folder, `sample` or the name of a data set. With `parallel`, the code of a
    language, every line comes with the line at its place in that language.
    """
    if not _is_folder(source):
        return _of_data_set(source, languages, parallel)
    corpus = open_corpus(text_folder(source))
    codes = corpus.codes(languages)
    if parallel is None:
        return {code: TextFile(corpus.files[code], damaged) for code in codes}
    return _translations(corpus, codes, parallel, damaged)


def text_folder(source: str) -> Path:
    """Return the folder that a source names; that of the bundled text for `sample`."""
    if source != "sample":
        return Path(source).expanduser()
    folder = Path(str(files("polyprune").joinpath("bundled", "sample")))
    if not folder.is_dir():
        raise DataError(
            "The bundled sample text is missing from this installation. Install polyprune again, "
            "or give a folder with files such as sw.txt."
        )
    return folder


def _translations(
    corpus: Corpus, codes: Sequence[str], parallel: str, damaged: Damaged
) -> dict[str, TextSource]:
    (pivot,) = corpus.codes([parallel])
    return {
        code: TranslatedFiles(corpus.files[code], corpus.files[pivot], damaged) for code in codes
    }


def _of_data_set(
    name: str, languages: Sequence[str] | None, parallel: str | None
) -> dict[str, TextSource]:
    if parallel is not None:
        raise ConfigError(
            f"Translations are read from a folder of files with the same lines, and {name} is none."
        )
    known = list(language_configurations(name))
    codes = known if languages is None else find_languages(languages, known, name)
    return {code: HubText(name, code) for code in codes}


def _is_folder(source: str) -> bool:
    """Return whether a source is, or is meant as, a folder with one file per language."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        # `datasets` reads folders too, whose card says which files are which language's.
        return not (folder / "README.md").is_file() or any(folder.glob("*.txt*"))
    # The name of a data set is one word, or two with a slash between them.
    return source == "sample" or source[:1] in "./~" or source.count("/") > 1
