from .codebook_device import Device as Device
from .live_device import LiveDevice as LiveDevice
from .live_device import LiveLabel as LiveLabel
from .step_device import Answer as Answer

__all__ = ["Answer", "Device", "LiveDevice", "LiveLabel"]
