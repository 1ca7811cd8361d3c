import copy
import re
from datetime import date, timedelta
from typing import Collection, Dict, List, Literal, Optional, Tuple, TypedDict, TypeVar

Record = TypeVar("Record")


class QuantityItem(TypedDict):
    sku: str
    quantity: int  # units


class SupplierInfo(TypedDict):
    supplier_id: str
    name: str
    lead_time_days: int  # days from order to delivery
    minimum_order_value: float


class ProductInfo(TypedDict):
    sku: str
    name: str
    category: str
    storage: str  # "ambient" or "chilled": the zone whose bins may hold it
    supplier_id: str  # the only supplier of this product
    unit_price: float  # what customers pay per unit
    unit_cost: float  # what the supplier charges per unit
    unit_volume_l: float
    unit_weight_kg: float
    case_size: int  # units per case; suppliers sell whole cases only
    reorder_point: int  # reorder when available plus on order is at or below this
    reorder_quantity: int  # the usual quantity to reorder
    status: str  # "active" or "discontinued" (sold off, never reordered)


class BinInfo(TypedDict):
    bin_id: str
    zone: str  # "ambient" or "chilled"
    capacity_l: float
    status: str  # "open" or "blocked"; nothing moves into or out of a blocked bin
    contents: Dict[str, int]  # {sku: units}
    last_counted_on: str


class OrderLineInfo(TypedDict):
    sku: str  # unique within the order
    ordered: int
    reserved: int  # reserved and not yet picked
    picked: int  # picked and not yet shipped
    shipped: int
    unit_price: float


class SalesOrderInfo(TypedDict):
    order_id: str
    customer: str
    ship_to: str
    order_date: str
    ship_by: str
    priority: str  # "standard" or "express"
    allow_partial: bool  # whether the customer accepts several shipments
    on_hold: bool  # a held order is neither reserved nor picked nor shipped
    status: str  # "open", "partially_shipped", "shipped" or "cancelled"
    cancel_reason: str  # empty unless cancelled
    lines: List[OrderLineInfo]


class PurchaseLineInfo(TypedDict):
    sku: str  # unique within the purchase order
    ordered: int
    received: int
    unit_cost: float


class PurchaseOrderInfo(TypedDict):
    po_id: str
    supplier_id: str
    ordered_on: str
    expected_on: str
    status: str  # "open", "partially_received", "received" or "cancelled"
    lines: List[PurchaseLineInfo]


class ShipmentInfo(TypedDict):
    shipment_id: str
    order_id: str
    carrier: str  # "ParcelLine", "RoadFreight" or "ColdVan"
    tracking_number: str
    weight_kg: float
    shipped_on: str
    status: str  # "in_transit" or "delivered"
    delivered_on: Optional[str]
    lines: List[QuantityItem]


PARCEL_LIMIT_KG = 30.0  # the heaviest shipment that ParcelLine takes
MAX_UNITS = 100000  # no single quantity is larger than this

ZONES = ("ambient", "chilled")
CARRIERS = ("ParcelLine", "RoadFreight", "ColdVan")
PRIORITIES = ("standard", "express")
ORDER_STATUSES = ("open", "partially_shipped", "shipped", "cancelled")
PURCHASE_STATUSES = ("open", "partially_received", "received", "cancelled")


