from .label import Estimate as Estimate
from .label import Label as Label
from .label import evaluate as evaluate
from .one_shot import best_guesses as best_guesses
from .one_shot import correlation_aware_error as correlation_aware_error
from .one_shot import expected_error as expected_error
from .one_shot import guess_distribution as guess_distribution
from .other_profile import TwoLabels as TwoLabels
from .other_profile import against_profile as against_profile
from .person_label import PersonLabel as PersonLabel
from .through_time import Adversary as Adversary
from .through_time import attack as attack
from .through_time import beliefs as beliefs

__all__ = [
    "Adversary",
    "Estimate",
    "Label",
    "PersonLabel",
    "TwoLabels",
    "against_profile",
    "attack",
    "beliefs",
    "best_guesses",
    "correlation_aware_error",
    "evaluate",
    "expected_error",
    "guess_distribution",
]
