"""Entry point of `python -m seamwise`, the same as the command `seamwise`."""

from seamwise.program import main

if __name__ == '__main__':
    main()
