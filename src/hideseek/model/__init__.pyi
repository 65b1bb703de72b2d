from .geodesy import distances as distances
from .markov import MarkovProfile as MarkovProfile
from .periodic import PeriodicProfile as PeriodicProfile
from .profile import Profile as Profile
from .regions import Grid as Grid
from .regions import Hexagons as Hexagons
from .regions import Places as Places
from .regions import Regions as Regions
from .scenario import Scenario as Scenario
from .trajectories import Trajectories as Trajectories
from .trajectories import possible_trajectories as possible_trajectories

__all__ = [
    "Grid",
    "Hexagons",
    "MarkovProfile",
    "PeriodicProfile",
    "Places",
    "Profile",
    "Regions",
    "Scenario",
    "Trajectories",
    "distances",
    "possible_trajectories",
]
