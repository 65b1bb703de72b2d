from .claims import Deployed as Deployed
from .claims import GapCase as GapCase
from .codebook import Codebook as Codebook
from .stage import Stage as Stage
from .weights import Table as Table

__all__ = ["Codebook", "Deployed", "GapCase", "Stage", "Table"]
