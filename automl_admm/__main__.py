"""`python -m automl_admm` is `automl-admm`."""

from automl_admm.cli.main import main

if __name__ == "__main__":
    main()
