"""hideseek: the mechanism that provably maximises location privacy for the quality you need."""

from hideseek.data import synthetic_city
from hideseek.errors import (
    BudgetError,
    CertificateError,
    HideseekError,
    MissingExtraError,
    ParameterError,
    ReducibleError,
    SizeError,
    SolverError,
    TraceError,
)
from hideseek.game import Alternatives, Game, Objective, Rows
from hideseek.mechanism import Mechanism
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
from hideseek.regions import Grid, Hexagons, Places, Regions, distances
from hideseek.scenario import Scenario
from hideseek.solve import Curve, Method, Solution, Status, solve, trade_off
from hideseek.traces import read_traces
