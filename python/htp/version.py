"""The version of HTP: here, and nowhere else. pyproject.toml and CMakeLists.txt read it."""

__version__ = "0.1.0"
