from .deployed_run import verify as verify
from .designer import design as design
from .stage_draft import Choice as Choice

__all__ = ["Choice", "design", "verify"]
