"""A criterion, a setting and what was measured on text: all that ranks components."""

from dataclasses import dataclass, replace

from ..errors import ConfigError
from ..model.network.gated_model import PolyprunePreTrainedModel
from .criteria.criterion import FISHER, Criterion, criterion_named
from .criteria.scores_file import ScoreSheet
from .second_order.curves import RemovalCurves
from .selection.ranking import ComponentWeights, Scores
from .setting import SHARED_SETTING, Setting, setting_named


@dataclass(frozen=True, slots=True)
class Ranker:
    """Ranks components by a criterion, in a setting, from a score sheet where that is needed."""

    criterion: Criterion = FISHER
    setting: Setting = SHARED_SETTING
    sheet: ScoreSheet | None = None
    order: Scores | None = None
    """Scores to sort by that rounds have made, in the place of the sheet's."""

    def __post_init__(self):
        if self.setting.per_language and not self.criterion.needs_text:
            raise ConfigError(
                f"Method {self.criterion.method!r} knows no languages: use `setting='shared'`."
            )

    @classmethod
    def named(
        cls,
        method: str = "gradient",
        rule: str = FISHER.name,
        setting: str = SHARED_SETTING.name,
        seed: int = 0,
    ) -> "Ranker":
        """The criterion and the setting of these names, not yet with scores."""
        return cls(criterion_named(method, rule, seed), setting_named(setting))

    def on(self, sheet: ScoreSheet | None) -> "Ranker":
        """The same criterion and setting on these scores."""
        return replace(self, sheet=sheet, order=None)

    def rank(
        self, model: PolyprunePreTrainedModel, weights: ComponentWeights | None = None
    ) -> Scores:
        """Scores to sort by, one row per name in `rows`.

        Without weights they are what each component is worth by itself.
        """
        if self.order is not None:
            return self.order
        if self.sheet is None or not self.criterion.needs_text:
            return self.criterion.rank(model, None, weights)
        self.criterion.check_per(self.sheet.about.per)
        return self.criterion.rank(model, self.setting.combine(self.sheet.gradients), weights)

    @property
    def curves(self) -> RemovalCurves | None:
        """The removal curves of each row, where the criterion ranks by them."""
        if self.sheet is None or self.order is not None or not self.criterion.needs_curves:
            return None
        return self.setting.combine(self.sheet.gradients).curves

    def curves_in_common(self) -> RemovalCurves:
        """The removal curves of every language, along one order for all of them."""
        curves = None if self.sheet is None else self.sheet.gradients.curves
        if curves is None or not self.criterion.needs_curves or self.setting.per_language:
            raise ConfigError(
                "A floor for languages needs removal curves that all of them share: use "
                "`rule='second-order'` and `setting='shared'`."
            )
        return curves

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that were scored; none where the criterion reads no text."""
        return () if self.sheet is None else self.sheet.about.languages

    @property
    def rows(self) -> tuple[str, ...]:
        """The name of each row of scores: a language, or `shared`."""
        return self.setting.rows(self.languages)

    @property
    def table(self) -> str:
        """How the word table is split before it is cut: as it was when it was scored."""
        return "as it is" if self.sheet is None else self.sheet.about.table
