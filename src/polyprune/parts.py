"""The building blocks behind the verbs, for benchmarks, experiments and extensions.

`polyprune.prune` and the other verbs are what most people need. Who measures a part of them, or
puts parts together in another way, finds the parts here under stable names, wherever they live.

    from polyprune.parts import Batching, in_turns
"""

from importlib import import_module

_HOME = {
    "make_run": "config:make_run",
    "Batching": "corpora.batching:Batching",
    "Corpus": "corpora.corpus:Corpus",
    "Cursor": "corpora.cursor:Cursor",
    "ProcessShard": "corpora.stream:ProcessShard",
    "StreamConfig": "corpora.stream:StreamConfig",
    "known_languages": "corpora.languages:languages",
    "open_corpus": "corpora.corpus:open_corpus",
    "open_text": "corpora.text:open_text",
    "read_lines": "corpora.corpus:read_lines",
    "stream_examples": "corpora.stream:stream",
    "text_folder": "corpora.text:text_folder",
    "train_tokenizer": "corpora.tokenizer_training:train_tokenizer",
    "FineTuneConfig": "evaluation.finetune_config:FineTuneConfig",
    "SentencePair": "evaluation.examples:SentencePair",
    "TASKS": "evaluation.tasks:TASKS",
    "TOKENS_PER_BATCH": "evaluation.prediction:TOKENS",
    "TaskMaterial": "evaluation.finetuning:TaskMaterial",
    "Trial": "evaluation.finetune_config:Trial",
    "batch_by_length": "evaluation.prediction:batch_by_length",
    "encode_training": "evaluation.training_data:encode_training",
    "epoch_batches": "evaluation.example_store:epoch_batches",
    "find_translations": "evaluation.quality:find_translations",
    "finetuning_run": "evaluation.finetuning:finetuning_run",
    "guess_words": "evaluation.quality:guess_words",
    "percentage": "evaluation.quality:percent",
    "predict": "evaluation.prediction:predict",
    "prepare_for_task": "evaluation.readout_init:prepare_for_task",
    "EXPORT_RECORD": "exporting.runners:EXPORT_RECORD",
    "ExportGraph": "exporting.export_graph:ExportGraph",
    "OnnxRunner": "exporting.runners:OnnxRunner",
    "OpenVinoRunner": "exporting.runners:OpenVinoRunner",
    "Runner": "exporting.runners:Runner",
    "load_runner": "exporting.runners:load_runner",
    "quantize": "exporting.quantization:quantize",
    "write_onnx": "exporting.runtime_files:write_onnx",
    "write_openvino": "exporting.runtime_files:write_openvino",
    "find": "loading.finding:find",
    "fitting_tokenizer": "loading.reading:fitting_tokenizer",
    "our_config": "loading.conversion:our_config",
    "BatchShape": "measuring.latency_timing:BatchShape",
    "EncoderFactory": "measuring.latency_timing:EncoderFactory",
    "Speed": "measuring.speed_target:Speed",
    "SpeedGoal": "measuring.speed_target:SpeedGoal",
    "TokenBatch": "measuring.workload:TokenBatch",
    "Workload": "measuring.workload:Workload",
    "compare_speed": "measuring.speed:compare_speed",
    "describe_machine": "measuring.machine:machine",
    "in_turns": "measuring.turns:in_turns",
    "measure_table": "measuring.latency_timing:measure_table",
    "monitor_noise": "measuring.noise:monitor_noise",
    "ratios": "measuring.speed:ratios",
    "speed_ratio": "measuring.intervals:ratio",
    "time_call": "measuring.speed:time_call",
    "timed_call": "measuring.calls:timed_call",
    "MODEL_CLASSES": "model.network.modeling_polyprune:MODELS",
    "ModelSource": "model.network.source:ModelSource",
    "PolypruneConfig": "model.network.configuration_polyprune:PolypruneConfig",
    "PolypruneForMaskedLM": "model.network.modeling_polyprune:PolypruneForMaskedLM",
    "PolypruneModel": "model.network.modeling_polyprune:PolypruneModel",
    "component_counts": "model.network.components:sizes",
    "encoder": "model.network.encoder",
    "encoder_multiply_adds": "model.footprint:encoder_multiply_adds",
    "factorize_table": "model.surgery.factorize:factorize_table",
    "shape_kept": "model.surgery.shrink:shape_kept",
    "DynamicGating": "pruning.gates.gatings:DynamicGating",
    "Gating": "pruning.gates.gatings:Gating",
    "LearnedGating": "pruning.gates.gatings:LearnedGating",
    "Ranker": "pruning.ranker:Ranker",
    "ScoreSheet": "pruning.criteria.scores_file:ScoreSheet",
    "ScoringRecord": "pruning.criteria.scores_file:ScoringRecord",
    "Sparsity": "pruning.selection.budgets:Sparsity",
    "TENTHS": "pruning.gates.dynamic:TENTHS",
    "boundaries": "pruning.gates.dynamic:boundaries",
    "contrastive_loss": "pruning.criteria.losses:contrastive_loss",
    "diversity": "pruning.gates.penalties:diversity",
    "family_prior": "pruning.gates.penalties:family_prior",
    "gate_gradients": "pruning.criteria.importance:gate_gradients",
    "load_scores": "pruning.criteria.scores_file:load_scores",
    "masked_lm_loss": "pruning.criteria.losses:masked_lm_loss",
    "pool": "pruning.criteria.losses:pool",
    "pooled": "pruning.criteria.losses:pooled",
    "random_scores": "pruning.criteria.criterion:random_scores",
    "sparsity_constraint": "pruning.gates.penalties:sparsity_constraint",
    "with_ranks": "pruning.shrinking:with_ranks",
    "atomic_folder": "storage:atomic_folder",
    "Collator": "training.step_batches:Collator",
    "FreshConfig": "training.run_config:FreshConfig",
    "SavingConfig": "training.run_config:SavingConfig",
    "StepReport": "training.loop:StepReport",
    "TrainingModule": "training.training_module:TrainingModule",
    "held_out_examples": "training.held_out_loss:held_out_examples",
    "held_out_losses": "training.held_out_loss:held_out_losses",
    "held_out_micro_batches": "training.held_out_loss:held_out_micro_batches",
    "stream_config": "training.text_material:stream_config",
    "train_steps": "training.run:train",
    "write_fresh_model": "training.prepare:write_fresh_model",
}
"""The module and the name of each part; a module alone is the part itself."""

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'polyprune.parts' has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    found = import_module(f".{module}", __package__)
    value = getattr(found, attribute) if attribute else found
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
