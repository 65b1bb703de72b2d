from .belief_device import LiveLabel as LiveLabel
from .codebook_device import Device as Device
from .live_device import LiveDevice as LiveDevice
from .playbook_device import PlaybookDevice as PlaybookDevice
from .step_device import Answer as Answer

__all__ = ["Answer", "Device", "LiveDevice", "LiveLabel", "PlaybookDevice"]
