"""The built-in example: COMPAS recidivism scores, as 40 counts."""

from __future__ import annotations

import numpy as np

from evenhand.tables.cells import Attribute
from evenhand.tables.table import Meaning, Table

# ProPublica's two-year file, all 7 214 defendants, of which 6 150 are in these two groups.
# People by decile score 1 … 10, first those who did not reoffend within two years, then those who did.
_COMPAS = {
    "African-American": (
        (307, 274, 201, 208, 189, 169, 163, 114, 111, 59),
        (91, 119, 145, 177, 176, 215, 237, 245, 269, 227),
    ),
    "Caucasian": (
        (539, 248, 180, 172, 130, 83, 55, 32, 30, 19),
        (142, 113, 93, 113, 111, 111, 88, 82, 68, 45),
    ),
}


def compas() -> Table:
    """COMPAS decile scores of 6 150 defendants by race; not reoffending is the favourable outcome.

    >>> compas()
    Table: 6,150 rows in 40 cells; risk score 'decile_score' (10 values, 1 to 10); label 'two_year_recid' \
(favourable 0); race: African-American 3,696, Caucasian 2,454
    """
    counts = np.array(list(_COMPAS.values()))  # (race, reoffended, decile)
    race, reoffended, decile = (index.ravel() for index in np.indices(counts.shape))
    return Table.of_cells(
        attributes=(Attribute("race", tuple(_COMPAS)),),
        codes=race[None, :],
        n=counts.ravel(),
        score=decile + 1.0,
        label=reoffended == 0,
        meaning=Meaning(score="decile_score", label="two_year_recid", favorable="0", risk=True),
    )
