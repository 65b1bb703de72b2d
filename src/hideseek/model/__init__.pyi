from .candidates import Candidate as Candidate
from .clock import Clock as Clock
from .geodesy import distances as distances
from .markov import MarkovProfile as MarkovProfile
from .model_choice import learn as learn
from .own_places import Coverage as Coverage
from .own_places import coverage as coverage
from .own_places import coverage_warnings as coverage_warnings
from .own_places import narrow_budget as narrow_budget
from .own_places import places_of as places_of
from .periodic import PeriodicProfile as PeriodicProfile
from .profile import Profile as Profile
from .regions import Grid as Grid
from .regions import Hexagons as Hexagons
from .regions import Places as Places
from .regions import Regions as Regions
from .scenario import Scenario as Scenario
from .stay_map import Disc as Disc
from .stay_map import StayMap as StayMap
from .trajectories import Trajectories as Trajectories
from .trajectories import possible_trajectories as possible_trajectories

__all__ = [
    "Candidate",
    "Clock",
    "Coverage",
    "Disc",
    "Grid",
    "Hexagons",
    "MarkovProfile",
    "PeriodicProfile",
    "Places",
    "Profile",
    "Regions",
    "Scenario",
    "StayMap",
    "Trajectories",
    "coverage",
    "coverage_warnings",
    "distances",
    "learn",
    "narrow_budget",
    "places_of",
    "possible_trajectories",
]
