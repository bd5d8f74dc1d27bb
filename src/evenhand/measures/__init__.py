"""Table → numbers; `registry` has every measure."""
