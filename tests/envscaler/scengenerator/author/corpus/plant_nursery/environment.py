from typing import TypedDict


class PlantInfo(TypedDict):
    plant_id: str  # "P-1"
    name: str
    stock: int
    price: float


class OrderInfo(TypedDict):
    order_id: str  # "O-1"
    customer: str
    plant_id: str
    quantity: int
    status: str  # "open", "picked" or "cancelled"


class PlantNursery:
    """A plant nursery: plants in stock, and orders that reserve them."""

    def __init__(self, init_config: dict):
        self.plants: dict[str, PlantInfo] = init_config.get("plants", {})
        self.orders: dict[str, OrderInfo] = init_config.get("orders", {})
        self.next_number: int = init_config.get("next_number", 1)

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _is_count(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 500

    def search_plants(self, name: str) -> dict:
        """Search plants by a part of their name.

        Args:
            name: Part of the name.
        """
        return {
            "success": True,
            "data": [dict(p) for p in self.plants.values() if str(name).lower() in p["name"].lower()],
        }

    def list_orders(self, customer: str) -> dict:
        """List a customer's orders.

        Args:
            customer: Name of the customer.
        """
        return {"success": True, "data": [dict(o) for o in self.orders.values() if o["customer"] == customer]}

    def place_order(self, customer: str, plant_id: str, quantity: int) -> dict:
        """Place an order; the plants leave the stock. Refused if there are too few.

        Args:
            customer: Name of the customer.
            plant_id: Id of the plant.
            quantity: How many, 1 to 500.
        """
        if plant_id not in self.plants:
            return self._fail("There is no such plant.")
        if not isinstance(customer, str) or not customer.strip() or not self._is_count(quantity):
            return self._fail("Customer and quantity are needed.")
        if self.plants[plant_id]["stock"] < quantity:
            return self._fail("There are too few in stock.")
        self.plants[plant_id]["stock"] -= quantity
        order_id = f"O-{self.next_number}"
        self.next_number += 1
        self.orders[order_id] = {
            "order_id": order_id,
            "customer": customer,
            "plant_id": plant_id,
            "quantity": quantity,
            "status": "open",
        }
        return {"success": True, "message": "Placed.", "order_id": order_id}

    def cancel_order(self, order_id: str) -> dict:
        """Cancel an open order; its plants go back into the stock.

        Args:
            order_id: Id of the order.
        """
        if order_id not in self.orders:
            return self._fail("There is no such order.")
        order = self.orders[order_id]
        if order["status"] != "open":
            return self._fail("The order is not open.")
        order["status"] = "cancelled"
        self.plants[order["plant_id"]]["stock"] += order["quantity"]
        return {"success": True, "message": "Cancelled."}

    def pick_order(self, order_id: str) -> dict:
        """Mark an open order as picked.

        Args:
            order_id: Id of the order.
        """
        if order_id not in self.orders:
            return self._fail("There is no such order.")
        if self.orders[order_id]["status"] != "open":
            return self._fail("The order is not open.")
        self.orders[order_id]["status"] = "picked"
        return {"success": True, "message": "Picked."}

    def receive_plants(self, plant_id: str, quantity: int) -> dict:
        """Take a delivery into the stock.

        Args:
            plant_id: Id of the plant.
            quantity: How many, 1 to 500.
        """
        if plant_id not in self.plants:
            return self._fail("There is no such plant.")
        if not self._is_count(quantity):
            return self._fail("The quantity is out of bounds.")
        self.plants[plant_id]["stock"] += quantity
        return {"success": True, "message": "Received."}
