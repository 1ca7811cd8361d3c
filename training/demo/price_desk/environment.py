"""The demonstration's environment, in the form of a corpus."""

from typing import Any


class PriceDesk:
    """The desk that prices the goods of a shop."""

    def __init__(self, init_config: dict[str, Any]) -> None:
        self.items: dict[str, dict[str, str | int]] = init_config.get("items", {})

    def find_item(self, name: str) -> dict[str, str]:
        """Look up the id of an item.

        Args:
            name: Name of the item.
        """
        for item_id, item in self.items.items():
            if item["name"] == name:
                return {"id": item_id}
        return {"error": "no such item"}

    def set_price(self, item_id: str, price: int) -> dict[str, str]:
        """Set the price of an item.

        Args:
            item_id: Id of the item.
            price: New price, from 1 to 99.
        """
        if item_id not in self.items:
            return {"error": "no such item"}
        if not isinstance(price, int) or isinstance(price, bool) or not 1 <= price <= 99:
            return {"error": "no such price"}
        self.items[item_id]["price"] = price
        return {"done": item_id}
