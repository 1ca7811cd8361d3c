"""An IT service desk: tickets, support groups, company assets and change requests."""

import copy
import datetime
import re
from typing import Any, Dict, List, Literal, Optional, TypedDict

LEVELS = ("low", "medium", "high")
CATEGORIES = ("hardware", "software", "network", "access", "email")
TICKET_TYPES = ("incident", "service_request")
TICKET_STATUSES = ("new", "assigned", "in_progress", "on_hold", "resolved", "closed", "cancelled")
OPEN_TICKET_STATUSES = ("new", "assigned", "in_progress", "on_hold")
WORKLOAD_STATUSES = ("assigned", "in_progress", "on_hold")
INCIDENT_CODES = ("fixed", "workaround", "no_fault_found", "user_error")
ASSET_TYPES = ("laptop", "monitor", "phone", "server", "printer", "network_device")
PERSONAL_ASSET_TYPES = ("laptop", "monitor", "phone")
ASSET_STATUSES = ("in_stock", "in_use", "in_repair", "retired")
CHANGE_STATUSES = (
    "pending_approval",
    "approved",
    "rejected",
    "scheduled",
    "implemented",
    "rolled_back",
    "cancelled",
)
OPEN_CHANGE_STATUSES = ("pending_approval", "approved", "scheduled")
REOPEN_DAYS = 14

# Priority by impact and urgency.
PRIORITY_MATRIX = {
    "high": {"high": "P1", "medium": "P2", "low": "P3"},
    "medium": {"high": "P2", "medium": "P3", "low": "P4"},
    "low": {"high": "P3", "medium": "P4", "low": "P4"},
}

# Which statuses a ticket may leave for which, through update_ticket_status.
STATUS_CHANGES = {
    "new": ("cancelled",),
    "assigned": ("in_progress", "cancelled"),
    "in_progress": ("on_hold", "cancelled"),
    "on_hold": ("in_progress", "cancelled"),
    "resolved": ("closed", "new"),
    "closed": (),
    "cancelled": (),
}

# Which statuses an asset may leave for which, through update_asset_status.
ASSET_STATUS_CHANGES = {
    "in_stock": ("in_use", "in_repair", "retired"),
    "in_use": ("in_stock", "in_repair"),
    "in_repair": ("in_stock", "in_use", "retired"),
    "retired": (),
}


class UserInfo(TypedDict):
    """An employee who may raise tickets and hold equipment."""

    user_id: str
    name: str
    email: str
    department: str
    location: str  # site, e.g. "Harbour House"
    manager_id: Optional[str]  # user_id of the line manager
    status: str  # "active" or "inactive"


class GroupInfo(TypedDict):
    """A support group (queue)."""

    group_id: str
    name: str
    categories: List[str]  # ticket categories the group takes
    lead_agent_id: str


class AgentInfo(TypedDict):
    """A member of the IT staff."""

    agent_id: str
    name: str
    group_id: str
    role: str  # "agent", "lead" or "change_manager"
    level: int  # support level 1, 2 or 3
    availability: str  # "available" or "on_leave"
    max_open_tickets: int


class CommentInfo(TypedDict):
    """A comment on a ticket."""

    date: str  # YYYY-MM-DD
    visibility: str  # "public" or "internal"
    text: str


class TicketInfo(TypedDict):
    """An incident or a service request."""

    ticket_id: str  # "INC-..." or "REQ-..."
    ticket_type: str  # "incident" or "service_request"
    title: str
    description: str
    category: str
    requester_id: str
    impact: str  # "low", "medium" or "high"
    urgency: str  # "low", "medium" or "high"
    priority: str  # "P1" to "P4", from impact and urgency
    status: str
    status_reason: Optional[str]  # why it is on hold, cancelled or reopened
    group_id: Optional[str]
    assignee_id: Optional[str]
    asset_tag: Optional[str]
    parent_ticket_id: Optional[str]
    change_id: Optional[str]
    opened_date: str  # YYYY-MM-DD
    due_date: str  # YYYY-MM-DD
    resolved_date: Optional[str]  # YYYY-MM-DD
    resolution_code: Optional[str]
    resolution_notes: Optional[str]
    comments: List[CommentInfo]


class AssetInfo(TypedDict):
    """A piece of company equipment."""

    asset_tag: str
    asset_type: str
    model: str
    location: str
    status: str  # "in_stock", "in_use", "in_repair" or "retired"
    assigned_user_id: Optional[str]  # only personal equipment has one
    warranty_end: str  # YYYY-MM-DD, last day covered


class ApprovalInfo(TypedDict):
    """One decision on a change request."""

    approver_id: str
    decision: str  # "approve" or "reject"
    date: str  # YYYY-MM-DD
    comment: str


class ChangeInfo(TypedDict):
    """A request to change something in production."""

    change_id: str
    title: str
    description: str
    change_type: str  # "standard", "normal" or "emergency"
    risk: str  # "low", "medium" or "high"
    status: str
    requested_by: str  # agent_id
    implementer_id: Optional[str]  # agent_id
    asset_tags: List[str]
    approvals: List[ApprovalInfo]
    planned_start: Optional[str]  # YYYY-MM-DD HH:MM
    planned_end: Optional[str]  # YYYY-MM-DD HH:MM
    closure_notes: Optional[str]


