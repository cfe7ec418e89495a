from greeting import greet, leave

print(greet('Ada'))
print(leave('Ada'))
