from evenhand.files.names import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "adversarial": "AADV ADV DADV",
        "inlp": "INLP",
        "methods": "METHODS MLP REG method",
        "postprocessing": "Barycentre GroupThresholds",
        "reweighting": "Reweighting",
    },
)
