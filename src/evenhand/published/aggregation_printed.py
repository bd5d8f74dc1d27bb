"""What Tables 3, 4 and 5 of Han, Baldwin & Cohn 2023 print."""

from __future__ import annotations

CRITERIA = ("DTO", "P", "P@F+5%", "P@F+10%", "F", "F@P-5%", "F@P-10%")
"""How models are selected, in the order of Tables 3 and 5."""

TABLE_3 = {
    "INLP": (41.9, 41.9, 52.6, 52.6, 70.2, 41.9, 41.9, 39.8),
    "ADV": (39.0, 44.6, 43.3, 41.8, 49.4, 41.2, 41.2, 43.6),
    "DADV": (37.9, 44.7, 41.0, 40.5, 39.9, 40.4, 41.9, 44.5),
    "A-ADV": (36.9, 45.4, 39.5, 39.0, 62.1, 43.8, 42.8, 44.0),
}
"""DTO by criterion, then AUC, in percent."""

_TABLE_5 = {
    "INLP": """81.4 0.0 62.4 0.0 41.9 80.3 0.0 54.4 0.0 49.7
               81.4 0.0 62.4 0.0 41.9 80.3 0.0 54.4 0.0 49.7
               53.8 0.0 75.0 0.0 52.6 53.8 0.0 74.4 0.0 52.8
               53.8 0.0 75.0 0.0 52.6 53.8 0.0 74.4 0.0 52.8
               29.8 0.0 100.0 0.0 70.2 29.9 0.0 86.6 0.0 71.4
               81.4 0.0 62.4 0.0 41.9 80.3 0.0 54.4 0.0 49.7
               81.4 0.0 62.4 0.0 41.9 80.3 0.0 54.4 0.0 49.7""",
    "ADV": """64.6 4.5 83.7 1.1 39.0 63.9 4.4 79.9 3.0 41.3
              81.5 0.2 59.5 1.7 44.6 80.7 0.2 55.2 1.3 48.8
              71.5 5.7 67.3 5.4 43.3 71.3 5.8 66.2 4.2 44.4
              68.8 4.8 72.1 5.6 41.8 68.2 4.8 70.3 6.5 43.6
              51.6 16.5 90.2 9.3 49.4 51.2 16.2 81.0 6.0 52.4
              79.1 1.1 64.5 1.3 41.2 78.5 0.9 58.7 2.4 46.5
              79.1 1.1 64.5 1.3 41.2 78.5 0.9 58.7 2.4 46.5""",
    "DADV": """68.1 5.5 79.5 6.8 37.9 67.6 5.5 75.5 6.7 40.7
               81.4 0.3 59.3 1.7 44.7 80.6 0.3 54.9 1.7 49.1
               73.4 3.8 68.8 4.9 41.0 73.0 3.7 66.0 3.7 43.5
               69.7 2.9 73.2 6.8 40.5 69.2 2.7 70.6 4.0 42.6
               61.8 3.7 88.6 3.7 39.9 61.2 3.5 82.2 2.5 42.7
               80.4 0.5 64.7 1.4 40.4 79.9 0.5 57.4 1.1 47.1
               74.2 3.2 67.0 2.4 41.9 73.7 3.3 64.2 1.1 44.4""",
    "A-ADV": """69.7 4.9 78.8 7.7 36.9 69.3 4.7 75.2 5.4 39.5
                81.3 0.3 58.6 2.0 45.4 80.6 0.3 54.4 1.6 49.6
                70.4 5.7 73.9 8.9 39.5 70.0 5.8 67.4 6.6 44.3
                70.0 3.3 75.0 3.9 39.0 69.4 3.4 70.8 2.1 42.2
                37.9 9.1 99.0 1.2 62.1 37.6 8.8 86.5 0.2 63.8
                79.9 2.2 61.1 2.8 43.8 79.1 2.2 58.1 2.8 46.8
                74.9 5.1 65.4 6.9 42.8 74.3 5.3 64.2 5.4 44.1""",
}
TABLE_5_COLUMNS = ("performance", "performance_sd", "fairness", "fairness_sd", "dto")
"""On the test set, then the same on the development set."""


def table_5(method: str) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    """Of each criterion the columns on the test and on the development set.

    >>> table_5("ADV")["DTO"][0]
    (64.6, 4.5, 83.7, 1.1, 39.0)
    """
    lines = (tuple(map(float, line.split())) for line in _TABLE_5[method].splitlines())
    return {criterion: (line[:5], line[5:]) for criterion, line in zip(CRITERIA, lines, strict=True)}


GROUPS = ("male, rest", "male, wealthy", "female, rest", "female, wealthy")
"""In the order of their codes in the published counts."""
PRINTED_ORDER = ("male, wealthy", "male, rest", "female, wealthy", "female, rest")
"""The columns of Table 4."""

_TABLE_4 = """professor 21715 46 9 37 7
physician 7581 42 8 41 8
attorney 6011 51 10 33 6
photographer 4398 53 11 30 6
journalist 3676 41 9 41 9
nurse 3510 8 1 76 15
psychologist 3280 31 6 52 11
teacher 2946 35 6 49 10
dentist 2682 52 11 30 6
surgeon 2465 73 12 13 2
architect 1891 64 12 21 3
painter 1408 47 9 36 8
model 1362 15 2 70 13
poet 1295 46 7 39 8
software_engineer 1289 70 14 14 2
filmmaker 1225 56 10 29 6
composer 1045 70 14 14 2
accountant 1012 55 9 29 6
dietitian 730 5 1 82 12
comedian 499 69 9 19 3
chiropractor 474 62 14 21 3
pastor 453 59 15 23 4
paralegal 330 12 3 70 15
yoga_teacher 305 13 3 71 12
interior_designer 267 16 4 67 12
personal_trainer 264 41 10 42 7
DJ 244 71 16 11 2
rapper 221 75 15 9 1"""
TOTAL_4 = (72578, (9, 45, 7, 39))
"""The last row of Table 4, its percentages in the printed order."""


def table_4() -> dict[str, tuple[int, dict[str, int]]]:
    """Of each profession how many people, and what percentage of them each group is.

    >>> table_4()["DJ"]
    (244, {'male, wealthy': 71, 'male, rest': 16, 'female, wealthy': 11, 'female, rest': 2})
    """
    rows = (line.split() for line in _TABLE_4.splitlines())
    return {
        name.replace("_", " "): (int(n), dict(zip(PRINTED_ORDER, map(int, shares), strict=True)))
        for name, n, *shares in rows
    }


PROFESSIONS = tuple(sorted(table_4(), key=str.lower))
"""In the order of their codes in the published counts, which is that of the alphabet."""
