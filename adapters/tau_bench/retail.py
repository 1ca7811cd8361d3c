"""The tools of the retail domain. Checks, their order and their texts are the official ones; so are the odd details.

Arguments are of any JSON type: nothing is validated or coerced, as the official tools do neither, and a wrong type is
answered with what Python says about it (docs of Tau-Bench, section 1.11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from adapters.tau_bench.database import Entity, Session
from adapters.tau_bench.toolbox import calculate, think, toolbox, transfer_to_human_agents

# Reading


def find_user_id_by_email(db: Session, email: Any) -> str:
    """The id of the user with an e-mail address, in any case."""
    for user_id, user in db["users"].items():
        if user["email"].lower() == email.lower():
            return user_id
    return "Error: user not found"


def find_user_id_by_name_zip(db: Session, first_name: Any, last_name: Any, zip: Any) -> str:
    """The id of the user with a name, in any case, and exactly this zip code."""
    for user_id, user in db["users"].items():
        name = user["name"]
        if (
            name["first_name"].lower() == first_name.lower()
            and name["last_name"].lower() == last_name.lower()
            and user["address"]["zip"] == zip
        ):
            return user_id
    return "Error: user not found"


def get_order_details(db: Session, order_id: Any) -> str:
    """An order as JSON."""
    return json.dumps(db["orders"][order_id]) if order_id in db["orders"] else "Error: order not found"


def get_product_details(db: Session, product_id: Any) -> str:
    """A product with all its variants as JSON."""
    return json.dumps(db["products"][product_id]) if product_id in db["products"] else "Error: product not found"


def get_user_details(db: Session, user_id: Any) -> str:
    """A user's profile as JSON."""
    return json.dumps(db["users"][user_id]) if user_id in db["users"] else "Error: user not found"


def list_all_product_types(db: Session) -> str:
    """Product ids by name, as JSON, names in order."""
    products = {product["name"]: product["product_id"] for _, product in db["products"].items()}
    return json.dumps(dict(sorted(products.items())))


# Writing


def cancel_pending_order(db: Session, order_id: Any, reason: Any) -> str:
    """Cancel a pending order; only gift cards are refunded at once."""
    if order_id not in db["orders"]:
        return "Error: order not found"
    if db["orders"][order_id]["status"] != "pending":
        return "Error: non-pending order cannot be cancelled"
    if reason not in ["no longer needed", "ordered by mistake"]:
        return "Error: invalid reason"
    order = db["orders"].edit(order_id)
    refunds = []
    for payment in order["payment_history"]:
        refunds.append(_transaction("refund", payment["amount"], payment["payment_method_id"]))
        if "gift_card" in payment["payment_method_id"]:
            _top_up(db, order, payment["payment_method_id"], payment["amount"])
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"].extend(refunds)
    return json.dumps(order)


