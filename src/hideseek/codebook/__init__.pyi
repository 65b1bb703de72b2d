from .codebook import Codebook as Codebook
from .codebook import Deployed as Deployed
from .codebook import GapCase as GapCase
from .stage import Stage as Stage
from .weights import Table as Table

__all__ = ["Codebook", "Deployed", "GapCase", "Stage", "Table"]
