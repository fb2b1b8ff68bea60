"""Artificial data sets of which it is known what matters (SPEC.md section 9), each seeded."""

from nearhit.domains.reflected import Reflected, reflected

__all__ = ["Reflected", "reflected"]