def exchange_delivered_order_items(
    db: Session, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> str:
    """Record the request for an exchange; no money moves yet."""
    if order_id not in db["orders"]:
        return "Error: order not found"
    order = db["orders"][order_id]
    if order["status"] != "delivered":
        return "Error: non-delivered order cannot be exchanged"
    difference = _exchange_price(db, order, item_ids, new_item_ids)
    if isinstance(difference, str):
        return difference
    difference = round(difference, 2)
    methods = _payment_methods(db, order)
    if payment_method_id not in methods:
        return "Error: payment method not found"
    if _short_of(methods[payment_method_id], difference):
        return "Error: insufficient gift card balance to pay for the price difference"
    order = db["orders"].edit(order_id)
    order["status"] = "exchange requested"
    # Sorted apart from each other: which item goes for which is lost.
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return json.dumps(order)


def modify_pending_order_address(
    db: Session, order_id: Any, address1: Any, address2: Any, city: Any, state: Any, country: Any, zip: Any
) -> str:
    """Change where a pending order is sent."""
    if order_id not in db["orders"]:
        return "Error: order not found"
    if db["orders"][order_id]["status"] != "pending":
        return "Error: non-pending order cannot be modified"
    order = db["orders"].edit(order_id)
    order["address"] = _address(address1, address2, city, state, country, zip)
    return json.dumps(order)


def modify_pending_order_items(
    db: Session, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> str:
    """Replace items of a pending order by other variants; afterwards the order takes no further changes."""
    if order_id not in db["orders"]:
        return "Error: order not found"
    order = db["orders"][order_id]
    if order["status"] != "pending":
        return "Error: non-pending order cannot be modified"
    # Not rounded, unlike an exchange: the noise of the sum goes into the payment history and so into the hash.
    difference = _exchange_price(db, order, item_ids, new_item_ids)
    if isinstance(difference, str):
        return difference
    methods = _payment_methods(db, order)
    if payment_method_id not in methods:
        return "Error: payment method not found"
    if _short_of(methods[payment_method_id], difference):
        return "Error: insufficient gift card balance to pay for the new item"
    order = db["orders"].edit(order_id)
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_transaction(kind, abs(difference), payment_method_id))
    if methods[payment_method_id]["source"] == "gift_card":
        _top_up(db, order, payment_method_id, -difference)
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        item = _item(order, item_id)
        variant = db["products"][item["product_id"]]["variants"][new_item_id]
        item["item_id"] = new_item_id
        item["price"] = variant["price"]
        item["options"] = dict(variant["options"])
    order["status"] = "pending (item modified)"
    return json.dumps(order)


def modify_pending_order_payment(db: Session, order_id: Any, payment_method_id: Any) -> str:
    """Pay a pending order with another method."""
    if order_id not in db["orders"]:
        return "Error: order not found"
    order = db["orders"][order_id]
    if order["status"] != "pending":
        return "Error: non-pending order cannot be modified"
    methods = _payment_methods(db, order)
    if payment_method_id not in methods:
        return "Error: payment method not found"
    history = order["payment_history"]
    if len(history) > 1 or history[0]["transaction_type"] != "payment":
        return "Error: there should be exactly one payment for a pending order"
    old, amount = history[0]["payment_method_id"], history[0]["amount"]
    if old == payment_method_id:
        return "Error: the new payment method should be different from the current one"
    if _short_of(methods[payment_method_id], amount):
        return "Error: insufficient gift card balance to pay for the order"
    order = db["orders"].edit(order_id)
    order["payment_history"].append(_transaction("payment", amount, payment_method_id))
    order["payment_history"].append(_transaction("refund", amount, old))
    if methods[payment_method_id]["source"] == "gift_card":
        _top_up(db, order, payment_method_id, -amount)
    if "gift_card" in old:
        _top_up(db, order, old, amount)
    return json.dumps(order)


def modify_user_address(
    db: Session, user_id: Any, address1: Any, address2: Any, city: Any, state: Any, country: Any, zip: Any
) -> str:
    """Change a user's default address."""
    if user_id not in db["users"]:
        return "Error: user not found"
    user = db["users"].edit(user_id)
    user["address"] = _address(address1, address2, city, state, country, zip)
    return json.dumps(user)


def return_delivered_order_items(db: Session, order_id: Any, item_ids: Any, payment_method_id: Any) -> str:
    """Record the request for a return; no money moves yet."""
    if order_id not in db["orders"]:
        return "Error: order not found"
    order = db["orders"][order_id]
    if order["status"] != "delivered":
        return "Error: non-delivered order cannot be returned"
    if payment_method_id not in _payment_methods(db, order):
        return "Error: payment method not found"
    original = order["payment_history"][0]["payment_method_id"]
    if "gift_card" not in payment_method_id and payment_method_id != original:
        return "Error: payment method should be either the original payment method or a gift card"
    for _ in _surplus(order, item_ids):
        return "Error: some item not found"
    order = db["orders"].edit(order_id)
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return json.dumps(order)


# What they share


def _payment_methods(db: Session, order: Entity) -> dict[str, Entity]:
    methods: dict[str, Entity] = db["users"][order["user_id"]]["payment_methods"]
    return methods


def _short_of(method: Entity, amount: float) -> bool:
    """Whether it is a gift card that cannot pay `amount`; other methods have no limit."""
    return bool(method["source"] == "gift_card" and method["balance"] < amount)


def _top_up(db: Session, order: Entity, method_id: str, amount: float) -> None:
    """Add to the balance of a gift card of the order's user."""
    card = db["users"].edit(order["user_id"])["payment_methods"][method_id]
    card["balance"] = round(card["balance"] + amount, 2)


def _transaction(kind: str, amount: float, method_id: str) -> Entity:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method_id}


def _address(address1: Any, address2: Any, city: Any, state: Any, country: Any, zip: Any) -> Entity:
    return {"address1": address1, "address2": address2, "city": city, "state": state, "country": country, "zip": zip}


def _item(order: Entity, item_id: Any) -> Entity:
    """The first item of the order with that id."""
    item: Entity = [item for item in order["items"] if item["item_id"] == item_id][0]  # noqa: RUF015
    return item


def _surplus(order: Entity, item_ids: Any) -> Iterator[Any]:
    """The ids that are listed more often than the order holds them."""
    held = [item["item_id"] for item in order["items"]]
    return (item_id for item_id in item_ids if item_ids.count(item_id) > held.count(item_id))


def _exchange_price(db: Session, order: Entity, item_ids: Any, new_item_ids: Any) -> float | str:
    """What the new items cost more than the old ones, not rounded; or the refusal."""
    for item_id in _surplus(order, item_ids):
        return f"Error: {item_id} not found"
    if len(item_ids) != len(new_item_ids):
        return "Error: the number of items to be exchanged should match"
    difference = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        item = _item(order, item_id)
        variants = db["products"][item["product_id"]]["variants"]
        if not (new_item_id in variants and variants[new_item_id]["available"]):
            return f"Error: new item {new_item_id} not found or available"
        difference += variants[new_item_id]["price"] - item["price"]
    return difference


TOOLS = toolbox(
    "retail",
    (
        calculate,
        cancel_pending_order,
        exchange_delivered_order_items,
        find_user_id_by_email,
        find_user_id_by_name_zip,
        get_order_details,
        get_product_details,
        get_user_details,
        list_all_product_types,
        modify_pending_order_address,
        modify_pending_order_items,
        modify_pending_order_payment,
        modify_user_address,
        return_delivered_order_items,
        think,
        transfer_to_human_agents,
    ),
)
"""The 16 tools by name."""
