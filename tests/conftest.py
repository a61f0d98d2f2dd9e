"""How many random cases are tried, which tests come first, and where fixtures come from."""

import gc

from hypothesis import HealthCheck, settings

# No deadline: a first call compiles shape checks. The same examples every time.
for _profile, _examples in {"polyprune": 20, "thorough": 200}.items():
    settings.register_profile(
        _profile,
        max_examples=_examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("polyprune")

LONG = ("test_documents.py", "test_learning.py", "test_full_size.py", "test_demo.py")


def pytest_configure(config):
    """Load the fixtures, and torch with them, but not where tests are only handed to workers."""
    hands_out = config.getoption("numprocesses", 0) and not hasattr(config, "workerinput")
    if not hands_out:
        config.pluginmanager.import_plugin("support.fixtures")


def pytest_collection_finish(session):
    """All that is imported stays: no collection of garbage has to look at it again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Those that take minutes come first: at the end, one core would wait for the other."""
    items.sort(key=lambda item: item.path.name not in LONG)