class ITServiceDesk:
    """The service desk of one company."""

    def __init__(self, init_config: dict):
        """Set up the desk.

        Args:
            init_config: the initial value of every state attribute.
        """
        self.current_date: str = init_config.get("current_date", "2026-01-05")
        self.users: Dict[str, UserInfo] = init_config.get("users", {})
        self.groups: Dict[str, GroupInfo] = init_config.get("groups", {})
        self.agents: Dict[str, AgentInfo] = init_config.get("agents", {})
        self.tickets: Dict[str, TicketInfo] = init_config.get("tickets", {})
        self.assets: Dict[str, AssetInfo] = init_config.get("assets", {})
        self.changes: Dict[str, ChangeInfo] = init_config.get("changes", {})
        # Days from opening to the due date, by priority.
        self.sla_days: Dict[str, int] = init_config.get("sla_days", {"P1": 1, "P2": 3, "P3": 7, "P4": 14})
        # First and last day of the change freeze; both None when there is none.
        self.freeze_start: Optional[str] = init_config.get("freeze_start")
        self.freeze_end: Optional[str] = init_config.get("freeze_end")
        self.next_ticket_number: int = init_config.get("next_ticket_number", 1001)
        self.next_change_number: int = init_config.get("next_change_number", 101)

    # ------------------------------------------------------------------ helpers

    @staticmethod
    def _fail(message: str) -> Dict[str, Any]:
        return {"success": False, "error": message}

    @staticmethod
    def _is_text(value: Any) -> bool:
        return isinstance(value, str) and value.strip() != ""

    @staticmethod
    def _is_moment(value: Any) -> bool:
        if not isinstance(value, str):
            return False
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2} ([01][0-9]|2[0-3]):[0-5][0-9]", value):
            return False
        try:
            datetime.date.fromisoformat(value[:10])
        except ValueError:
            return False
        return True

    @staticmethod
    def _add_days(date: str, days: int) -> str:
        return (datetime.date.fromisoformat(date) + datetime.timedelta(days=days)).isoformat()

    @staticmethod
    def _days_between(earlier: str, later: str) -> int:
        return (datetime.date.fromisoformat(later) - datetime.date.fromisoformat(earlier)).days

    def _find(self, table: Dict[str, Any], label: str, key: Any) -> Optional[str]:
        """The error for an id that is not in a table, or None."""
        if not isinstance(key, str):
            return f"The {label} id must be a string."
        if key not in table:
            return f"There is no {label} with the id '{key}'."
        return None

    def _check_filters(self, choices: List[tuple], lookups: List[tuple], texts: List[tuple]) -> Optional[str]:
        """The error for the first search filter that is not valid, or None."""
        for name, value, allowed in choices:
            if value is not None and value not in allowed:
                return f"{name} must be one of: {', '.join(allowed)}."
        for label, value, table in lookups:
            if value is not None:
                error = self._find(table, label, value)
                if error:
                    return error
        for name, value in texts:
            if value is not None and not isinstance(value, str):
                return f"{name} must be a string."
        return None

    def _workload(self, agent_id: str) -> int:
        return sum(
            1 for t in self.tickets.values() if t["assignee_id"] == agent_id and t["status"] in WORKLOAD_STATUSES
        )

    def _open_children(self, ticket_id: str) -> List[str]:
        return [
            t["ticket_id"]
            for t in self.tickets.values()
            if t["parent_ticket_id"] == ticket_id and t["status"] in OPEN_TICKET_STATUSES
        ]

    def _children(self, ticket_id: str) -> List[str]:
        return [t["ticket_id"] for t in self.tickets.values() if t["parent_ticket_id"] == ticket_id]

    def _pending_change(self, ticket: TicketInfo) -> Optional[str]:
        """The id of the unfinished change the ticket waits for, or None."""
        change_id = ticket["change_id"]
        if change_id in self.changes and self.changes[change_id]["status"] in OPEN_CHANGE_STATUSES:
            return change_id
        return None

    def _asset_in_work(self, asset_tag: str) -> Optional[str]:
        """The id of an open ticket or unfinished change that names the asset, or None."""
        for ticket in self.tickets.values():
            if ticket["asset_tag"] == asset_tag and ticket["status"] in OPEN_TICKET_STATUSES:
                return ticket["ticket_id"]
        for change in self.changes.values():
            if asset_tag in change["asset_tags"] and change["status"] in OPEN_CHANGE_STATUSES:
                return change["change_id"]
        return None

    # ------------------------------------------------------------------ queries

    def get_service_settings(self) -> Dict[str, Any]:
        """Get today's date, the SLA days per priority, the priority matrix and the change freeze.

        Returns:
            data: current_date, sla_days, priority_matrix (impact, then urgency), freeze_start and freeze_end
            (first and last day of the freeze, null when there is none) and reopen_days.
        """
        return {
            "success": True,
            "data": {
                "current_date": self.current_date,
                "sla_days": copy.deepcopy(self.sla_days),
                "priority_matrix": copy.deepcopy(PRIORITY_MATRIX),
                "freeze_start": self.freeze_start,
                "freeze_end": self.freeze_end,
                "reopen_days": REOPEN_DAYS,
            },
        }

    def search_users(
        self,
        name: Optional[str] = None,
        department: Optional[str] = None,
        location: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Search employees; the filters given must all match, and no filter lists everybody.

        Args:
            name: part of the name, upper or lower case.
            department: part of the department's name, upper or lower case.
            location: part of the site's name, upper or lower case.

        Returns:
            data: list of user records (user_id, name, email, department, location, manager_id, status).
        """
        error = self._check_filters([], [], [("name", name), ("department", department), ("location", location)])
        if error:
            return self._fail(error)
        found = []
        for user in self.users.values():
            if name is not None and name.lower() not in user["name"].lower():
                continue
            if department is not None and department.lower() not in user["department"].lower():
                continue
            if location is not None and location.lower() not in user["location"].lower():
                continue
            found.append(copy.deepcopy(user))
        return {"success": True, "data": found}

    def get_user(self, user_id: str) -> Dict[str, Any]:
        """Get one employee with the equipment held and the tickets still open.

        Args:
            user_id: id of the user, e.g. "U-104".

        Returns:
            data: the user record plus manager_name, assets (records) and open_tickets (ticket_id, title, status).
        """
        error = self._find(self.users, "user", user_id)
        if error:
            return self._fail(error)
        data: Dict[str, Any] = copy.deepcopy(self.users[user_id])
        manager = self.users.get(data["manager_id"] or "")
        data["manager_name"] = manager["name"] if manager else None
        data["assets"] = [copy.deepcopy(a) for a in self.assets.values() if a["assigned_user_id"] == user_id]
        data["open_tickets"] = [
            {"ticket_id": t["ticket_id"], "title": t["title"], "status": t["status"]}
            for t in self.tickets.values()
            if t["requester_id"] == user_id and t["status"] in OPEN_TICKET_STATUSES
        ]
        return {"success": True, "data": data}

    def list_groups(
        self, category: Optional[Literal["hardware", "software", "network", "access", "email"]] = None
    ) -> Dict[str, Any]:
        """List the support groups, or only those that take tickets of one category.

        Args:
            category: "hardware", "software", "network", "access" or "email".

        Returns:
            data: list of group records (group_id, name, categories, lead_agent_id).
        """
        error = self._check_filters([("category", category, CATEGORIES)], [], [])
        if error:
            return self._fail(error)
        found = [copy.deepcopy(g) for g in self.groups.values() if category is None or category in g["categories"]]
        return {"success": True, "data": found}

    def list_agents(
        self,
        group_id: Optional[str] = None,
        role: Optional[Literal["agent", "lead", "change_manager"]] = None,
        availability: Optional[Literal["available", "on_leave"]] = None,
        name: Optional[str] = None,
    ) -> Dict[str, Any]:
        """List IT staff with their present workload; the filters given must all match.

        Args:
            group_id: only members of this group, e.g. "GRP-NET".
            role: "agent", "lead" or "change_manager".
            availability: "available" or "on_leave".
            name: part of the name, upper or lower case.

        Returns:
            data: list of agent records plus open_tickets (tickets assigned, in progress or on hold with the agent).
        """
        error = self._check_filters(
            [
                ("role", role, ("agent", "lead", "change_manager")),
                ("availability", availability, ("available", "on_leave")),
            ],
            [("group", group_id, self.groups)],
            [("name", name)],
        )
        if error:
            return self._fail(error)
        found = []
        for agent in self.agents.values():
            if group_id is not None and agent["group_id"] != group_id:
                continue
            if role is not None and agent["role"] != role:
                continue
            if availability is not None and agent["availability"] != availability:
                continue
            if name is not None and name.lower() not in agent["name"].lower():
                continue
            row: Dict[str, Any] = copy.deepcopy(agent)
            row["open_tickets"] = self._workload(agent["agent_id"])
            found.append(row)
        return {"success": True, "data": found}

    def search_tickets(
        self,
        text: Optional[str] = None,
        status: Optional[
            Literal["new", "assigned", "in_progress", "on_hold", "resolved", "closed", "cancelled"]
        ] = None,
        priority: Optional[Literal["P1", "P2", "P3", "P4"]] = None,
        category: Optional[Literal["hardware", "software", "network", "access", "email"]] = None,
        requester_id: Optional[str] = None,
        group_id: Optional[str] = None,
        assignee_id: Optional[str] = None,
        overdue_only: bool = False,
    ) -> Dict[str, Any]:
        """Search tickets; the filters given must all match, and no filter lists every ticket.

        Args:
            text: part of the title or description, upper or lower case.
            status: one ticket status.
            priority: "P1", "P2", "P3" or "P4".
            category: "hardware", "software", "network", "access" or "email".
            requester_id: id of the user who raised the ticket.
            group_id: id of the support group that has the ticket.
            assignee_id: id of the agent who has the ticket.
            overdue_only: true for open tickets whose due date is before today.

        Returns:
            data: list of ticket summaries (no description, comments or resolution notes; see get_ticket).
        """
        error = self._check_filters(
            [
                ("status", status, TICKET_STATUSES),
                ("priority", priority, ("P1", "P2", "P3", "P4")),
                ("category", category, CATEGORIES),
            ],
            [
                ("user", requester_id, self.users),
                ("group", group_id, self.groups),
                ("agent", assignee_id, self.agents),
            ],
            [("text", text)],
        )
        if error:
            return self._fail(error)
        if not isinstance(overdue_only, bool):
            return self._fail("overdue_only must be true or false.")
        found = []
        for ticket in self.tickets.values():
            if text is not None and text.lower() not in (ticket["title"] + "\n" + ticket["description"]).lower():
                continue
            if status is not None and ticket["status"] != status:
                continue
            if priority is not None and ticket["priority"] != priority:
                continue
            if category is not None and ticket["category"] != category:
                continue
            if requester_id is not None and ticket["requester_id"] != requester_id:
                continue
            if group_id is not None and ticket["group_id"] != group_id:
                continue
            if assignee_id is not None and ticket["assignee_id"] != assignee_id:
                continue
            if overdue_only and not (
                ticket["status"] in OPEN_TICKET_STATUSES and ticket["due_date"] < self.current_date
            ):
                continue
            hidden = ("description", "comments", "resolution_notes")
            found.append({key: copy.deepcopy(value) for key, value in ticket.items() if key not in hidden})
        return {"success": True, "data": found}

    def get_ticket(self, ticket_id: str) -> Dict[str, Any]:
        """Get one ticket in full.

        Args:
            ticket_id: id of the ticket, e.g. "INC-2041".

        Returns:
            data: the ticket record plus requester_name and child_ticket_ids.
        """
        error = self._find(self.tickets, "ticket", ticket_id)
        if error:
            return self._fail(error)
        data: Dict[str, Any] = copy.deepcopy(self.tickets[ticket_id])
        requester = self.users.get(data["requester_id"])
        data["requester_name"] = requester["name"] if requester else None
        data["child_ticket_ids"] = self._children(ticket_id)
        return {"success": True, "data": data}

    def search_assets(
        self,
        text: Optional[str] = None,
        asset_type: Optional[Literal["laptop", "monitor", "phone", "server", "printer", "network_device"]] = None,
        status: Optional[Literal["in_stock", "in_use", "in_repair", "retired"]] = None,
        assigned_user_id: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Search the asset register; the filters given must all match.

        Args:
            text: part of the asset tag, model or location, upper or lower case.
            asset_type: "laptop", "monitor", "phone", "server", "printer" or "network_device".
            status: "in_stock", "in_use", "in_repair" or "retired".
            assigned_user_id: id of the user who holds the asset.

        Returns:
            data: list of asset records (asset_tag, asset_type, model, location, status, assigned_user_id,
            warranty_end).
        """
        error = self._check_filters(
            [("asset_type", asset_type, ASSET_TYPES), ("status", status, ASSET_STATUSES)],
            [("user", assigned_user_id, self.users)],
            [("text", text)],
        )
        if error:
            return self._fail(error)
        found = []
        for asset in self.assets.values():
            words = "\n".join((asset["asset_tag"], asset["model"], asset["location"]))
            if text is not None and text.lower() not in words.lower():
                continue
            if asset_type is not None and asset["asset_type"] != asset_type:
                continue
            if status is not None and asset["status"] != status:
                continue
            if assigned_user_id is not None and asset["assigned_user_id"] != assigned_user_id:
                continue
            found.append(copy.deepcopy(asset))
        return {"success": True, "data": found}

    def get_asset(self, asset_tag: str) -> Dict[str, Any]:
        """Get one asset with the open tickets and unfinished changes that name it.

        Args:
            asset_tag: tag of the asset, e.g. "LT-3007".

        Returns:
            data: the asset record plus under_warranty (today), open_ticket_ids and unfinished_change_ids.
        """
        error = self._find(self.assets, "asset", asset_tag)
        if error:
            return self._fail(error)
        data: Dict[str, Any] = copy.deepcopy(self.assets[asset_tag])
        data["under_warranty"] = data["warranty_end"] >= self.current_date
        data["open_ticket_ids"] = [
            t["ticket_id"]
            for t in self.tickets.values()
            if t["asset_tag"] == asset_tag and t["status"] in OPEN_TICKET_STATUSES
        ]
        data["unfinished_change_ids"] = [
            c["change_id"]
            for c in self.changes.values()
            if asset_tag in c["asset_tags"] and c["status"] in OPEN_CHANGE_STATUSES
        ]
        return {"success": True, "data": data}

    def search_changes(
        self,
        text: Optional[str] = None,
        status: Optional[
            Literal["pending_approval", "approved", "rejected", "scheduled", "implemented", "rolled_back", "cancelled"]
        ] = None,
        asset_tag: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Search change requests; the filters given must all match.

        Args:
            text: part of the title or description, upper or lower case.
            status: one change status.
            asset_tag: tag of an asset the change touches.

        Returns:
            data: list of summaries (change_id, title, change_type, risk, status, requested_by, asset_tags,
            planned_start, planned_end).
        """
        error = self._check_filters(
            [("status", status, CHANGE_STATUSES)], [("asset", asset_tag, self.assets)], [("text", text)]
        )
        if error:
            return self._fail(error)
        found = []
        for change in self.changes.values():
            if text is not None and text.lower() not in (change["title"] + "\n" + change["description"]).lower():
                continue
            if status is not None and change["status"] != status:
                continue
            if asset_tag is not None and asset_tag not in change["asset_tags"]:
                continue
            hidden = ("description", "approvals", "implementer_id", "closure_notes")
            found.append({key: copy.deepcopy(value) for key, value in change.items() if key not in hidden})
        return {"success": True, "data": found}

    def get_change(self, change_id: str) -> Dict[str, Any]:
        """Get one change request in full.

        Args:
            change_id: id of the change, e.g. "CHG-318".

        Returns:
            data: the change record plus approvals_needed (approvals still missing) and linked_ticket_ids.
        """
        error = self._find(self.changes, "change", change_id)
        if error:
            return self._fail(error)
        change = self.changes[change_id]
        data: Dict[str, Any] = copy.deepcopy(change)
        missing = 0
        if change["status"] == "pending_approval":
            missing = self._approvals_required(change) - len(change["approvals"])
        data["approvals_needed"] = max(missing, 0)
        data["linked_ticket_ids"] = [t["ticket_id"] for t in self.tickets.values() if t["change_id"] == change_id]
        return {"success": True, "data": data}

    # ------------------------------------------------------------------ tickets

    def create_ticket(
        self,
        ticket_type: Literal["incident", "service_request"],
        requester_id: str,
        title: str,
        description: str,
        category: Literal["hardware", "software", "network", "access", "email"],
        impact: Literal["low", "medium", "high"],
        urgency: Literal["low", "medium", "high"],
        asset_tag: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Log a ticket; it starts as "new" without a group, and its priority and due date are worked out.

        Args:
            ticket_type: "incident" (something is broken) or "service_request" (something is wanted).
            requester_id: id of the user it is for; must be active.
            title: short title.
            description: what was reported or asked for.
            category: "hardware", "software", "network", "access" or "email".
            impact: "low", "medium" or "high".
            urgency: "low", "medium" or "high".
            asset_tag: asset concerned; not a retired one, nor one that another user holds.

        Returns:
            message, ticket_id, priority and due_date of the new ticket.
        """
        if ticket_type not in TICKET_TYPES:
            return self._fail("ticket_type must be 'incident' or 'service_request'.")
        error = self._find(self.users, "user", requester_id)
        if error:
            return self._fail(error)
        if self.users[requester_id]["status"] != "active":
            return self._fail(f"User '{requester_id}' is not active and cannot raise tickets.")
        if not self._is_text(title):
            return self._fail("title must be a non-empty string.")
        if not self._is_text(description):
            return self._fail("description must be a non-empty string.")
        if category not in CATEGORIES:
            return self._fail(f"category must be one of: {', '.join(CATEGORIES)}.")
        if impact not in LEVELS or urgency not in LEVELS:
            return self._fail("impact and urgency must each be 'low', 'medium' or 'high'.")
        if asset_tag is not None:
            error = self._find(self.assets, "asset", asset_tag)
            if error:
                return self._fail(error)
            asset = self.assets[asset_tag]
            if asset["status"] == "retired":
                return self._fail(f"Asset '{asset_tag}' is retired.")
            if asset["assigned_user_id"] not in (None, requester_id):
                return self._fail(f"Asset '{asset_tag}' is held by another user.")
        priority = PRIORITY_MATRIX[impact][urgency]
        due_date = self._add_days(self.current_date, self.sla_days[priority])
        prefix = "INC" if ticket_type == "incident" else "REQ"
        ticket_id = f"{prefix}-{self.next_ticket_number}"
        self.next_ticket_number += 1
        self.tickets[ticket_id] = {
            "ticket_id": ticket_id,
            "ticket_type": ticket_type,
            "title": title,
            "description": description,
            "category": category,
            "requester_id": requester_id,
            "impact": impact,
            "urgency": urgency,
            "priority": priority,
            "status": "new",
            "status_reason": None,
            "group_id": None,
            "assignee_id": None,
            "asset_tag": asset_tag,
            "parent_ticket_id": None,
            "change_id": None,
            "opened_date": self.current_date,
            "due_date": due_date,
            "resolved_date": None,
            "resolution_code": None,
            "resolution_notes": None,
            "comments": [],
        }
        return {
            "success": True,
            "message": f"Ticket {ticket_id} logged with priority {priority}, due {due_date}.",
            "ticket_id": ticket_id,
            "priority": priority,
            "due_date": due_date,
        }

    def update_ticket_priority(
        self, ticket_id: str, impact: Literal["low", "medium", "high"], urgency: Literal["low", "medium", "high"]
    ) -> Dict[str, Any]:
        """Set impact and urgency of an open ticket; priority and due date (from the opening date) follow.

        A ticket that would become P1 must not sit with a level 1 agent: reassign it first.

        Args:
            ticket_id: id of the ticket.
            impact: "low", "medium" or "high".
            urgency: "low", "medium" or "high".

        Returns:
            message, priority and due_date.
        """
        error = self._find(self.tickets, "ticket", ticket_id)
        if error:
            return self._fail(error)
        if impact not in LEVELS or urgency not in LEVELS:
            return self._fail("impact and urgency must each be 'low', 'medium' or 'high'.")
        ticket = self.tickets[ticket_id]
        if ticket["status"] not in OPEN_TICKET_STATUSES:
            return self._fail(f"Ticket '{ticket_id}' is {ticket['status']}; only open tickets can be changed.")
        if ticket["impact"] == impact and ticket["urgency"] == urgency:
            return self._fail(f"Ticket '{ticket_id}' already has this impact and urgency.")
        priority = PRIORITY_MATRIX[impact][urgency]
        assignee = self.agents.get(ticket["assignee_id"] or "")
        if priority == "P1" and assignee and assignee["level"] < 2:
            return self._fail(
                f"A P1 ticket needs an agent of level 2 or 3; {assignee['name']} is level {assignee['level']}."
                " Reassign the ticket first."
            )
        ticket["impact"] = impact
        ticket["urgency"] = urgency
        ticket["priority"] = priority
        ticket["due_date"] = self._add_days(ticket["opened_date"], self.sla_days[priority])
        return {
            "success": True,
            "message": f"Ticket {ticket_id} now has priority {priority}, due {ticket['due_date']}.",
            "priority": priority,
            "due_date": ticket["due_date"],
        }

    def assign_ticket(self, ticket_id: str, group_id: str, agent_id: Optional[str] = None) -> Dict[str, Any]:
        """Give an open ticket to a group, and to one of its agents if named.

        With an agent the status becomes "assigned"; without one the ticket waits in the group's queue as "new".
        The group must take the ticket's category. The agent must be a member of the group, be available, have fewer
        open tickets than the agent's limit, and be of level 2 or 3 for a P1 ticket.

        Args:
            ticket_id: id of the ticket.
            group_id: id of the support group.
            agent_id: id of the agent in that group.

        Returns:
            message.
        """
        error = self._find(self.tickets, "ticket", ticket_id) or self._find(self.groups, "group", group_id)
        if error:
            return self._fail(error)
        ticket = self.tickets[ticket_id]
        group = self.groups[group_id]
        if ticket["status"] not in OPEN_TICKET_STATUSES:
            return self._fail(f"Ticket '{ticket_id}' is {ticket['status']}; only open tickets can be assigned.")
        if ticket["category"] not in group["categories"]:
            return self._fail(f"{group['name']} does not take tickets of category '{ticket['category']}'.")
        if ticket["group_id"] == group_id and ticket["assignee_id"] == agent_id:
            return self._fail(f"Ticket '{ticket_id}' is already assigned that way.")
        if agent_id is None:
            ticket["group_id"] = group_id
            ticket["assignee_id"] = None
            ticket["status"] = "new"
            ticket["status_reason"] = None
            return {"success": True, "message": f"Ticket {ticket_id} is in the queue of {group['name']}."}
        error = self._find(self.agents, "agent", agent_id)
        if error:
            return self._fail(error)
        agent = self.agents[agent_id]
        if agent["group_id"] != group_id:
            return self._fail(f"{agent['name']} is not a member of {group['name']}.")
        if agent["availability"] != "available":
            return self._fail(f"{agent['name']} is on leave.")
        if ticket["priority"] == "P1" and agent["level"] < 2:
            return self._fail(f"A P1 ticket needs an agent of level 2 or 3; {agent['name']} is level 1.")
        if ticket["assignee_id"] != agent_id and self._workload(agent_id) >= agent["max_open_tickets"]:
            return self._fail(
                f"{agent['name']} already has {self._workload(agent_id)} open tickets,"
                f" the limit being {agent['max_open_tickets']}."
            )
        ticket["group_id"] = group_id
        ticket["assignee_id"] = agent_id
        ticket["status"] = "assigned"
        ticket["status_reason"] = None
        return {"success": True, "message": f"Ticket {ticket_id} is assigned to {agent['name']}."}

    def update_ticket_status(
        self,
        ticket_id: str,
        status: Literal["in_progress", "on_hold", "cancelled", "closed", "new"],
        reason: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Move a ticket to another status (to resolve one, use resolve_ticket).

        Allowed: assigned or on_hold to in_progress; in_progress to on_hold; any open ticket to cancelled (not a parent
        with open child tickets); resolved to closed; resolved to "new", which reopens the ticket in its group without
        an assignee, no later than 14 days after it was resolved.

        Args:
            ticket_id: id of the ticket.
            status: "in_progress", "on_hold", "cancelled", "closed" or "new" (reopen).
            reason: why; required for on_hold, cancelled and new.

        Returns:
            message.
        """
        error = self._find(self.tickets, "ticket", ticket_id)
        if error:
            return self._fail(error)
        if status not in ("in_progress", "on_hold", "cancelled", "closed", "new"):
            return self._fail("status must be 'in_progress', 'on_hold', 'cancelled', 'closed' or 'new'.")
        if reason is not None and not isinstance(reason, str):
            return self._fail("reason must be a string.")
        ticket = self.tickets[ticket_id]
        if status not in STATUS_CHANGES[ticket["status"]]:
            return self._fail(f"A ticket that is {ticket['status']} cannot become {status}.")
        if status in ("on_hold", "cancelled", "new") and not self._is_text(reason):
            return self._fail(f"A reason is required to set a ticket to {status}.")
        if status == "cancelled" and self._open_children(ticket_id):
            return self._fail(f"Ticket '{ticket_id}' still has open child tickets and cannot be cancelled.")
        if status == "new":
            if self._days_between(ticket["resolved_date"] or self.current_date, self.current_date) > REOPEN_DAYS:
                return self._fail(
                    f"Ticket '{ticket_id}' was resolved on {ticket['resolved_date']}, more than {REOPEN_DAYS} days ago;"
                    " log a new ticket instead."
                )
            ticket["assignee_id"] = None
            ticket["resolved_date"] = None
            ticket["resolution_code"] = None
            ticket["resolution_notes"] = None
        ticket["status"] = status
        if status != "closed":
            ticket["status_reason"] = reason if status != "in_progress" else None
        return {"success": True, "message": f"Ticket {ticket_id} is now {status}."}

    def resolve_ticket(
        self,
        ticket_id: str,
        resolution_code: Literal["fixed", "workaround", "no_fault_found", "user_error", "fulfilled"],
        resolution_notes: str,
    ) -> Dict[str, Any]:
        """Resolve a ticket that is in progress; the open child tickets of a parent are resolved with it.

        Refused for a child ticket while its parent is open, and while the ticket (or one of those child tickets) is
        linked to a change that is not finished.

        Args:
            ticket_id: id of the ticket; its status must be "in_progress".
            resolution_code: "fulfilled" for a service request; one of the other codes for an incident.
            resolution_notes: what was done.

        Returns:
            message and resolved_ticket_ids.
        """
        error = self._find(self.tickets, "ticket", ticket_id)
        if error:
            return self._fail(error)
        if resolution_code not in INCIDENT_CODES + ("fulfilled",):
            return self._fail(f"resolution_code must be one of: {', '.join(INCIDENT_CODES)}, fulfilled.")
        if not self._is_text(resolution_notes):
            return self._fail("resolution_notes must be a non-empty string.")
        ticket = self.tickets[ticket_id]
        if ticket["status"] != "in_progress":
            return self._fail(f"Ticket '{ticket_id}' is {ticket['status']}; only a ticket in progress can be resolved.")
        if (ticket["ticket_type"] == "service_request") != (resolution_code == "fulfilled"):
            return self._fail("The code 'fulfilled' is for service requests, the other codes are for incidents.")
        parent = self.tickets.get(ticket["parent_ticket_id"] or "")
        if parent and parent["status"] in OPEN_TICKET_STATUSES:
            return self._fail(
                f"Ticket '{ticket_id}' is a child of {parent['ticket_id']}, which is open: it is resolved together"
                " with its parent."
            )
        resolved = [ticket_id] + self._open_children(ticket_id)
        for each in resolved:
            change_id = self._pending_change(self.tickets[each])
            if change_id:
                return self._fail(f"Ticket '{each}' waits for change {change_id}, which is not finished.")
        for each in resolved:
            self.tickets[each]["status"] = "resolved"
            self.tickets[each]["status_reason"] = None
            self.tickets[each]["resolved_date"] = self.current_date
            self.tickets[each]["resolution_code"] = resolution_code
            self.tickets[each]["resolution_notes"] = resolution_notes
        return {
            "success": True,
            "message": f"Resolved: {', '.join(resolved)}.",
            "resolved_ticket_ids": resolved,
        }

    def add_ticket_comment(
        self, ticket_id: str, text: str, visibility: Literal["public", "internal"] = "internal"
    ) -> Dict[str, Any]:
        """Add a comment to a ticket that is neither closed nor cancelled.

        Args:
            ticket_id: id of the ticket.
            text: the comment.
            visibility: "public" (the requester sees it) or "internal" (IT staff only).

        Returns:
            message.
        """
        error = self._find(self.tickets, "ticket", ticket_id)
        if error:
            return self._fail(error)
        if not self._is_text(text):
            return self._fail("text must be a non-empty string.")
        if visibility not in ("public", "internal"):
            return self._fail("visibility must be 'public' or 'internal'.")
        ticket = self.tickets[ticket_id]
        if ticket["status"] in ("closed", "cancelled"):
            return self._fail(f"Ticket '{ticket_id}' is {ticket['status']} and takes no more comments.")
        ticket["comments"].append({"date": self.current_date, "visibility": visibility, "text": text})
        return {"success": True, "message": f"Comment added to ticket {ticket_id}."}

    def set_parent_ticket(self, ticket_id: str, parent_ticket_id: Optional[str] = None) -> Dict[str, Any]:
        """Make an open incident the child of another open incident, or detach it from its parent.

        There is one level only: a parent has no parent of its own and a child has no children.

        Args:
            ticket_id: id of the child incident.
            parent_ticket_id: id of the parent incident; leave out (null) to detach.

        Returns:
            message.
        """
        error = self._find(self.tickets, "ticket", ticket_id)
        if error:
            return self._fail(error)
        ticket = self.tickets[ticket_id]
        if ticket["status"] not in OPEN_TICKET_STATUSES:
            return self._fail(f"Ticket '{ticket_id}' is {ticket['status']}; only open tickets can be changed.")
        if parent_ticket_id is None:
            if ticket["parent_ticket_id"] is None:
                return self._fail(f"Ticket '{ticket_id}' has no parent.")
            ticket["parent_ticket_id"] = None
            return {"success": True, "message": f"Ticket {ticket_id} has no parent any more."}
        error = self._find(self.tickets, "ticket", parent_ticket_id)
        if error:
            return self._fail(error)
        parent = self.tickets[parent_ticket_id]
        if parent_ticket_id == ticket_id:
            return self._fail("A ticket cannot be its own parent.")
        if ticket["ticket_type"] != "incident" or parent["ticket_type"] != "incident":
            return self._fail("Only incidents can be parent and child.")
        if parent["status"] not in OPEN_TICKET_STATUSES:
            return self._fail(f"Ticket '{parent_ticket_id}' is {parent['status']}; the parent must be open.")
        if parent["parent_ticket_id"] is not None:
            return self._fail(f"Ticket '{parent_ticket_id}' is itself a child and cannot be a parent.")
        if self._children(ticket_id):
            return self._fail(f"Ticket '{ticket_id}' has child tickets and cannot become a child.")
        if ticket["parent_ticket_id"] == parent_ticket_id:
            return self._fail(f"Ticket '{ticket_id}' is already a child of '{parent_ticket_id}'.")
        ticket["parent_ticket_id"] = parent_ticket_id
        return {"success": True, "message": f"Ticket {ticket_id} is now a child of {parent_ticket_id}."}

    # ------------------------------------------------------------------- assets

    def assign_asset(self, asset_tag: str, user_id: str) -> Dict[str, Any]:
        """Hand personal equipment from stock to an active user.

        Only laptops, monitors and phones are handed out, and a user holds at most one laptop and one phone.

        Args:
            asset_tag: tag of an asset with status "in_stock".
            user_id: id of the user who gets it.

        Returns:
            message.
        """
        error = self._find(self.assets, "asset", asset_tag) or self._find(self.users, "user", user_id)
        if error:
            return self._fail(error)
        asset = self.assets[asset_tag]
        user = self.users[user_id]
        if asset["asset_type"] not in PERSONAL_ASSET_TYPES:
            return self._fail(f"A {asset['asset_type']} is shared equipment and is not handed to a user.")
        if asset["status"] != "in_stock":
            return self._fail(f"Asset '{asset_tag}' is {asset['status']}, not in stock.")
        if user["status"] != "active":
            return self._fail(f"{user['name']} is not an active user.")
        if asset["asset_type"] in ("laptop", "phone"):
            for other in self.assets.values():
                if other["assigned_user_id"] == user_id and other["asset_type"] == asset["asset_type"]:
                    return self._fail(f"{user['name']} already holds the {asset['asset_type']} {other['asset_tag']}.")
        asset["status"] = "in_use"
        asset["assigned_user_id"] = user_id
        asset["location"] = user["location"]
        return {"success": True, "message": f"Asset {asset_tag} is handed to {user['name']}."}

    def update_asset_status(
        self, asset_tag: str, status: Literal["in_stock", "in_use", "in_repair", "retired"]
    ) -> Dict[str, Any]:
        """Take an asset back into stock, send it to repair, retire it, or put shared equipment into service.

        Leaving "in_use" takes the asset from its user. Repair needs a warranty that still runs today. Only an asset in
        stock or in repair can be retired, and only when no open ticket and no unfinished change names it; retired is
        final. "in_use" is for shared equipment (server, printer, network_device); use assign_asset for the rest.

        Args:
            asset_tag: tag of the asset.
            status: "in_stock", "in_use", "in_repair" or "retired".

        Returns:
            message.
        """
        error = self._find(self.assets, "asset", asset_tag)
        if error:
            return self._fail(error)
        if status not in ASSET_STATUSES:
            return self._fail(f"status must be one of: {', '.join(ASSET_STATUSES)}.")
        asset = self.assets[asset_tag]
        if status not in ASSET_STATUS_CHANGES[asset["status"]]:
            return self._fail(f"An asset that is {asset['status']} cannot become {status}.")
        if status == "in_use" and asset["asset_type"] in PERSONAL_ASSET_TYPES:
            return self._fail(f"A {asset['asset_type']} is handed to a user with assign_asset.")
        if status == "in_repair" and asset["warranty_end"] < self.current_date:
            return self._fail(
                f"The warranty of '{asset_tag}' ended on {asset['warranty_end']}; only assets under warranty are sent"
                " to repair."
            )
        if status == "retired":
            work = self._asset_in_work(asset_tag)
            if work:
                return self._fail(f"Asset '{asset_tag}' is still named by {work} and cannot be retired.")
        asset["status"] = status
        asset["assigned_user_id"] = None
        return {"success": True, "message": f"Asset {asset_tag} is now {status}."}

    # ------------------------------------------------------------------ changes

    @staticmethod
    def _approvals_required(change: ChangeInfo) -> int:
        if change["change_type"] == "standard":
            return 0
        return 2 if change["risk"] == "high" else 1

    def create_change(
        self,
        title: str,
        description: str,
        change_type: Literal["standard", "normal", "emergency"],
        risk: Literal["low", "medium", "high"],
        requested_by: str,
        asset_tags: List[str],
    ) -> Dict[str, Any]:
        """Raise a change request; a standard change is approved at once, any other waits for approval.

        Args:
            title: short title.
            description: what will be done.
            change_type: "standard" (pre-approved, low risk only), "normal" or "emergency".
            risk: "low", "medium" or "high".
            requested_by: id of the agent who asks for the change.
            asset_tags: tags of the assets the change touches; at least one, none retired.

        Returns:
            message, change_id and status of the new change.
        """
        if not self._is_text(title) or not self._is_text(description):
            return self._fail("title and description must be non-empty strings.")
        if change_type not in ("standard", "normal", "emergency"):
            return self._fail("change_type must be 'standard', 'normal' or 'emergency'.")
        if risk not in LEVELS:
            return self._fail("risk must be 'low', 'medium' or 'high'.")
        if change_type == "standard" and risk != "low":
            return self._fail("A standard change must be of low risk.")
        error = self._find(self.agents, "agent", requested_by)
        if error:
            return self._fail(error)
        if not isinstance(asset_tags, list) or not asset_tags:
            return self._fail("asset_tags must be a list with at least one asset tag.")
        for tag in asset_tags:
            error = self._find(self.assets, "asset", tag)
            if error:
                return self._fail(error)
            if self.assets[tag]["status"] == "retired":
                return self._fail(f"Asset '{tag}' is retired.")
        if len(set(asset_tags)) != len(asset_tags):
            return self._fail("asset_tags names an asset twice.")
        change_id = f"CHG-{self.next_change_number}"
        self.next_change_number += 1
        status = "approved" if change_type == "standard" else "pending_approval"
        self.changes[change_id] = {
            "change_id": change_id,
            "title": title,
            "description": description,
            "change_type": change_type,
            "risk": risk,
            "status": status,
            "requested_by": requested_by,
            "implementer_id": None,
            "asset_tags": list(asset_tags),
            "approvals": [],
            "planned_start": None,
            "planned_end": None,
            "closure_notes": None,
        }
        return {
            "success": True,
            "message": f"Change {change_id} raised with status {status}.",
            "change_id": change_id,
            "status": status,
        }

    def link_ticket_to_change(self, ticket_id: str, change_id: str) -> Dict[str, Any]:
        """Record that an open ticket waits for a change; the ticket cannot be resolved before the change is finished.

        Args:
            ticket_id: id of an open ticket that waits for no other unfinished change.
            change_id: id of a change that is pending approval, approved or scheduled.

        Returns:
            message.
        """
        error = self._find(self.tickets, "ticket", ticket_id) or self._find(self.changes, "change", change_id)
        if error:
            return self._fail(error)
        ticket = self.tickets[ticket_id]
        change = self.changes[change_id]
        if ticket["status"] not in OPEN_TICKET_STATUSES:
            return self._fail(f"Ticket '{ticket_id}' is {ticket['status']}; only open tickets can be linked.")
        if change["status"] not in OPEN_CHANGE_STATUSES:
            return self._fail(f"Change '{change_id}' is {change['status']} and takes no more tickets.")
        pending = self._pending_change(ticket)
        if pending:
            return self._fail(f"Ticket '{ticket_id}' already waits for change {pending}.")
        ticket["change_id"] = change_id
        return {"success": True, "message": f"Ticket {ticket_id} is linked to change {change_id}."}

    def record_change_decision(
        self, change_id: str, approver_id: str, decision: Literal["approve", "reject"], comment: str = ""
    ) -> Dict[str, Any]:
        """Record one approver's decision on a change that is pending approval.

        The approver is an available lead or change manager, is not the requester, and decides once. A high-risk
        change becomes approved with two approvals, any other with one; a single rejection rejects it.

        Args:
            change_id: id of the change.
            approver_id: id of the agent who decided.
            decision: "approve" or "reject".
            comment: the approver's remark; required for a rejection.

        Returns:
            message and the change's status.
        """
        error = self._find(self.changes, "change", change_id) or self._find(self.agents, "agent", approver_id)
        if error:
            return self._fail(error)
        if decision not in ("approve", "reject"):
            return self._fail("decision must be 'approve' or 'reject'.")
        if not isinstance(comment, str):
            return self._fail("comment must be a string.")
        change = self.changes[change_id]
        approver = self.agents[approver_id]
        if change["status"] != "pending_approval":
            return self._fail(f"Change '{change_id}' is {change['status']}, not pending approval.")
        if approver["role"] not in ("lead", "change_manager"):
            return self._fail(f"{approver['name']} is neither a lead nor a change manager.")
        if approver["availability"] != "available":
            return self._fail(f"{approver['name']} is on leave.")
        if approver_id == change["requested_by"]:
            return self._fail(f"{approver['name']} requested the change and cannot decide on it.")
        if any(a["approver_id"] == approver_id for a in change["approvals"]):
            return self._fail(f"{approver['name']} has already decided on this change.")
        if decision == "reject" and not self._is_text(comment):
            return self._fail("A rejection needs a comment.")
        change["approvals"].append(
            {"approver_id": approver_id, "decision": decision, "date": self.current_date, "comment": comment}
        )
        if decision == "reject":
            change["status"] = "rejected"
        elif len(change["approvals"]) >= self._approvals_required(change):
            change["status"] = "approved"
        return {
            "success": True,
            "message": f"Decision recorded; change {change_id} is {change['status']}.",
            "status": change["status"],
        }

    def schedule_change(
        self, change_id: str, planned_start: str, planned_end: str, implementer_id: str
    ) -> Dict[str, Any]:
        """Schedule an approved change, or move one that is already scheduled.

        The window must not start before today, must not touch a day of the change freeze (emergency changes may), and
        must not overlap the window of another scheduled change on one of the same assets.

        Args:
            change_id: id of the change; status "approved" or "scheduled".
            planned_start: "YYYY-MM-DD HH:MM".
            planned_end: "YYYY-MM-DD HH:MM", after the start.
            implementer_id: id of the available agent who will do it.

        Returns:
            message.
        """
        error = self._find(self.changes, "change", change_id) or self._find(self.agents, "agent", implementer_id)
        if error:
            return self._fail(error)
        if not self._is_moment(planned_start) or not self._is_moment(planned_end):
            return self._fail("planned_start and planned_end must be given as 'YYYY-MM-DD HH:MM'.")
        change = self.changes[change_id]
        if change["status"] not in ("approved", "scheduled"):
            return self._fail(f"Change '{change_id}' is {change['status']}; only an approved change can be scheduled.")
        if planned_end <= planned_start:
            return self._fail("planned_end must be after planned_start.")
        if planned_start[:10] < self.current_date:
            return self._fail("The window must not start before today.")
        if self.agents[implementer_id]["availability"] != "available":
            return self._fail(f"{self.agents[implementer_id]['name']} is on leave.")
        if change["change_type"] != "emergency" and self.freeze_start is not None and self.freeze_end is not None:
            if planned_start[:10] <= self.freeze_end and planned_end[:10] >= self.freeze_start:
                return self._fail(
                    f"There is a change freeze from {self.freeze_start} to {self.freeze_end}; only emergency changes"
                    " may be scheduled then."
                )
        for other in self.changes.values():
            if other["change_id"] == change_id or other["status"] != "scheduled":
                continue
            if not set(other["asset_tags"]) & set(change["asset_tags"]):
                continue
            if planned_start < (other["planned_end"] or "") and (other["planned_start"] or "") < planned_end:
                return self._fail(
                    f"The window overlaps change {other['change_id']} on the same asset"
                    f" ({other['planned_start']} to {other['planned_end']})."
                )
        change["status"] = "scheduled"
        change["planned_start"] = planned_start
        change["planned_end"] = planned_end
        change["implementer_id"] = implementer_id
        return {"success": True, "message": f"Change {change_id} is scheduled from {planned_start} to {planned_end}."}

    def close_change(
        self, change_id: str, outcome: Literal["implemented", "rolled_back", "cancelled"], closure_notes: str
    ) -> Dict[str, Any]:
        """Finish a change request.

        Args:
            change_id: id of the change.
            outcome: "implemented" or "rolled_back" for a scheduled change whose window started today or earlier;
                "cancelled" for any change that is not finished.
            closure_notes: how it went, or why it is cancelled.

        Returns:
            message.
        """
        error = self._find(self.changes, "change", change_id)
        if error:
            return self._fail(error)
        if outcome not in ("implemented", "rolled_back", "cancelled"):
            return self._fail("outcome must be 'implemented', 'rolled_back' or 'cancelled'.")
        if not self._is_text(closure_notes):
            return self._fail("closure_notes must be a non-empty string.")
        change = self.changes[change_id]
        if change["status"] not in OPEN_CHANGE_STATUSES:
            return self._fail(f"Change '{change_id}' is already {change['status']}.")
        if outcome != "cancelled":
            if change["status"] != "scheduled":
                return self._fail(f"Change '{change_id}' is {change['status']}; it was never scheduled.")
            if (change["planned_start"] or "")[:10] > self.current_date:
                return self._fail(f"Change '{change_id}' does not start before {change['planned_start']}.")
        change["status"] = outcome
        change["closure_notes"] = closure_notes
        return {"success": True, "message": f"Change {change_id} is {outcome}."}
