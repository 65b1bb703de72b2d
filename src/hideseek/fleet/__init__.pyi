from .job import Job as Job
from .run import Fleet as Fleet
from .run import fleet as fleet

__all__ = ["Fleet", "Job", "fleet"]
