"""`python -m seamwise` is the command `seamwise`."""

from seamwise.program import main

if __name__ == '__main__':
    main()
