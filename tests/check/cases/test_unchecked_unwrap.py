from seamwise import Result, Success, is_success


# case: tests may unwrap
def test_it() -> None:
    found: Result[int, str] = Success(1)
    assert is_success(found)
    assert found.unwrap() == 1
    assert Success(1).map(str).unwrap() == '1'
