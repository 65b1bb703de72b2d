"""hideseek: the mechanism that provably maximises location privacy for the quality you need."""

from hideseek.adversaries import Adversary, Estimate, attack, beliefs
from hideseek.attacks import best_guesses, correlation_aware_error, expected_error, guess_law
from hideseek.codebook import Codebook
from hideseek.compare import Comparison, compare
from hideseek.data import synthetic_city
from hideseek.design import design
from hideseek.device import Answer, Device
from hideseek.errors import (
    BudgetError,
    CertificateError,
    CodebookError,
    HideseekError,
    MissingExtraError,
    ParameterError,
    ReducibleError,
    SizeError,
    SolverError,
    StateError,
    TraceError,
)
from hideseek.evaluate import Label, evaluate
from hideseek.game import Alternatives, Game, Objective, Rows
from hideseek.mechanism import Mechanism, Policy
from hideseek.metrics import (
    Metric,
    distance,
    from_function,
    from_matrix,
    hamming,
    maximum,
    minimum,
    sensitive,
    sensitive_transitions,
    speed,
    squared,
    tolerant,
    total,
)
from hideseek.mobility import MarkovProfile, PeriodicProfile, Profile, Trajectories, possible_trajectories
from hideseek.profile_file import load_profile, save_profile
from hideseek.regions import Grid, Hexagons, Places, Regions, distances
from hideseek.reproduce import Reproduction, reproduce, robustness
from hideseek.scenario import Scenario
from hideseek.solve import (
    Curve,
    LeastLoss,
    Method,
    Solution,
    Status,
    least_loss,
    prefer,
    solve,
    solve_worst_case,
    trade_off,
)
from hideseek.traces import ReadReport, TraceWarning, check_traces, read_traces

__all__ = [
    "Adversary",
    "Alternatives",
    "Answer",
    "BudgetError",
    "CertificateError",
    "Codebook",
    "CodebookError",
    "Comparison",
    "Curve",
    "Device",
    "Estimate",
    "Game",
    "Grid",
    "Hexagons",
    "HideseekError",
    "Label",
    "LeastLoss",
    "MarkovProfile",
    "Mechanism",
    "Method",
    "Metric",
    "MissingExtraError",
    "Objective",
    "ParameterError",
    "PeriodicProfile",
    "Places",
    "Policy",
    "Profile",
    "ReadReport",
    "ReducibleError",
    "Regions",
    "Reproduction",
    "Rows",
    "Scenario",
    "SizeError",
    "Solution",
    "SolverError",
    "StateError",
    "Status",
    "TraceError",
    "TraceWarning",
    "Trajectories",
    "attack",
    "beliefs",
    "best_guesses",
    "check_traces",
    "compare",
    "correlation_aware_error",
    "design",
    "distance",
    "distances",
    "evaluate",
    "expected_error",
    "from_function",
    "from_matrix",
    "guess_law",
    "hamming",
    "least_loss",
    "load_profile",
    "maximum",
    "minimum",
    "possible_trajectories",
    "prefer",
    "read_traces",
    "reproduce",
    "robustness",
    "save_profile",
    "sensitive",
    "sensitive_transitions",
    "solve",
    "solve_worst_case",
    "speed",
    "squared",
    "synthetic_city",
    "tolerant",
    "total",
    "trade_off",
]
