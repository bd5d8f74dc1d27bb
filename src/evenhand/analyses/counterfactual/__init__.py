"""Other worlds: causal graphs, what follows from them for each person, and how sure that is."""
