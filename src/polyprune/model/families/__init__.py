"""The encoder families of transformers, each a table: a new family is a new row here."""

from .bert import BERT, DISTILBERT
from .family import Family as Family
from .roberta import CAMEMBERT, ROBERTA, XLM_ROBERTA, XLM_ROBERTA_XL

FAMILIES: dict[str, Family] = {
    family.model_type: family
    for family in (XLM_ROBERTA, ROBERTA, CAMEMBERT, BERT, DISTILBERT, XLM_ROBERTA_XL)
}
"""Every supported family by its transformers model type."""
