from .deployed_run import verify as verify
from .designer import design as design
from .gap_losses import worst_loss_after_gaps as worst_loss_after_gaps
from .stage_draft import Choice as Choice

__all__ = ["Choice", "design", "verify", "worst_loss_after_gaps"]
