"""``python -m cordon`` is the command cordon."""

from ._cli import main_cordon

if __name__ == "__main__":
    main_cordon()
