"""What workers of a study do with memory."""

from polyprune.studies import cell_work
from polyprune.studies.cell_work import is_small


def test_memory_is_kept_for_small_models_alone(tmp_path, monkeypatch):
    assert is_small(tmp_path)
    (tmp_path / "model-00001.safetensors").write_bytes(bytes(60))
    (tmp_path / "model-00002.safetensors").write_bytes(bytes(60))
    assert is_small(tmp_path)
    monkeypatch.setattr(cell_work, "SMALL", 100)
    assert not is_small(tmp_path)
