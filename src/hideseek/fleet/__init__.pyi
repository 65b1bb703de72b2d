from .job import Job as Job
from .run import Fleet as Fleet
from .run import run_fleet as run_fleet

__all__ = ["Fleet", "Job", "run_fleet"]
