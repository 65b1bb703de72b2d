from .metric import Metric as Metric
from .of_places import distance as distance
from .of_places import from_function as from_function
from .of_places import from_matrix as from_matrix
from .of_places import hamming as hamming
from .of_places import squared as squared
from .of_vectors import maximum as maximum
from .of_vectors import minimum as minimum
from .of_vectors import speed as speed
from .of_vectors import total as total
from .sensitive_places import SensitivePlace as SensitivePlace
from .sensitive_places import sensitive_place as sensitive_place
from .sensitive_places import sensitive_to as sensitive_to
from .weighted import sensitive as sensitive
from .weighted import sensitive_transitions as sensitive_transitions
from .weighted import tolerant as tolerant

__all__ = [
    "Metric",
    "SensitivePlace",
    "distance",
    "from_function",
    "from_matrix",
    "hamming",
    "maximum",
    "minimum",
    "sensitive",
    "sensitive_place",
    "sensitive_to",
    "sensitive_transitions",
    "speed",
    "squared",
    "tolerant",
    "total",
]
