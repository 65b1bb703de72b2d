from .geodesy import distances as distances
from .mobility import MarkovProfile as MarkovProfile
from .mobility import PeriodicProfile as PeriodicProfile
from .mobility import Profile as Profile
from .mobility import Trajectories as Trajectories
from .mobility import possible_trajectories as possible_trajectories
from .regions import Grid as Grid
from .regions import Hexagons as Hexagons
from .regions import Places as Places
from .regions import Regions as Regions
from .scenario import Scenario as Scenario

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
