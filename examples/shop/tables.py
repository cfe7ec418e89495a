"""What each audience sees of the shop's errors."""

from seamwise.seams import cli, http
from seamwise.seams.cli import tables as cli_tables
from seamwise.seams.http import tables as http_tables
from shop.errors import CardDeclined, OrderNotFound, OrderShipped, OutOfStock, ProductNotFound

HTTP = (
    http.on(ProductNotFound).responds(404, 'PRODUCT_NOT_FOUND')
    | http.on(OutOfStock).responds(409, 'OUT_OF_STOCK')
    | http.on(OrderNotFound).responds(404, 'ORDER_NOT_FOUND')
    | http.on(OrderShipped).responds(409, 'ORDER_SHIPPED')
    | http.on(CardDeclined).responds(409, 'CARD_DECLINED')
    | http_tables.ACCESS
    | http_tables.NETWORK
    | http_tables.STORAGE
    | http_tables.GUARDS
)

CLI = (
    cli.on(ProductNotFound).exits(66)
    | cli.on(OutOfStock).exits(1, hint='order fewer.')
    | cli.on(OrderNotFound).exits(66)
    | cli.on(OrderShipped).exits(1, hint='return the goods instead.')
    | cli.on(CardDeclined).exits(1, hint='use another card.')
    | cli_tables.ACCESS
    | cli_tables.NETWORK
    | cli_tables.STORAGE
    | cli_tables.GUARDS
)
