"""Data that comes with hideseek: a seeded synthetic city, so that everything runs without anybody's real traces."""

from __future__ import annotations

from hideseek.data.city import BOX, Box, Person, Place, city_people, synthetic_city

__all__ = ["BOX", "Box", "Person", "Place", "city_people", "synthetic_city"]
