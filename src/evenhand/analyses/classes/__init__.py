"""More than two classes: rates of every class and group, and one number made of them."""
