"""Files that users name: paths, atomic writing, secrets in addresses, TOML; and names of modules that load late."""
