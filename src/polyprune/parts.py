"""The building blocks behind the verbs, for benchmarks, experiments and extensions.

`polyprune.prune` and the other verbs are what most people need. Who measures a part of them, or
puts parts together in another way, finds the parts here under stable names, wherever they live.

    from polyprune.parts import Batching, in_turns
"""

from .config import make_run, read_run
from .corpora.batching import Batching
from .corpora.corpus import Corpus, open_corpus, read_lines
from .corpora.cursor import Cursor
from .corpora.languages import languages as known_languages
from .corpora.stream import ProcessShard, StreamConfig
from .corpora.stream import stream as stream_examples
from .corpora.text import open_text, text_folder
from .corpora.tokenizer_training import train_tokenizer
from .evaluation.example_store import epoch_batches
from .evaluation.examples import SentencePair
from .evaluation.finetune_config import FineTuneConfig, Trial
from .evaluation.finetuning import TaskMaterial, finetuning_run
from .evaluation.prediction import TOKENS as TOKENS_PER_BATCH
from .evaluation.prediction import batch_by_length, predict
from .evaluation.quality import find_translations, guess_words
from .evaluation.quality import percent as percentage
from .evaluation.readout_init import prepare_for_task
from .evaluation.tasks import TASKS
from .evaluation.training_data import encode_training
from .exporting.export_graph import ExportGraph
from .exporting.quantization import quantize
from .exporting.runners import EXPORT_RECORD, OnnxRunner, OpenVinoRunner, Runner, load_runner
from .exporting.runtime_files import write_onnx, write_openvino
from .loading.conversion import our_config
from .loading.finding import find
from .loading.reading import fitting_tokenizer
from .measuring.calls import timed_call
from .measuring.intervals import ratio as speed_ratio
from .measuring.latency_timing import BatchShape, EncoderFactory, measure_table
from .measuring.machine import machine as describe_machine
from .measuring.noise import monitor_noise
from .measuring.speed import compare_speed, ratios, time_call
from .measuring.speed_target import Speed, SpeedGoal
from .measuring.turns import in_turns
from .measuring.workload import TokenBatch, Workload
from .model.footprint import encoder_multiply_adds
from .model.network import encoder
from .model.network.components import shape_kept
from .model.network.components import sizes as component_counts
from .model.network.configuration_polyprune import PolypruneConfig
from .model.network.modeling_polyprune import MODELS as MODEL_CLASSES
from .model.network.modeling_polyprune import PolypruneForMaskedLM, PolypruneModel
from .model.network.source import ModelSource
from .model.surgery.factorize import factorize_table
from .pruning.criteria.criterion import random_scores
from .pruning.criteria.importance import gate_gradients
from .pruning.criteria.losses import contrastive_loss, masked_lm_loss, pool, pooled
from .pruning.criteria.scores_file import ScoreSheet, ScoringRecord, load_scores
from .pruning.gates.dynamic import TENTHS, boundaries
from .pruning.gates.dynamic_gating import DynamicGating
from .pruning.gates.gating import Gating
from .pruning.gates.learned_gating import LearnedGating
from .pruning.gates.penalties import diversity, family_prior, sparsity_constraint
from .pruning.ranker import Ranker
from .pruning.selection.budgets import Sparsity
from .pruning.shrinking import with_ranks
from .pruning.subnetworks import by_family, hamming
from .storage import atomic_folder
from .training.loop import StepReport
from .training.prepare import write_fresh_model
from .training.run import train as train_steps
from .training.run_sections import FreshConfig, SavingConfig
from .training.text_material import TextMaterial
from .training.written_loss import written_losses

__all__ = [
    "EXPORT_RECORD",
    "MODEL_CLASSES",
    "TASKS",
    "TENTHS",
    "TOKENS_PER_BATCH",
    "BatchShape",
    "Batching",
    "Corpus",
    "Cursor",
    "DynamicGating",
    "EncoderFactory",
    "ExportGraph",
    "FineTuneConfig",
    "FreshConfig",
    "Gating",
    "LearnedGating",
    "ModelSource",
    "OnnxRunner",
    "OpenVinoRunner",
    "PolypruneConfig",
    "PolypruneForMaskedLM",
    "PolypruneModel",
    "ProcessShard",
    "Ranker",
    "Runner",
    "SavingConfig",
    "ScoreSheet",
    "ScoringRecord",
    "SentencePair",
    "Sparsity",
    "Speed",
    "SpeedGoal",
    "StepReport",
    "StreamConfig",
    "TaskMaterial",
    "TextMaterial",
    "TokenBatch",
    "Trial",
    "Workload",
    "atomic_folder",
    "batch_by_length",
    "boundaries",
    "by_family",
    "compare_speed",
    "component_counts",
    "contrastive_loss",
    "describe_machine",
    "diversity",
    "encode_training",
    "encoder",
    "encoder_multiply_adds",
    "epoch_batches",
    "factorize_table",
    "family_prior",
    "find",
    "find_translations",
    "finetuning_run",
    "fitting_tokenizer",
    "gate_gradients",
    "guess_words",
    "hamming",
    "in_turns",
    "known_languages",
    "load_runner",
    "load_scores",
    "make_run",
    "masked_lm_loss",
    "measure_table",
    "monitor_noise",
    "open_corpus",
    "open_text",
    "our_config",
    "percentage",
    "pool",
    "pooled",
    "predict",
    "prepare_for_task",
    "quantize",
    "random_scores",
    "ratios",
    "read_lines",
    "read_run",
    "shape_kept",
    "sparsity_constraint",
    "speed_ratio",
    "stream_examples",
    "text_folder",
    "time_call",
    "timed_call",
    "train_steps",
    "train_tokenizer",
    "with_ranks",
    "write_fresh_model",
    "write_onnx",
    "write_openvino",
    "written_losses",
]
