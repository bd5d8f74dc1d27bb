"""Data sets that the literature on fairness uses, read from files that you name, and synthetic ones.

Nothing is bundled: a function says which file it needs and where that can be had. The names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.files.names import lazy

if TYPE_CHECKING:
    from evenhand.datasets.census import adult as adult, kdd_census as kdd_census
    from evenhand.datasets.credit import german as german
    from evenhand.datasets.dataset import Dataset as Dataset
    from evenhand.datasets.justice import compas as compas
    from evenhand.datasets.survey import acs as acs
    from evenhand.datasets.synthetic import four_normals as four_normals, two_normals as two_normals

# No module is called like a public function: importing the module would replace the function.
if not TYPE_CHECKING:  # for whom an unknown name is an error
    __getattr__, __dir__, __all__ = lazy(
        __name__,
        {
            "census": "adult kdd_census",
            "credit": "german",
            "dataset": "Dataset",
            "justice": "compas",
            "survey": "acs",
            "synthetic": "four_normals two_normals",
        },
    )
