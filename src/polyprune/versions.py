"""The versions of the packages that results may depend on."""

from importlib.metadata import version


def versions() -> dict[str, str]:
    """Return the versions of the packages that results may depend on."""
    names = ("polyprune", "torch", "transformers", "accelerate", "tokenizers", "datasets")
    return {name: version(name) for name in names}
