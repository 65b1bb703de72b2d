from .playbook import Playbook as Playbook

__all__ = ["Playbook"]
