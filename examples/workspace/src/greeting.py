def greet(name):
    message = f'Hello, {name}!'
    return message


def leave(name):
    message = f'Bye, {name}.'
    return message
