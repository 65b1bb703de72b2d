from .comparison import Comparison as Comparison
from .comparison import compare as compare
from .comparison_people import PeopleComparison as PeopleComparison
from .comparison_people import compare_people as compare_people
from .planner_study import Study as Study
from .planner_study import study as study
from .protection import Protection as Protection
from .protection import protect as protect
from .reproduction.findings import Reproduction as Reproduction
from .reproduction.robustness_study import robustness as robustness
from .reproduction.run import reproduce as reproduce

__all__ = [
    "Comparison",
    "PeopleComparison",
    "Protection",
    "Reproduction",
    "Study",
    "compare",
    "compare_people",
    "protect",
    "reproduce",
    "robustness",
    "study",
]
