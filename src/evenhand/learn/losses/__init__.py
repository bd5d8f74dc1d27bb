from evenhand.files.names import lazy

__getattr__, __dir__, __all__ = lazy(__name__, {"losses": "LOSSES Kind Loss loss"})
