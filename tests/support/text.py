"""Twelve sentences in four languages, and a folder of them."""

from pathlib import Path


def text_folder(folder: Path) -> Path:
    """A new folder with one file per language."""
    folder.mkdir()
    for code, sentences in SENTENCES.items():
        (folder / f"{code}.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    return folder


SENTENCES = {
    "en": [
        "The water is cold.",
        "My brother reads a book.",
        "We live near the river.",
        "It will rain tomorrow.",
        "The children are at school.",
        "Where is the market?",
        "She bought three oranges.",
        "The road is long.",
        "I do not know his name.",
        "The house has two doors.",
        "They came in the morning.",
        "This tree is very old.",
    ],
    "ru": [
        "Вода холодная.",
        "Мой брат читает книгу.",
        "Мы живём у реки.",
        "Завтра будет дождь.",
        "Дети в школе.",
        "Где рынок?",
        "Она купила три апельсина.",
        "Дорога длинная.",
        "Я не знаю его имени.",
        "В доме две двери.",
        "Они пришли утром.",
        "Это дерево очень старое.",
    ],
    "sw": [
        "Maji ni baridi.",
        "Kaka yangu anasoma kitabu.",
        "Tunaishi karibu na mto.",
        "Mvua itanyesha kesho.",
        "Watoto wako shuleni.",
        "Soko liko wapi?",
        "Alinunua machungwa matatu.",
        "Barabara ni ndefu.",
        "Sijui jina lake.",
        "Nyumba ina milango miwili.",
        "Walikuja asubuhi.",
        "Mti huu ni mzee sana.",
    ],
    "hi": [
        "पानी ठंडा है।",
        "मेरा भाई किताब पढ़ता है।",
        "हम नदी के पास रहते हैं।",
        "कल बारिश होगी।",
        "बच्चे स्कूल में हैं।",
        "बाज़ार कहाँ है?",
        "उसने तीन संतरे खरीदे।",
        "सड़क लंबी है।",
        "मुझे उसका नाम नहीं पता।",
        "घर में दो दरवाज़े हैं।",
        "वे सुबह आए।",
        "यह पेड़ बहुत पुराना है।",
    ],
}
"""Twelve sentences each, line by line translations of each other."""
