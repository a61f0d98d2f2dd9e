"""The card of a model folder: what the hub reads, and what people read."""

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import ModelCard

import polyprune as pp
from polyprune.model.history import (
    History,
    ModelSize,
    PruningStep,
    TrainingStep,
    add_pruning,
    history_of,
    write_history,
)
from polyprune.model.network.folder import checksum_mismatches, read_certificate
from polyprune.model.network.readouts import HIDDEN_STATES, MASKED_LM, READOUTS
from polyprune.provenance.card import BEGIN, END, card, hub_languages, renewed
from polyprune.provenance.card_facts import CardFacts, SpeedGain, TaskComparison
from polyprune.provenance.card_sections import snippet
from polyprune.provenance.origin import hub_id
from support.models import AUTO, speaking_model, tiny_model

HOSTILE = (
    "x\"\n---\nlicense: mit\n# `|`` <script>alert(1)</script> | [a](b) {END} \udcff'; import os"
)
HOSTILE = HOSTILE.replace("{END}", END)

FACTS = CardFacts(
    name="half",
    family="xlm-roberta",
    readout=MASKED_LM,
    size=ModelSize((2, 1), (20, 30), 12, 7_000, 28_000),
    history=History(
        base="org/dense",
        base_model=("org/dense",),
        license={"license": "mit"},
        before=ModelSize((4, 4), (40, 40), 24, 12_020, 48_080),
        cuts=(
            PruningStep(
                0.5, "gradient", "fisher", "shared", ("sw", "zh-Hans", "no"), "mlm", "text", (9, 9)
            ),
        ),
    ),
    differences={"sw": 3e-6, "random tokens": 1e-6},
)
SCORED = TaskComparison(
    "xnli", "XNLI", "accuracy", (70.0, 66.5), {"sw": (60.0, 51.25), "ur": (None, 40.0)}
)


def data(text: str) -> dict:
    return ModelCard(text).data.to_dict()


def test_the_hub_reads_its_metadata():
    assert data(card(FACTS)) == {
        "language": ["sw", "zh", "no"],
        "license": "mit",
        "library_name": "transformers",
        "pipeline_tag": "fill-mask",
        "tags": ["polyprune", "pruning", "multilingual"],
        "base_model": ["org/dense"],
    }


def test_what_is_not_known_is_left_out_of_the_metadata():
    found = data(card(replace(FACTS, history=History())))
    assert found["language"] == "multilingual"
    assert not {"license", "base_model", "base_model_relation", "model-index"} & found.keys()


def test_a_model_that_was_trained_is_a_finetune_of_its_original():
    trained = replace(FACTS.history, trainings=(TrainingStep(10, "text"),))
    assert data(card(replace(FACTS, history=trained)))["base_model_relation"] == "finetune"
    nobody = replace(trained, base_model=())
    assert "base_model_relation" not in data(card(replace(FACTS, history=nobody)))


@pytest.mark.parametrize(
    ("readout", "tag"),
    [
        ("sentence-classification", "text-classification"),
        ("token-classification", "token-classification"),
        ("span", "question-answering"),
        ("hidden-states", "feature-extraction"),
    ],
)
def test_the_hub_knows_what_a_readout_is_for(readout, tag):
    assert data(card(replace(FACTS, readout=READOUTS[readout])))["pipeline_tag"] == tag


def test_sentence_encoders_are_what_the_hub_calls_them():
    found = data(card(replace(FACTS, readout=HIDDEN_STATES, modules=True)))
    assert found["pipeline_tag"] == "sentence-similarity"
    assert found["library_name"] == "sentence-transformers"


def test_languages_are_iso_codes_each_once():
    codes = ("zh-Hans", "zh-Hant", "bn-rom", "my-zaw", "no", "random tokens", "shared", "")
    assert hub_languages(codes) == ["zh", "bn", "my", "no"]


def test_people_read_what_was_cut():
    text = card(FACTS)
    for told in (
        "# dense, 50 % cut",
        "| parameters | 12,020 | 7,000 |",
        "| 2 | 4 → 1 | 40 → 30 |",
        "| rank of the word table | 24 | 12 |",
        "Sparsity 50.0 %",
        "9 sentences of each from `text`",
        "differ by at most 3.0e-06 (sw)",
        "`polyprune check half`",
        "https://huggingface.co/org/dense",
        "rule `fisher`",
        "@inproceedings",
    ):
        assert told in text


def test_what_was_not_measured_is_said_with_the_command_that_measures_it():
    text = card(FACTS)
    assert text.count("Not measured yet") == 2
    assert "polyprune evaluate org/dense half --task tatoeba" in text
    assert "polyprune measure org/dense half --speed" in text
    assert "model-index" not in text