class WarehouseFulfilment:
    def __init__(self, init_config: dict):
        """
        The warehouse of a delicatessen wholesaler: stock in bins, sales orders, purchase orders and shipments.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        # Suppliers: {supplier_id: SupplierInfo}
        self.suppliers: Dict[str, SupplierInfo] = init_config.get("suppliers", {})

        # Products: {sku: ProductInfo}
        self.products: Dict[str, ProductInfo] = init_config.get("products", {})

        # Bins with the stock in them: {bin_id: BinInfo}
        self.bins: Dict[str, BinInfo] = init_config.get("bins", {})

        # Sales orders with their lines: {order_id: SalesOrderInfo}
        self.sales_orders: Dict[str, SalesOrderInfo] = init_config.get("sales_orders", {})

        # Purchase orders with their lines: {po_id: PurchaseOrderInfo}
        self.purchase_orders: Dict[str, PurchaseOrderInfo] = init_config.get("purchase_orders", {})

        # Shipments: {shipment_id: ShipmentInfo}
        self.shipments: Dict[str, ShipmentInfo] = init_config.get("shipments", {})

        # Today in the warehouse, YYYY-MM-DD
        self.current_date: str = init_config.get("current_date", "2025-01-01")

        # The number that the next new record of each kind gets
        self.next_order_number: int = init_config.get("next_order_number", 1)
        self.next_po_number: int = init_config.get("next_po_number", 1)
        self.next_shipment_number: int = init_config.get("next_shipment_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(name: str, value: object) -> dict:
        if not isinstance(value, str):
            return {"success": False, "error": f"{name} must be a string."}
        return {"success": False, "error": f"There is no {name} '{value[:60]}'."}

    @staticmethod
    def _find(table: Dict[str, Record], key: object) -> Optional[Record]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _text_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional text filter, or None."""
        return None if value is None or isinstance(value, str) else f"{name} must be a string."

    @staticmethod
    def _choice_filter(name: str, value: object, allowed: Collection[str]) -> Optional[str]:
        """Say what is wrong with an optional value out of a fixed set, or None."""
        if value is None or (isinstance(value, str) and value in allowed):
            return None
        return f"{name} must be one of: {', '.join(allowed)}."

    @staticmethod
    def _flag_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional true-or-false value, or None."""
        return None if value is None or isinstance(value, bool) else f"{name} must be true or false."

    @staticmethod
    def _contains(text: str, part: Optional[str]) -> bool:
        return part is None or part.strip().lower() in text.lower()

    @staticmethod
    def _is_date(value: object) -> bool:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return False
        try:
            date.fromisoformat(value)
        except ValueError:
            return False
        return True

    @staticmethod
    def _is_count(value: object, least: int = 1) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_UNITS

    def _check_items(self, lines: object) -> Optional[str]:
        """Say what is wrong with a list of {"sku", "quantity"} items, or None."""
        if not isinstance(lines, list) or not lines:
            return 'lines must be a non-empty list of {"sku", "quantity"} items.'
        seen = set()
        for item in lines:
            if not isinstance(item, dict) or set(item) != {"sku", "quantity"}:
                return 'Each line must have exactly the keys "sku" and "quantity".'
            sku = item["sku"]
            if not isinstance(sku, str) or sku not in self.products:
                return (
                    f"There is no product with sku '{sku[:60]}'." if isinstance(sku, str) else "sku must be a string."
                )
            if not self._is_count(item["quantity"]):
                return f"The quantity of {sku} must be a whole number from 1 to {MAX_UNITS}."
            if sku in seen:
                return f"Product {sku} appears in more than one line."
            seen.add(sku)
        return None

    @staticmethod
    def _short(line: OrderLineInfo) -> int:
        """Units of a sales order line that are not yet reserved, picked or shipped."""
        return line["ordered"] - line["reserved"] - line["picked"] - line["shipped"]

    def _on_hand(self, sku: str, open_only: bool) -> int:
        return sum(
            place["contents"].get(sku, 0) for place in self.bins.values() if place["status"] == "open" or not open_only
        )

    def _reserved(self, sku: str) -> int:
        return sum(
            line["reserved"] for order in self.sales_orders.values() for line in order["lines"] if line["sku"] == sku
        )

    def _available(self, sku: str) -> int:
        """Units in open bins that no order has reserved."""
        return self._on_hand(sku, open_only=True) - self._reserved(sku)

    def _on_order(self, sku: str) -> int:
        return sum(
            line["ordered"] - line["received"]
            for purchase in self.purchase_orders.values()
            if purchase["status"] in ("open", "partially_received")
            for line in purchase["lines"]
            if line["sku"] == sku
        )

    def _free_l(self, place: BinInfo) -> float:
        used = sum(units * self.products[sku]["unit_volume_l"] for sku, units in place["contents"].items())
        return round(place["capacity_l"] - used, 3)

    def _put_problem(self, place: BinInfo, product: ProductInfo, quantity: int) -> Optional[str]:
        """Say why so many units of a product cannot go into a bin, or None."""
        if place["status"] != "open":
            return f"Bin {place['bin_id']} is blocked."
        if place["zone"] != product["storage"]:
            return f"{product['name']} is stored {product['storage']}; bin {place['bin_id']} is {place['zone']}."
        needed = round(quantity * product["unit_volume_l"], 3)
        if needed > self._free_l(place):
            return f"Bin {place['bin_id']} has {self._free_l(place):.2f} l free; {needed:.2f} l are needed."
        return None

    @staticmethod
    def _put(place: BinInfo, sku: str, quantity: int) -> None:
        units = place["contents"].get(sku, 0) + quantity
        if units:
            place["contents"][sku] = units
        else:
            place["contents"].pop(sku, None)

    def _weight(self, items: List[QuantityItem]) -> float:
        return round(sum(item["quantity"] * self.products[item["sku"]]["unit_weight_kg"] for item in items), 2)

    def _workable_line(self, order_id: object, sku: object) -> Tuple[Optional[OrderLineInfo], dict]:
        """Find the line of an order that may be worked on; without one, the second item is the failure."""
        order = self._find(self.sales_orders, order_id)
        if order is None:
            return None, self._unknown("order_id", order_id)
        if order["status"] in ("shipped", "cancelled"):
            return None, self._fail(f"Order {order_id} is {order['status']}.")
        if not isinstance(sku, str):
            return None, self._fail("sku must be a string.")
        for line in order["lines"]:
            if line["sku"] == sku:
                return line, {}
        return None, self._fail(f"Order {order_id} has no line for sku '{sku[:60]}'.")

    # Queries

    def search_products(
        self,
        name: Optional[str] = None,
        category: Optional[str] = None,
        storage: Optional[Literal["ambient", "chilled"]] = None,
        supplier_id: Optional[str] = None,
    ) -> dict:
        """
        Find products; every filter that is given must match.

        Args:
            name (str, optional): Part of the product name, any case.
            category (str, optional): Part of the category, any case.
            storage (str, optional): "ambient" or "chilled".
            supplier_id (str, optional): Supplier id, e.g. "SUP-03".

        Returns:
            dict: {"success": True, "data": [ProductInfo, ...]} sorted by sku, or {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("name", name)
            or self._text_filter("category", category)
            or self._choice_filter("storage", storage, ZONES)
        )
        if problem:
            return self._fail(problem)
        if supplier_id is not None and self._find(self.suppliers, supplier_id) is None:
            return self._unknown("supplier_id", supplier_id)
        found = [
            product
            for _, product in sorted(self.products.items())
            if self._contains(product["name"], name)
            and self._contains(product["category"], category)
            and storage in (None, product["storage"])
            and supplier_id in (None, product["supplier_id"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_stock(self, sku: str) -> dict:
        """
        Show the stock of a product, in total and bin by bin.

        Args:
            sku (str): Stock keeping unit, e.g. "OIL-500".

        Returns:
            dict: {"success": True, "data": {"sku", "name": str, "on_hand": int (all bins), "blocked": int (units in
            blocked bins), "reserved": int (not yet picked), "available": int (on hand less blocked and reserved),
            "on_order": int, "bins": [{"bin_id", "status": str, "quantity": int}, ...]}}, or
            {"success": False, "error": str}.
        """
        product = self._find(self.products, sku)
        if product is None:
            return self._unknown("sku", sku)
        places = [
            {"bin_id": bin_id, "status": place["status"], "quantity": place["contents"][sku]}
            for bin_id, place in sorted(self.bins.items())
            if sku in place["contents"]
        ]
        on_hand = self._on_hand(sku, open_only=False)
        stock = {
            "sku": sku,
            "name": product["name"],
            "on_hand": on_hand,
            "blocked": on_hand - self._on_hand(sku, open_only=True),
            "reserved": self._reserved(sku),
            "available": self._available(sku),
            "on_order": self._on_order(sku),
            "bins": places,
        }
        return {"success": True, "data": stock}

    def list_bins(
        self,
        zone: Optional[Literal["ambient", "chilled"]] = None,
        status: Optional[Literal["open", "blocked"]] = None,
        min_free_l: Optional[float] = None,
    ) -> dict:
        """
        List bins with their contents and free volume; every filter that is given must match.

        Args:
            zone (str, optional): "ambient" or "chilled".
            status (str, optional): "open" or "blocked".
            min_free_l (float, optional): Least free volume in litres.

        Returns:
            dict: {"success": True, "data": [BinInfo with "free_l" added, ...]} sorted by bin_id, or
            {"success": False, "error": str}.
        """
        problem = self._choice_filter("zone", zone, ZONES) or self._choice_filter("status", status, ("open", "blocked"))
        if problem:
            return self._fail(problem)
        if min_free_l is not None and (
            isinstance(min_free_l, bool) or not isinstance(min_free_l, (int, float)) or not min_free_l >= 0
        ):
            return self._fail("min_free_l must be a number of litres, 0 or more.")
        found = [
            {**copy.deepcopy(place), "free_l": self._free_l(place)}
            for _, place in sorted(self.bins.items())
            if zone in (None, place["zone"])
            and status in (None, place["status"])
            and (min_free_l is None or self._free_l(place) >= min_free_l)
        ]
        return {"success": True, "data": found}

    def list_suppliers(self, name: Optional[str] = None) -> dict:
        """
        List suppliers with lead time and minimum order value.

        Args:
            name (str, optional): Part of the supplier's name, any case.

        Returns:
            dict: {"success": True, "data": [SupplierInfo, ...]} sorted by supplier_id, or
            {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name)
        if problem:
            return self._fail(problem)
        found = [s for _, s in sorted(self.suppliers.items()) if self._contains(s["name"], name)]
        return {"success": True, "data": copy.deepcopy(found)}

    def search_orders(
        self,
        customer: Optional[str] = None,
        status: Optional[Literal["open", "partially_shipped", "shipped", "cancelled"]] = None,
        priority: Optional[Literal["standard", "express"]] = None,
        sku: Optional[str] = None,
        ship_by_until: Optional[str] = None,
    ) -> dict:
        """
        Find sales orders; every filter that is given must match.

        Args:
            customer (str, optional): Part of the customer's name, any case.
            status (str, optional): "open", "partially_shipped", "shipped" or "cancelled".
            priority (str, optional): "standard" or "express".
            sku (str, optional): Only orders with a line for this product.
            ship_by_until (str, optional): Date YYYY-MM-DD; only orders to be shipped on or before this day.

        Returns:
            dict: {"success": True, "data": [SalesOrderInfo, ...]} sorted by order_id, or
            {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("customer", customer)
            or self._choice_filter("status", status, ORDER_STATUSES)
            or self._choice_filter("priority", priority, PRIORITIES)
        )
        if problem is None and ship_by_until is not None and not self._is_date(ship_by_until):
            problem = "ship_by_until must be a date in the form YYYY-MM-DD."
        if problem:
            return self._fail(problem)
        if sku is not None and self._find(self.products, sku) is None:
            return self._unknown("sku", sku)
        found = [
            order
            for _, order in sorted(self.sales_orders.items())
            if self._contains(order["customer"], customer)
            and status in (None, order["status"])
            and priority in (None, order["priority"])
            and (sku is None or any(line["sku"] == sku for line in order["lines"]))
            and (ship_by_until is None or order["ship_by"] <= ship_by_until)
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_order(self, order_id: str) -> dict:
        """
        Show a sales order with what is still missing and what it weighs.

        Args:
            order_id (str): Sales order id, e.g. "SO-2045".

        Returns:
            dict: {"success": True, "data": SalesOrderInfo with "short" (not yet reserved, picked or shipped) on each
            line, "order_value": float, "outstanding_weight_kg": float (all that is not shipped) and
            "picked_weight_kg": float}, or {"success": False, "error": str}.
        """
        order = self._find(self.sales_orders, order_id)
        if order is None:
            return self._unknown("order_id", order_id)
        lines = [
            {**line, "name": self.products[line["sku"]]["name"], "short": self._short(line)} for line in order["lines"]
        ]
        outstanding: List[QuantityItem] = [
            {"sku": line["sku"], "quantity": line["ordered"] - line["shipped"]} for line in order["lines"]
        ]
        picked: List[QuantityItem] = [{"sku": line["sku"], "quantity": line["picked"]} for line in order["lines"]]
        shown = {
            **order,
            "lines": lines,
            "order_value": round(sum(line["ordered"] * line["unit_price"] for line in order["lines"]), 2),
            "outstanding_weight_kg": self._weight(outstanding),
            "picked_weight_kg": self._weight(picked),
        }
        return {"success": True, "data": shown}

    def list_backorders(self, sku: Optional[str] = None) -> dict:
        """
        List the lines of running sales orders that are short: ordered, but not yet reserved, picked or shipped.

        Args:
            sku (str, optional): Only lines for this product.

        Returns:
            dict: {"success": True, "data": [{"order_id", "customer", "priority", "ship_by", "sku": str,
            "on_hold": bool, "short": int}, ...]} sorted by ship-by date, or {"success": False, "error": str}.
        """
        if sku is not None and self._find(self.products, sku) is None:
            return self._unknown("sku", sku)
        found = [
            {
                "order_id": order["order_id"],
                "customer": order["customer"],
                "priority": order["priority"],
                "ship_by": order["ship_by"],
                "sku": line["sku"],
                "on_hold": order["on_hold"],
                "short": self._short(line),
            }
            for order in sorted(self.sales_orders.values(), key=lambda entry: (entry["ship_by"], entry["order_id"]))
            if order["status"] in ("open", "partially_shipped")
            for line in order["lines"]
            if sku in (None, line["sku"]) and self._short(line) > 0
        ]
        return {"success": True, "data": found}

    def search_purchase_orders(
        self,
        supplier_id: Optional[str] = None,
        status: Optional[Literal["open", "partially_received", "received", "cancelled"]] = None,
        sku: Optional[str] = None,
    ) -> dict:
        """
        Find purchase orders; every filter that is given must match.

        Args:
            supplier_id (str, optional): Supplier id, e.g. "SUP-03".
            status (str, optional): "open", "partially_received", "received" or "cancelled".
            sku (str, optional): Only purchase orders with a line for this product.

        Returns:
            dict: {"success": True, "data": [PurchaseOrderInfo with "order_value" added, ...]} sorted by po_id, or
            {"success": False, "error": str}.
        """
        if supplier_id is not None and self._find(self.suppliers, supplier_id) is None:
            return self._unknown("supplier_id", supplier_id)
        problem = self._choice_filter("status", status, PURCHASE_STATUSES)
        if problem:
            return self._fail(problem)
        if sku is not None and self._find(self.products, sku) is None:
            return self._unknown("sku", sku)
        found = [
            {
                **copy.deepcopy(purchase),
                "order_value": round(sum(line["ordered"] * line["unit_cost"] for line in purchase["lines"]), 2),
            }
            for _, purchase in sorted(self.purchase_orders.items())
            if supplier_id in (None, purchase["supplier_id"])
            and status in (None, purchase["status"])
            and (sku is None or any(line["sku"] == sku for line in purchase["lines"]))
        ]
        return {"success": True, "data": found}

    def list_reorder_suggestions(self, supplier_id: Optional[str] = None) -> dict:
        """
        List the active products to reorder: available plus on order is at or below the reorder point.

        Args:
            supplier_id (str, optional): Only products of this supplier.

        Returns:
            dict: {"success": True, "data": [{"sku", "name", "supplier_id": str, "available", "on_order",
            "reorder_point", "reorder_quantity", "case_size": int, "unit_cost": float}, ...]} sorted by sku, or
            {"success": False, "error": str}.
        """
        if supplier_id is not None and self._find(self.suppliers, supplier_id) is None:
            return self._unknown("supplier_id", supplier_id)
        found = [
            {
                "sku": sku,
                "name": product["name"],
                "supplier_id": product["supplier_id"],
                "available": self._available(sku),
                "on_order": self._on_order(sku),
                "reorder_point": product["reorder_point"],
                "reorder_quantity": product["reorder_quantity"],
                "case_size": product["case_size"],
                "unit_cost": product["unit_cost"],
            }
            for sku, product in sorted(self.products.items())
            if product["status"] == "active"
            and supplier_id in (None, product["supplier_id"])
            and self._available(sku) + self._on_order(sku) <= product["reorder_point"]
        ]
        return {"success": True, "data": found}

    def list_shipments(
        self,
        order_id: Optional[str] = None,
        carrier: Optional[Literal["ParcelLine", "RoadFreight", "ColdVan"]] = None,
        status: Optional[Literal["in_transit", "delivered"]] = None,
    ) -> dict:
        """
        List shipments; every filter that is given must match.

        Args:
            order_id (str, optional): Sales order id, e.g. "SO-2045".
            carrier (str, optional): "ParcelLine", "RoadFreight" or "ColdVan".
            status (str, optional): "in_transit" or "delivered".

        Returns:
            dict: {"success": True, "data": [ShipmentInfo with "customer" added, ...]} sorted by shipment_id, or
            {"success": False, "error": str}.
        """
        if order_id is not None and self._find(self.sales_orders, order_id) is None:
            return self._unknown("order_id", order_id)
        problem = self._choice_filter("carrier", carrier, CARRIERS) or self._choice_filter(
            "status", status, ("in_transit", "delivered")
        )
        if problem:
            return self._fail(problem)
        found = [
            {**copy.deepcopy(shipment), "customer": self.sales_orders[shipment["order_id"]]["customer"]}
            for _, shipment in sorted(self.shipments.items())
            if order_id in (None, shipment["order_id"])
            and carrier in (None, shipment["carrier"])
            and status in (None, shipment["status"])
        ]
        return {"success": True, "data": found}

    # Changes: sales orders

    def create_sales_order(
        self,
        customer: str,
        ship_to: str,
        ship_by: str,
        lines: List[QuantityItem],
        priority: Literal["standard", "express"] = "standard",
        allow_partial: bool = False,
    ) -> dict:
        """
        Enter a sales order at today's unit prices. Nothing is reserved yet.

        Args:
            customer (str): Name of the customer.
            ship_to (str): Delivery address.
            ship_by (str): Date YYYY-MM-DD, today or later.
            lines (list): Items {"sku": str, "quantity": int}; each product once, each quantity 1 or more.
            priority (str, optional): "standard" (default) or "express".
            allow_partial (bool, optional): Whether the customer accepts several shipments; default false.

        Returns:
            dict: {"success": True, "message": str, "order_id": str, "order_value": float}, or
            {"success": False, "error": str}.
        """
        if not isinstance(customer, str) or not customer.strip():
            return self._fail("customer must be a non-empty string.")
        if not isinstance(ship_to, str) or not ship_to.strip():
            return self._fail("ship_to must be a non-empty string.")
        if not self._is_date(ship_by) or ship_by < self.current_date:
            return self._fail(f"ship_by must be a date YYYY-MM-DD, not before today, {self.current_date}.")
        problem = self._check_items(lines)
        if problem:
            return self._fail(problem)
        if not isinstance(priority, str) or priority not in PRIORITIES:
            return self._fail(f"priority must be one of: {', '.join(PRIORITIES)}.")
        if not isinstance(allow_partial, bool):
            return self._fail("allow_partial must be true or false.")
        order_id = f"SO-{self.next_order_number}"
        self.next_order_number += 1
        order: SalesOrderInfo = {
            "order_id": order_id,
            "customer": customer.strip(),
            "ship_to": ship_to.strip(),
            "order_date": self.current_date,
            "ship_by": ship_by,
            "priority": priority,
            "allow_partial": allow_partial,
            "on_hold": False,
            "status": "open",
            "cancel_reason": "",
            "lines": [
                {
                    "sku": item["sku"],
                    "ordered": item["quantity"],
                    "reserved": 0,
                    "picked": 0,
                    "shipped": 0,
                    "unit_price": self.products[item["sku"]]["unit_price"],
                }
                for item in lines
            ],
        }
        self.sales_orders[order_id] = order
        value = round(sum(line["ordered"] * line["unit_price"] for line in order["lines"]), 2)
        return {
            "success": True,
            "message": f"Entered order {order_id} for {customer.strip()}, worth {value:.2f}.",
            "order_id": order_id,
            "order_value": value,
        }

    def update_order(
        self,
        order_id: str,
        ship_by: Optional[str] = None,
        priority: Optional[Literal["standard", "express"]] = None,
        allow_partial: Optional[bool] = None,
        on_hold: Optional[bool] = None,
    ) -> dict:
        """
        Change the terms of a running sales order; what is left out stays as it is.

        Args:
            order_id (str): Sales order id, e.g. "SO-2045". The order must be "open" or "partially_shipped".
            ship_by (str, optional): New date YYYY-MM-DD, today or later.
            priority (str, optional): "standard" or "express".
            allow_partial (bool, optional): Whether the customer accepts several shipments; it cannot be withdrawn
                once a part has been shipped.
            on_hold (bool, optional): True puts the order on hold, so that it is neither reserved nor picked nor
                shipped; false releases it.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.sales_orders, order_id)
        if order is None:
            return self._unknown("order_id", order_id)
        if order["status"] in ("shipped", "cancelled"):
            return self._fail(f"Order {order_id} is {order['status']} and cannot be changed.")
        if ship_by is None and priority is None and allow_partial is None and on_hold is None:
            return self._fail("Give at least one of ship_by, priority, allow_partial and on_hold.")
        if ship_by is not None and (not self._is_date(ship_by) or ship_by < self.current_date):
            return self._fail(f"ship_by must be a date YYYY-MM-DD, not before today, {self.current_date}.")
        problem = (
            self._choice_filter("priority", priority, PRIORITIES)
            or self._flag_filter("allow_partial", allow_partial)
            or self._flag_filter("on_hold", on_hold)
        )
        if problem:
            return self._fail(problem)
        if allow_partial is False and order["status"] == "partially_shipped":
            return self._fail(f"A part of order {order_id} has been shipped; allow_partial cannot be withdrawn.")
        if ship_by is not None:
            order["ship_by"] = ship_by
        if priority is not None:
            order["priority"] = priority
        if allow_partial is not None:
            order["allow_partial"] = allow_partial
        if on_hold is not None:
            order["on_hold"] = on_hold
        return {"success": True, "message": f"Updated order {order_id} of {order['customer']}."}

    def reserve_stock(self, order_id: str, sku: str, quantity: int) -> dict:
        """
        Reserve available stock for a line of a sales order that is not on hold.

        Args:
            order_id (str): Sales order id, e.g. "SO-2045".
            sku (str): Product of the line, e.g. "OIL-500".
            quantity (int): Units, 1 or more; at most what the line is short of and at most what is available (units
                in open bins that no order has reserved).

        Returns:
            dict: {"success": True, "message": str, "line_short": int, "available": int}, or
            {"success": False, "error": str}.
        """
        line, failure = self._workable_line(order_id, sku)
        if line is None:
            return failure
        if self.sales_orders[order_id]["on_hold"]:
            return self._fail(f"Order {order_id} is on hold.")
        if not self._is_count(quantity):
            return self._fail("quantity must be a whole number, 1 or more.")
        if quantity > self._short(line):
            return self._fail(f"The line is short of {self._short(line)} units only.")
        available = self._available(sku)
        if quantity > available:
            return self._fail(f"Only {max(available, 0)} units of {sku} are available.")
        line["reserved"] += quantity
        return {
            "success": True,
            "message": f"Reserved {quantity} units of {sku} for order {order_id}.",
            "line_short": self._short(line),
            "available": self._available(sku),
        }

    def release_reservation(self, order_id: str, sku: str, quantity: int) -> dict:
        """
        Give reserved units that have not been picked back to the available stock.

        Args:
            order_id (str): Sales order id, e.g. "SO-2045".
            sku (str): Product of the line, e.g. "OIL-500".
            quantity (int): Units, from 1 to what is reserved on the line.

        Returns:
            dict: {"success": True, "message": str, "available": int}, or {"success": False, "error": str}.
        """
        line, failure = self._workable_line(order_id, sku)
        if line is None:
            return failure
        if not self._is_count(quantity) or quantity > line["reserved"]:
            return self._fail(f"quantity must be a whole number from 1 to {line['reserved']}, which is reserved.")
        line["reserved"] -= quantity
        return {
            "success": True,
            "message": f"Released {quantity} units of {sku} from order {order_id}.",
            "available": self._available(sku),
        }

    def pick_stock(self, order_id: str, sku: str, bin_id: str, quantity: int) -> dict:
        """
        Pick reserved units of a sales order line from a bin.

        The order must not be on hold, the units must be reserved on the line, and the bin must be open and hold them.

        Args:
            order_id (str): Sales order id, e.g. "SO-2045".
            sku (str): Product of the line, e.g. "OIL-500".
            bin_id (str): Bin id, e.g. "A-01-02".
            quantity (int): Units, 1 or more; several bins need one call each.

        Returns:
            dict: {"success": True, "message": str, "picked": int, "left_in_bin": int}, or
            {"success": False, "error": str}.
        """
        line, failure = self._workable_line(order_id, sku)
        if line is None:
            return failure
        if self.sales_orders[order_id]["on_hold"]:
            return self._fail(f"Order {order_id} is on hold.")
        place = self._find(self.bins, bin_id)
        if place is None:
            return self._unknown("bin_id", bin_id)
        if place["status"] != "open":
            return self._fail(f"Bin {bin_id} is blocked.")
        if not self._is_count(quantity) or quantity > line["reserved"]:
            return self._fail(f"quantity must be a whole number from 1 to {line['reserved']}, which is reserved.")
        held = place["contents"].get(sku, 0)
        if quantity > held:
            return self._fail(f"Bin {bin_id} holds only {held} units of {sku}.")
        self._put(place, sku, -quantity)
        line["reserved"] -= quantity
        line["picked"] += quantity
        return {
            "success": True,
            "message": f"Picked {quantity} units of {sku} from bin {bin_id} for order {order_id}.",
            "picked": line["picked"],
            "left_in_bin": held - quantity,
        }

    def put_back_stock(self, order_id: str, sku: str, bin_id: str, quantity: int) -> dict:
        """
        Put picked units that have not been shipped back into a bin; they are no longer reserved for the order.

        The bin must be open, belong to the product's storage zone and have room.

        Args:
            order_id (str): Sales order id, e.g. "SO-2045".
            sku (str): Product of the line, e.g. "OIL-500".
            bin_id (str): Bin id, e.g. "A-01-02".
            quantity (int): Units, from 1 to what is picked on the line.

        Returns:
            dict: {"success": True, "message": str, "picked": int}, or {"success": False, "error": str}.
        """
        line, failure = self._workable_line(order_id, sku)
        if line is None:
            return failure
        place = self._find(self.bins, bin_id)
        if place is None:
            return self._unknown("bin_id", bin_id)
        if not self._is_count(quantity) or quantity > line["picked"]:
            return self._fail(f"quantity must be a whole number from 1 to {line['picked']}, which is picked.")
        problem = self._put_problem(place, self.products[sku], quantity)
        if problem:
            return self._fail(problem)
        self._put(place, sku, quantity)
        line["picked"] -= quantity
        return {
            "success": True,
            "message": f"Put {quantity} units of {sku} from order {order_id} back into bin {bin_id}.",
            "picked": line["picked"],
        }

    def cancel_order(self, order_id: str, reason: str) -> dict:
        """
        Cancel an open sales order and release its reservations.

        Refused while units are picked (put them back first) and once anything has been shipped.

        Args:
            order_id (str): Sales order id, e.g. "SO-2045".
            reason (str): Why it is cancelled; must not be empty.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.sales_orders, order_id)
        if order is None:
            return self._unknown("order_id", order_id)
        if not isinstance(reason, str) or not reason.strip():
            return self._fail("reason must be a non-empty string.")
        if order["status"] != "open":
            return self._fail(f"Order {order_id} is {order['status']} and cannot be cancelled.")
        picked = sum(line["picked"] for line in order["lines"])
        if picked:
            return self._fail(f"{picked} units of order {order_id} are picked; put them back first.")
        for line in order["lines"]:
            line["reserved"] = 0
        order["status"] = "cancelled"
        order["cancel_reason"] = reason.strip()
        return {"success": True, "message": f"Cancelled order {order_id} of {order['customer']}."}

    # Changes: shipments

    def create_shipment(
        self,
        order_id: str,
        carrier: Literal["ParcelLine", "RoadFreight", "ColdVan"],
        tracking_number: str,
        lines: Optional[List[QuantityItem]] = None,
    ) -> dict:
        """
        Ship picked units of a sales order today.

        The order must not be on hold. Unless it allows partial shipment, the shipment must complete it. ParcelLine
        takes at most 30 kg per shipment; RoadFreight and ColdVan take any weight. Chilled products travel with
        ColdVan only.

        Args:
            order_id (str): Sales order id, e.g. "SO-2045".
            carrier (str): "ParcelLine", "RoadFreight" or "ColdVan".
            tracking_number (str): The carrier's number for the shipment; must not have been used before.
            lines (list, optional): Items {"sku": str, "quantity": int}, at most what is picked; everything picked if
                left out.

        Returns:
            dict: {"success": True, "message": str, "shipment_id": str, "weight_kg": float, "order_status": str}, or
            {"success": False, "error": str}.
        """
        order = self._find(self.sales_orders, order_id)
        if order is None:
            return self._unknown("order_id", order_id)
        if order["status"] in ("shipped", "cancelled"):
            return self._fail(f"Order {order_id} is {order['status']}.")
        if order["on_hold"]:
            return self._fail(f"Order {order_id} is on hold.")
        if not isinstance(carrier, str) or carrier not in CARRIERS:
            return self._fail(f"carrier must be one of: {', '.join(CARRIERS)}.")
        if not isinstance(tracking_number, str) or not tracking_number.strip():
            return self._fail("tracking_number must be a non-empty string.")
        if any(shipment["tracking_number"] == tracking_number.strip() for shipment in self.shipments.values()):
            return self._fail(f"Tracking number '{tracking_number.strip()[:60]}' has been used before.")
        problem = self._check_items(lines) if lines is not None else None
        if problem:
            return self._fail(problem)
        picked = {line["sku"]: line["picked"] for line in order["lines"] if line["picked"]}
        chosen = picked if lines is None else {item["sku"]: item["quantity"] for item in lines}
        if not chosen:
            return self._fail(f"Nothing is picked for order {order_id}.")
        for sku, quantity in chosen.items():
            if quantity > picked.get(sku, 0):
                return self._fail(f"Only {picked.get(sku, 0)} units of {sku} are picked for order {order_id}.")
        complete = all(line["shipped"] + chosen.get(line["sku"], 0) == line["ordered"] for line in order["lines"])
        if not complete and not order["allow_partial"]:
            return self._fail(f"Order {order_id} does not allow partial shipment and would not be complete.")
        if carrier != "ColdVan" and any(self.products[sku]["storage"] == "chilled" for sku in chosen):
            return self._fail("Chilled products travel with ColdVan only.")
        items: List[QuantityItem] = [{"sku": sku, "quantity": quantity} for sku, quantity in chosen.items()]
        weight = self._weight(items)
        if carrier == "ParcelLine" and weight > PARCEL_LIMIT_KG:
            return self._fail(
                f"The shipment weighs {weight:.2f} kg; ParcelLine takes at most {PARCEL_LIMIT_KG:.2f} kg."
            )
        shipment_id = f"SH-{self.next_shipment_number}"
        self.next_shipment_number += 1
        self.shipments[shipment_id] = {
            "shipment_id": shipment_id,
            "order_id": order_id,
            "carrier": carrier,
            "tracking_number": tracking_number.strip(),
            "weight_kg": weight,
            "shipped_on": self.current_date,
            "status": "in_transit",
            "delivered_on": None,
            "lines": items,
        }
        for line in order["lines"]:
            line["picked"] -= chosen.get(line["sku"], 0)
            line["shipped"] += chosen.get(line["sku"], 0)
        order["status"] = "shipped" if complete else "partially_shipped"
        return {
            "success": True,
            "message": f"Shipment {shipment_id} of order {order_id} left with {carrier}, {weight:.2f} kg.",
            "shipment_id": shipment_id,
            "weight_kg": weight,
            "order_status": order["status"],
        }

    def confirm_delivery(self, shipment_id: str, delivered_on: str) -> dict:
        """
        Record that a shipment in transit has been delivered.

        Args:
            shipment_id (str): Shipment id, e.g. "SH-611".
            delivered_on (str): Date YYYY-MM-DD, from the day it was shipped until today.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        shipment = self._find(self.shipments, shipment_id)
        if shipment is None:
            return self._unknown("shipment_id", shipment_id)
        if shipment["status"] != "in_transit":
            return self._fail(f"Shipment {shipment_id} has been delivered already.")
        if not self._is_date(delivered_on) or not shipment["shipped_on"] <= delivered_on <= self.current_date:
            return self._fail(
                f"delivered_on must be a date YYYY-MM-DD from {shipment['shipped_on']} to {self.current_date}."
            )
        shipment["status"] = "delivered"
        shipment["delivered_on"] = delivered_on
        return {"success": True, "message": f"Shipment {shipment_id} was delivered on {delivered_on}."}

    # Changes: purchase orders

    def create_purchase_order(self, supplier_id: str, lines: List[QuantityItem]) -> dict:
        """
        Order products from their supplier at today's unit costs; expected after the supplier's lead time.

        Every product must be active and belong to this supplier, every quantity must be whole cases (a multiple of
        the product's case_size), and the order value must reach the supplier's minimum.

        Args:
            supplier_id (str): Supplier id, e.g. "SUP-03".
            lines (list): Items {"sku": str, "quantity": int} with the quantity in units; each product once.

        Returns:
            dict: {"success": True, "message": str, "po_id": str, "order_value": float, "expected_on": str}, or
            {"success": False, "error": str}.
        """
        supplier = self._find(self.suppliers, supplier_id)
        if supplier is None:
            return self._unknown("supplier_id", supplier_id)
        problem = self._check_items(lines)
        if problem:
            return self._fail(problem)
        for item in lines:
            product = self.products[item["sku"]]
            if product["supplier_id"] != supplier_id:
                return self._fail(f"{item['sku']} comes from supplier {product['supplier_id']}, not {supplier_id}.")
            if product["status"] != "active":
                return self._fail(f"{item['sku']} is discontinued and cannot be reordered.")
            if item["quantity"] % product["case_size"]:
                return self._fail(f"{item['sku']} is sold in cases of {product['case_size']} units.")
        value = round(sum(item["quantity"] * self.products[item["sku"]]["unit_cost"] for item in lines), 2)
        if value < supplier["minimum_order_value"]:
            return self._fail(
                f"The order is worth {value:.2f}; {supplier['name']} asks for at least"
                f" {supplier['minimum_order_value']:.2f}."
            )
        po_id = f"PO-{self.next_po_number}"
        expected_on = (date.fromisoformat(self.current_date) + timedelta(days=supplier["lead_time_days"])).isoformat()
        self.next_po_number += 1
        self.purchase_orders[po_id] = {
            "po_id": po_id,
            "supplier_id": supplier_id,
            "ordered_on": self.current_date,
            "expected_on": expected_on,
            "status": "open",
            "lines": [
                {
                    "sku": item["sku"],
                    "ordered": item["quantity"],
                    "received": 0,
                    "unit_cost": self.products[item["sku"]]["unit_cost"],
                }
                for item in lines
            ],
        }
        return {
            "success": True,
            "message": f"Ordered from {supplier['name']} as {po_id}, worth {value:.2f}, expected {expected_on}.",
            "po_id": po_id,
            "order_value": value,
            "expected_on": expected_on,
        }

    def receive_purchase_order(self, po_id: str, sku: str, bin_id: str, quantity: int) -> dict:
        """
        Receive units of a purchase order line and put them away in a bin.

        The purchase order must be "open" or "partially_received". The bin must be open, belong to the product's
        storage zone and have room.

        Args:
            po_id (str): Purchase order id, e.g. "PO-418".
            sku (str): Product of the line, e.g. "OIL-500".
            bin_id (str): Bin id, e.g. "A-01-02"; several bins need one call each.
            quantity (int): Units, from 1 to what is still to come on the line.

        Returns:
            dict: {"success": True, "message": str, "still_to_come": int, "po_status": str}, or
            {"success": False, "error": str}.
        """
        purchase = self._find(self.purchase_orders, po_id)
        if purchase is None:
            return self._unknown("po_id", po_id)
        if purchase["status"] not in ("open", "partially_received"):
            return self._fail(f"Purchase order {po_id} is {purchase['status']}.")
        if not isinstance(sku, str):
            return self._fail("sku must be a string.")
        lines = [line for line in purchase["lines"] if line["sku"] == sku]
        if not lines:
            return self._fail(f"Purchase order {po_id} has no line for sku '{sku[:60]}'.")
        place = self._find(self.bins, bin_id)
        if place is None:
            return self._unknown("bin_id", bin_id)
        outstanding = lines[0]["ordered"] - lines[0]["received"]
        if not self._is_count(quantity) or quantity > outstanding:
            return self._fail(f"quantity must be a whole number from 1 to {outstanding}, which is still to come.")
        problem = self._put_problem(place, self.products[sku], quantity)
        if problem:
            return self._fail(problem)
        self._put(place, sku, quantity)
        lines[0]["received"] += quantity
        complete = all(line["received"] == line["ordered"] for line in purchase["lines"])
        purchase["status"] = "received" if complete else "partially_received"
        return {
            "success": True,
            "message": f"Received {quantity} units of {sku} on {po_id} into bin {bin_id}.",
            "still_to_come": outstanding - quantity,
            "po_status": purchase["status"],
        }

    def cancel_purchase_order(self, po_id: str) -> dict:
        """
        Cancel a purchase order of which nothing has been received.

        Args:
            po_id (str): Purchase order id, e.g. "PO-418". Its status must be "open".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        purchase = self._find(self.purchase_orders, po_id)
        if purchase is None:
            return self._unknown("po_id", po_id)
        if purchase["status"] != "open":
            return self._fail(f"Purchase order {po_id} is {purchase['status']} and cannot be cancelled.")
        purchase["status"] = "cancelled"
        return {"success": True, "message": f"Cancelled purchase order {po_id}."}

    # Changes: bins

    def move_stock(self, sku: str, from_bin_id: str, to_bin_id: str, quantity: int) -> dict:
        """
        Move units of a product from one open bin to another.

        The target must belong to the product's storage zone and have room. Reservations are not affected.

        Args:
            sku (str): Product, e.g. "OIL-500".
            from_bin_id (str): Bin that holds the units, e.g. "A-01-02".
            to_bin_id (str): Another bin, e.g. "A-02-01".
            quantity (int): Units, from 1 to what the first bin holds.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        product = self._find(self.products, sku)
        if product is None:
            return self._unknown("sku", sku)
        source = self._find(self.bins, from_bin_id)
        if source is None:
            return self._unknown("from_bin_id", from_bin_id)
        target = self._find(self.bins, to_bin_id)
        if target is None:
            return self._unknown("to_bin_id", to_bin_id)
        if from_bin_id == to_bin_id:
            return self._fail("from_bin_id and to_bin_id must differ.")
        if source["status"] != "open":
            return self._fail(f"Bin {from_bin_id} is blocked.")
        held = source["contents"].get(sku, 0)
        if not self._is_count(quantity) or quantity > held:
            return self._fail(f"quantity must be a whole number from 1 to {held}, which bin {from_bin_id} holds.")
        problem = self._put_problem(target, product, quantity)
        if problem:
            return self._fail(problem)
        self._put(source, sku, -quantity)
        self._put(target, sku, quantity)
        return {"success": True, "message": f"Moved {quantity} units of {sku} from {from_bin_id} to {to_bin_id}."}

    def adjust_stock(self, bin_id: str, sku: str, counted_quantity: int) -> dict:
        """
        Book a stock count: set what an open bin holds of a product, and the bin's count date to today.

        More than before must fit into the bin and its zone. A count that would leave less in the open bins than is
        reserved is refused; release reservations first.

        Args:
            bin_id (str): Bin id, e.g. "A-01-02".
            sku (str): Product, e.g. "OIL-500".
            counted_quantity (int): Units counted, 0 or more; may equal what is on record.

        Returns:
            dict: {"success": True, "message": str, "difference": int}, or {"success": False, "error": str}.
        """
        place = self._find(self.bins, bin_id)
        if place is None:
            return self._unknown("bin_id", bin_id)
        product = self._find(self.products, sku)
        if product is None:
            return self._unknown("sku", sku)
        if place["status"] != "open":
            return self._fail(f"Bin {bin_id} is blocked.")
        if not self._is_count(counted_quantity, least=0):
            return self._fail(f"counted_quantity must be a whole number from 0 to {MAX_UNITS}.")
        difference = counted_quantity - place["contents"].get(sku, 0)
        if difference > 0:
            problem = self._put_problem(place, product, difference)
            if problem:
                return self._fail(problem)
        if difference < 0 and self._available(sku) + difference < 0:
            return self._fail(f"{self._reserved(sku)} units of {sku} are reserved; release reservations first.")
        self._put(place, sku, difference)
        place["last_counted_on"] = self.current_date
        return {
            "success": True,
            "message": f"Bin {bin_id} holds {counted_quantity} units of {sku} (difference {difference:+d}).",
            "difference": difference,
        }
