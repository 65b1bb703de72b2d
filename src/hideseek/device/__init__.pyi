from .codebook_device import Answer as Answer
from .codebook_device import Device as Device
from .live_device import LiveDevice as LiveDevice
from .live_device import LiveLabel as LiveLabel

__all__ = ["Answer", "Device", "LiveDevice", "LiveLabel"]