def test_scores_and_speed_take_the_place_of_commands():
    speed = SpeedGain(1.9, 1.8, 2.0, "one machine, 2 threads")
    text = card(replace(FACTS, compared=(SCORED,), speed=speed, names={"sw": "Swahili"}))
    assert "Not measured yet" not in text
    assert "| Swahili (sw) | 60.0 | 51.2 | -8.8 |" in text
    assert "| ur | – | 40.0 | – |" in text
    assert "**1.90 times as fast** as the original (95 % interval 1.80 to 2.00)" in text
    (result,) = ModelCard(text).data.eval_results
    assert (result.dataset_type, result.metric_type, result.metric_value) == (
        "xnli",
        "accuracy",
        66.5,
    )


def test_no_names_break_out_of_yaml_markdown_or_python():
    history = History(
        base=HOSTILE,
        license={"license": HOSTILE},
        before=FACTS.history.before,
        languages=(HOSTILE,),
        cuts=(
            PruningStep(
                0.5, HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), HOSTILE, HOSTILE, (1, 2), HOSTILE
            ),
        ),
        trainings=(TrainingStep(1, HOSTILE, (HOSTILE,), HOSTILE),),
    )
    compared = TaskComparison(HOSTILE, HOSTILE, HOSTILE, (1.0, 2.0), {HOSTILE: (1.0, 2.0)})
    facts = replace(
        FACTS,
        name=HOSTILE,
        history=history,
        compared=(compared,),
        speed=SpeedGain(1.0, where=HOSTILE),
        differences={HOSTILE: 1.0},
        names={HOSTILE: HOSTILE},
    )
    text = card(facts)
    found = data(text)
    assert found["license"].startswith('x" --- license: mit')
    assert found["language"] == "multilingual"
    text.encode("utf-8")
    assert text.count(f"\n{BEGIN}") == text.count(f"\n{END}") == 1
    assert renewed(text, text, found) == text
    outside = re.sub(r"^(`{3,}).*?^\1$", "", text.partition(BEGIN)[2], flags=re.S | re.M)
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert "<script" not in outside
    assert "](b)" not in outside.replace(r"\]", "")
    tables = [line for line in outside.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} <= {3, 4, 5}
    compile(snippet(facts), "snippet", "exec")


@pytest.mark.parametrize("readout", AUTO)
@pytest.mark.parametrize("tokenizer", [True, False])
@pytest.mark.parametrize("modules", [True, False])
@pytest.mark.parametrize("gating", ["", "dynamic", "fixed"])
def test_every_snippet_is_python(readout, tokenizer, modules, gating):
    facts = replace(
        FACTS, readout=READOUTS[readout], tokenizer=tokenizer, modules=modules, gating=gating
    )
    code = ast.parse(snippet(replace(facts, rows=("sw", "ur") if gating else ())))
    imported = {each.name for line in code.body if "names" in line._fields for each in line.names}
    sentences = modules and READOUTS[readout].embeds
    loader = "SentenceTransformer" if sentences else AUTO[readout]
    assert ("polyprune" if gating else loader) in imported
    assert ("AutoTokenizer" in imported) == (tokenizer and not sentences and not gating)


def test_elastic_folders_tell_how_a_size_is_taken_out():
    text = card(replace(FACTS, gating="dynamic", rows=("sw", "ur")))
    assert "dense, in every size" in text
    assert 'at(sparsity=0.5, language="sw")' in text
    assert "What was cut" not in text
    assert "at(sparsity=0.5)" in snippet(replace(FACTS, gating="dynamic", rows=("shared",)))
    assert 'at(language="sw")' in snippet(replace(FACTS, gating="fixed", rows=("sw",)))


def test_plain_transformers_needs_no_trust():
    assert "trust_remote_code" not in card(replace(FACTS, own_code=False))


def test_a_person_keeps_what_is_outside_of_our_part():
    first = card(FACTS)
    theirs = first.replace("license: mit", "license: gpl-3.0\nthumbnail: a.png").replace(
        "tags:", "tags:\n- mine"
    )
    theirs = theirs.replace(BEGIN, f"Hello.\n\n{BEGIN}") + "\nMy notes.\n"
    new = card(replace(FACTS, compared=(SCORED,)))
    merged = renewed(theirs, new, data(theirs))
    found = data(merged)
    assert (found["license"], found["thumbnail"]) == ("gpl-3.0", "a.png")
    assert found["tags"] == ["polyprune", "pruning", "multilingual", "mine"]
    assert "model-index" in found
    assert merged.index("Hello.") < merged.index(BEGIN) < merged.index("-3.5")
    assert merged.endswith("\nMy notes.\n")
    assert renewed(merged, new, found) == merged
    assert "model-index" not in data(renewed(merged, first, found))


# Folders


def cut_model(folder: Path):
    model = pp.load(folder)
    gates = pp.open_gates(model.shape)
    gates.heads[0][:, 1:] = 0
    gates.units[1][:, ::2] = 0
    return pp.shrink(model, gates)


def test_saving_writes_a_card_that_the_certificate_vouches_for(dense, tmp_path):
    cut_model(dense).save_pretrained(tmp_path / "small")
    text = (tmp_path / "small" / "README.md").read_text()
    assert data(text)["pipeline_tag"] == "fill-mask"
    assert "| 1 | 4 → 1 | 40 → 40 |" in text
    assert "`dense`" in text
    assert str(tmp_path) not in text
    assert "README.md" in read_certificate(tmp_path / "small")["sha256"]
    assert not checksum_mismatches(tmp_path / "small")


