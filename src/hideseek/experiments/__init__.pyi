from .comparison import Comparison as Comparison
from .comparison import compare as compare
from .planner_study import Study as Study
from .planner_study import study as study
from .reproduction.findings import Reproduction as Reproduction
from .reproduction.robustness_study import robustness as robustness
from .reproduction.run import reproduce as reproduce

__all__ = ["Comparison", "Reproduction", "Study", "compare", "reproduce", "robustness", "study"]
