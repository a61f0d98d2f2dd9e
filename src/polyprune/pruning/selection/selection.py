"""What a budget selected: gates, and what is known of them, so that nothing is computed again."""

from dataclasses import dataclass

from ...corpora.languages import find_language
from ...errors import ConfigError
from ...model.network.components import Gates
from .audit import Audit
from .fairness import Fairness


@dataclass(frozen=True, slots=True)
class SelectedRow:
    """What one row of gates keeps."""

    name: str
    """A language, or `shared`."""
    audit: Audit
    """Its sizes beside those of the model that it was selected from."""
    binds: tuple[str, ...] = ()
    """The limits that keep it from being larger: `sparsity`, `parameters`, `time`."""
    seconds: float | None = None
    """The time of one batch by the latency table; None unless time was limited."""
    fairness: Fairness | None = None
    """What a floor for languages does, where there is one."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The components that stay: one row of gates for each of `rows`."""

    gates: Gates
    rows: tuple[SelectedRow, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each row."""
        return tuple(row.name for row in self.rows)

    @property
    def audits(self) -> dict[str, Audit]:
        """The sizes of each row, by its name."""
        return {row.name: row.audit for row in self.rows}

    @property
    def only(self) -> SelectedRow:
        """The one row of a selection for all languages, or of `row(name)`."""
        if len(self.rows) != 1:
            raise ConfigError(
                f"There is a subnetwork for each of {', '.join(self.names)}. Name one."
            )
        return self.rows[0]

    def row(self, name: str) -> "Selection":
        """The row of one language, as a selection of its own."""
        place = self.names.index(find_language(name, self.names, "these scores"))
        return Selection(self.gates.map(lambda gate: gate[place, None]), (self.rows[place],))
