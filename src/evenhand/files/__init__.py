"""Files that users name: paths, atomic writing, secrets in addresses, TOML."""
