"""hideseek: the mechanism that provably maximises location privacy for the quality you need."""

from hideseek.adversaries import Adversary, attack, beliefs
from hideseek.attacks import best_guesses, correlation_aware_error, expected_error, guess_law
from hideseek.codebook import Codebook
from hideseek.compare import Comparison, compare
from hideseek.data import synthetic_city
from hideseek.deployed import verify
from hideseek.design import design
from hideseek.device import Answer, Device
from hideseek.errors import (
    BudgetError,
    CertificateError,
    CodebookError,
    EngineError,
    HideseekError,
    MissingExtraError,
    OutputError,
    ParameterError,
    PlanError,
    ReducibleError,
    SizeError,
    SolverError,
    StateError,
    TraceError,
)
from hideseek.estimate import Estimate
from hideseek.evaluate import Label, evaluate
from hideseek.fleet import Fleet, Job, fleet
from hideseek.foresight import Foresight, follow
from hideseek.game import Alternatives, Game, Objective, Rows
from hideseek.live import LiveDevice, LiveLabel
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
from hideseek.plan_file import load_plan, save_plan
from hideseek.planner import Mode, Outlook, Planner, plan
from hideseek.profile_file import load_profile, save_profile
from hideseek.regions import Grid, Hexagons, Places, Regions, distances
from hideseek.repeated import RepeatedGame
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
from hideseek.study import Study, study
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
    "EngineError",
    "Estimate",
    "Fleet",
    "Foresight",
    "Game",
    "Grid",
    "Hexagons",
    "HideseekError",
    "Job",
    "Label",
    "LeastLoss",
    "LiveDevice",
    "LiveLabel",
    "MarkovProfile",
    "Mechanism",
    "Method",
    "Metric",
    "MissingExtraError",
    "Mode",
    "Objective",
    "Outlook",
    "OutputError",
    "ParameterError",
    "PeriodicProfile",
    "Places",
    "PlanError",
    "Planner",
    "Policy",
    "Profile",
    "ReadReport",
    "ReducibleError",
    "Regions",
    "RepeatedGame",
    "Reproduction",
    "Rows",
    "Scenario",
    "SizeError",
    "Solution",
    "SolverError",
    "StateError",
    "Status",
    "Study",
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
    "fleet",
    "follow",
    "from_function",
    "from_matrix",
    "guess_law",
    "hamming",
    "least_loss",
    "load_plan",
    "load_profile",
    "maximum",
    "minimum",
    "plan",
    "possible_trajectories",
    "prefer",
    "read_traces",
    "reproduce",
    "robustness",
    "save_plan",
    "save_profile",
    "sensitive",
    "sensitive_transitions",
    "solve",
    "solve_worst_case",
    "speed",
    "squared",
    "study",
    "synthetic_city",
    "tolerant",
    "total",
    "trade_off",
    "verify",
]
