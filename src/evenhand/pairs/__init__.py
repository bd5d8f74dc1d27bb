"""What counts cannot answer: fairness between individuals, and in other worlds. These need people, row by row."""