def test_the_card_does_not_travel(dense, tmp_path):
    cut_model(dense).save_pretrained(tmp_path / "small")
    assert not [*(tmp_path / "small").glob("card*.py"), *(tmp_path / "small").glob("history.py")]


def test_a_card_written_by_hand_is_left_alone(dense, tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "README.md").write_text("Mine.")
    cut_model(dense).save_pretrained(tmp_path / "small")
    assert (tmp_path / "small" / "README.md").read_text() == "Mine."


def test_saving_again_keeps_what_a_person_added(dense, tmp_path):
    small = cut_model(dense)
    small.save_pretrained(tmp_path / "small")
    path = tmp_path / "small" / "README.md"
    first = path.read_text()
    path.write_text(first + "\nMine.\n")
    small.save_pretrained(tmp_path / "small")
    assert path.read_text() == first + "\nMine.\n"


def test_licence_and_languages_of_the_original_are_kept(dense, tmp_path):
    front = "language: [sw, 'no']\nlicense: other\nlicense_name: mine\nbase_model: org/first"
    (dense / "README.md").write_text(f"---\n{front}\n---\n# The original\n")
    cut_model(dense).save_pretrained(tmp_path / "small")
    pp.load(tmp_path / "small").save_pretrained(tmp_path / "again")
    for name in ("small", "again"):
        found = data((tmp_path / name / "README.md").read_text())
        assert (found["license"], found["license_name"]) == ("other", "mine")
        assert found["language"] == ["sw", "no"]
        assert found["base_model"] == ["org/first"]


@pytest.mark.parametrize(
    "text", ["", "---\n: [\n---\n", "---\n- a\n---\n", "\x00", "---\nlicense: 3\n---"]
)
def test_an_original_with_a_strange_card_is_no_fault(dense, tmp_path, text):
    (dense / "README.md").write_text(text)
    cut_model(dense).save_pretrained(tmp_path / "small")
    assert "license" not in data((tmp_path / "small" / "README.md").read_text())


def test_what_was_before_is_remembered_through_cuts(dense, tmp_path):
    whole = pp.load(dense)
    cut_model(dense).save_pretrained(tmp_path / "small")
    small = cut_model(tmp_path / "small")
    before = history_of(small.config).before
    assert (before.heads, before.units) == (whole.shape.heads, whole.shape.units)
    assert before.parameters == whole.num_parameters()
    assert history_of(small.config).base == "dense"


def test_cuts_multiply():
    history = History(
        cuts=(PruningStep(None), PruningStep(0.5, languages=("sw",)), PruningStep(0.5))
    )
    assert history.sparsity == pytest.approx(0.75)
    assert history.cut_for == ("sw",)
    assert History(cuts=(PruningStep(None),)).sparsity is None


@pytest.mark.parametrize("said", [None, 3, "x", [], {"before": 1}, {"cuts": [{"sparsity": "x"}]}])
def test_a_config_that_says_something_else_is_no_story(dense, said):
    config = pp.load(dense).config
    config.polyprune = said
    assert history_of(config) == History()


def test_a_story_survives_its_config(dense, tmp_path):
    model = pp.load(dense)
    write_history(model.config, FACTS.history)
    add_pruning(model.config, PruningStep(0.1))
    model.save_pretrained(tmp_path / "out")
    expected = replace(FACTS.history, cuts=(*FACTS.history.cuts, PruningStep(0.1)))
    assert history_of(pp.load(tmp_path / "out").config) == expected
    written = json.loads((tmp_path / "out" / "config.json").read_text())
    assert written["polyprune"]["base"] == "org/dense"


def test_a_model_from_the_hub_has_its_name_there():
    cached = Path("/cache/hub/models--org--a--b/snapshots/0123")
    assert hub_id(cached) is None  # no name on the hub has two dashes in a row
    assert hub_id(Path("/cache/hub/models--org--dense/snapshots/01")) == "org/dense"
    assert hub_id(Path("/cache/hub/models--xlm-roberta-base/snapshots/01")) == "xlm-roberta-base"
    assert hub_id(Path("models/xlm-roberta-base")) is None


def test_weights_by_another_name_have_a_card_too(dense, tmp_path):
    cut_model(dense).save_pretrained(tmp_path / "small", variant="fp16")
    assert (tmp_path / "small" / "README.md").is_file()


def test_a_model_with_nothing_cut_does_not_speak_of_losses(tmp_path):
    pp.load(speaking_model(tmp_path / "dense")).save_pretrained(tmp_path / "again")
    text = (tmp_path / "again" / "README.md").read_text()
    assert "What each language lost" not in text
    assert "AutoModelForMaskedLM" in text
    tiny_model("bert", "hidden-states").save_pretrained(tmp_path / "bert")
    pp.load(tmp_path / "bert").save_pretrained(tmp_path / "again-bert")
    assert "without a tokenizer" in (tmp_path / "again-bert" / "README.md").read_text()
