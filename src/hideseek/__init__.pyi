from . import adversary as adversary
from . import baselines as baselines
from . import device as device
from . import errors as errors
from . import experiments as experiments
from . import fleet as fleet
from . import game as game
from . import maps as maps
from . import metrics as metrics
from . import model as model
from . import planning as planning
from . import solvers as solvers
from . import traces as traces
from .adversary.label import Label as Label
from .adversary.label import evaluate as evaluate
from .codebook.codebook import Codebook as Codebook
from .designing.deployed_run import verify as verify
from .designing.designer import design as design
from .designing.playbook_maker import make_playbook as make_playbook
from .device.codebook_device import Device as Device
from .device.live_device import LiveDevice as LiveDevice
from .device.playbook_device import PlaybookDevice as PlaybookDevice
from .errors import HideseekError as HideseekError
from .errors import ParameterError as ParameterError
from .experiments.protection import protect as protect
from .game.game import Game as Game
from .game.mechanism import Mechanism as Mechanism
from .metrics import Metric as Metric
from .model.markov import MarkovProfile as MarkovProfile
from .model.periodic import PeriodicProfile as PeriodicProfile
from .model.regions import Grid as Grid
from .model.regions import Hexagons as Hexagons
from .model.regions import Places as Places
from .model.scenario import Scenario as Scenario
from .planning.plan_file import load_plan as load_plan
from .planning.plan_file import save_plan as save_plan
from .planning.planner import Planner as Planner
from .planning.training import plan as plan
from .playbook.playbook import Playbook as Playbook
from .solvers.curve import trade_off as trade_off
from .solvers.dispatch import solve as solve
from .storage.profile_file import load_profile as load_profile
from .storage.profile_file import save_profile as save_profile
from .traces.city import synthetic_city as synthetic_city
from .traces.reading import read_traces as read_traces

__all__ = [
    "Codebook",
    "Device",
    "Game",
    "Grid",
    "Hexagons",
    "HideseekError",
    "Label",
    "LiveDevice",
    "MarkovProfile",
    "Mechanism",
    "Metric",
    "ParameterError",
    "PeriodicProfile",
    "Places",
    "Planner",
    "Playbook",
    "PlaybookDevice",
    "Scenario",
    "adversary",
    "baselines",
    "design",
    "device",
    "errors",
    "evaluate",
    "experiments",
    "fleet",
    "game",
    "load_plan",
    "load_profile",
    "make_playbook",
    "maps",
    "metrics",
    "model",
    "plan",
    "planning",
    "protect",
    "read_traces",
    "save_plan",
    "save_profile",
    "solve",
    "solvers",
    "synthetic_city",
    "traces",
    "trade_off",
    "verify",
]
