from .belief_game import BeliefGame as BeliefGame
from .plan_file import load_plan as load_plan
from .plan_file import save_plan as save_plan
from .planner import Mode as Mode
from .planner import Outlook as Outlook
from .planner import Planner as Planner
from .simulation import Foresight as Foresight
from .simulation import follow as follow
from .training import plan as plan

__all__ = ["BeliefGame", "Foresight", "Mode", "Outlook", "Planner", "follow", "load_plan", "plan", "save_plan"]
