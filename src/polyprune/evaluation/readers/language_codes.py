"""The languages of XTREME's tasks, and their spellings in files and data sets."""


def _codes(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LANGUAGES: dict[str, tuple[str, ...]] = {
    "xnli": _codes("ar bg de el en es fr hi ru sw th tr ur vi zh"),
    "pawsx": _codes("de en es fr ja ko zh"),
    "udpos": _codes(
        "af ar bg de el en es et eu fa fi fr he hi hu id it ja kk ko mr nl pt ru ta te th tl tr ur "
        "vi yo zh"
    ),
    "panx": _codes(
        "ar he vi id jv ms tl eu ml ta te af nl en de el bn hi mr ur fa fr it pt es bg ru ja ka ko "
        "th sw yo my zh kk tr et fi hu"
    ),
    "xquad": _codes("en es de el ru tr ar vi th zh hi"),
    "mlqa": _codes("en es de ar hi vi zh"),
    "tydiqa": _codes("en ar bn fi id ko ru sw te"),
    "bucc2018": _codes("de fr ru zh"),
    "tatoeba": _codes(
        "ar he vi id jv tl eu ml ta te af nl de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw "
        "zh kk tr et fi hu"
    ),
}
"""The languages of each task, in the official order. BUCC and Tatoeba pair each with English."""


def _table(text: str) -> dict[str, str]:
    codes = text.split()
    return dict(zip(codes[::2], codes[1::2], strict=True))


THREE_LETTERS = _table(
    "af afr ar ara az aze bg bul bn ben de deu el ell en eng es spa et est eu eus fa pes fi fin "
    "fr fra he heb hi hin hu hun id ind it ita ja jpn jv jav ka kat kk kaz ko kor lt lit ml mal "
    "mr mar nl nld pl pol pt por ro ron ru rus sw swh ta tam te tel th tha tl tgl tr tur uk ukr "
    "ur urd vi vie zh cmn"
)
"""The codes in the names of LASER's Tatoeba files."""

NAMES = _table(
    "af Afrikaans ar Arabic bg Bulgarian bn Bengali de German el Greek en English es Spanish "
    "et Estonian eu Basque fa Persian fi Finnish fr French he Hebrew hi Hindi hu Hungarian "
    "id Indonesian it Italian ja Japanese kk Kazakh ko Korean mr Marathi nl Dutch pt Portuguese "
    "ru Russian sw Swahili ta Tamil te Telugu th Thai tl Tagalog tr Turkish ur Urdu vi Vietnamese "
    "yo Yoruba zh Chinese"
)
"""The names of treebanks; in lower case, the prefixes of TyDi QA's question ids."""


def fill_pattern(pattern: str, language: str) -> str | None:
    """Fill a language into a file pattern; return None if the language has no such spelling.

    `{language}` stands for its code, `{three}` for the three-letter one, `{Name}` for its name
    and `{name}` for that in small letters.
    """
    name = NAMES.get(language)
    spellings = {
        "language": language,
        "three": THREE_LETTERS.get(language),
        "Name": name,
        "name": name and name.lower(),
    }
    if any(f"{{{kind}}}" in pattern and spelling is None for kind, spelling in spellings.items()):
        return None
    return pattern.format(**spellings)
