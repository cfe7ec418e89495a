from seamwise import Category, Failure, Result, Success, TaggedError


class Full(TaggedError, category=Category.RESOURCE, message='full'):
    pass


def save(name: str) -> Result[int, Full]:
    return Success(len(name)) if name else Failure(Full())


# case: nothing to suppress on the line
def on_line(name: str) -> Result[int, Full]:
    return save(name)  # seamwise: allow[SW101] not needed  # finds: SW100


# case: nothing to suppress on the next line
def above(name: str) -> Result[int, Full]:
    # finds-next: SW100
    # seamwise: allow[SW103] not needed
    return save(name)


# case: one of two codes is needed
def one_of_two(name: str) -> None:
    # finds-next: SW100
    # seamwise: allow[SW101, SW104] a cache
    save(name)


# case: an unknown code
def unknown(name: str) -> Result[int, Full]:
    # finds-next: SW100
    # seamwise: allow[SW999] an old rule
    return save(name)


# case: the wrong code
def wrong(name: str) -> object:
    # finds-next: SW100
    # seamwise: allow[SW101] it never fails
    return save(name).map(save)  # seamwise: allow[SW119] nested on purpose


# case: a suppression with effect, on its line
def used(name: str) -> None:
    save(name)  # seamwise: allow[SW101] a cache


# case: a suppression with effect, above a statement of several lines
def used_above(name: str) -> None:
    # seamwise: allow[SW101] a cache
    save(
        name,
    )


# case: two codes with effect
def both(name: str) -> None:
    # seamwise: allow[SW101, SW104] a cache
    (save(name).unwrap(), [save(name)])


# case: in a string
def text() -> str:
    return '# seamwise: allow[SW101] not a comment'


# case: allowed on purpose
def kept(name: str) -> Result[int, Full]:
    # seamwise: allow[SW100, SW101] kept as an example
    return save(name)
