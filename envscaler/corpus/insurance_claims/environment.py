import copy
import re
from datetime import date
from typing import Collection, Dict, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class HolderInfo(TypedDict):
    holder_id: str
    name: str
    email: str
    town: str


class PolicyInfo(TypedDict):
    policy_id: str
    holder_id: str
    product: str  # "motor", "home" or "travel"
    insured_item: str
    start_date: str  # YYYY-MM-DD, first day of cover
    end_date: str  # YYYY-MM-DD, last day of cover
    paid_until: str  # YYYY-MM-DD, last day that the premium is paid for
    cancelled_on: Optional[str]  # YYYY-MM-DD, first day without cover


class CoverageInfo(TypedDict):
    coverage_id: str
    policy_id: str
    peril: str
    limit: float  # for all claims of the policy together
    deductible: float  # taken off each claim
    waiting_days: int  # days from the start of the policy without this cover


class ClaimInfo(TypedDict):
    claim_id: str
    policy_id: str
    coverage_id: Optional[str]  # None if the policy does not cover the peril
    peril: str
    loss_date: str  # YYYY-MM-DD
    reported_on: str  # YYYY-MM-DD
    description: str
    estimate: float  # of the loss, before the deductible
    documents: List[str]  # those that have come in
    adjuster_id: Optional[str]
    status: str  # "open", "approved", "denied" or "closed"
    approved_amount: Optional[float]
    denial_ground: Optional[str]


class AdjusterInfo(TypedDict):
    adjuster_id: str
    name: str
    products: List[str]
    authority: float  # most that the adjuster may decide on
    max_claims: int  # open and approved claims at a time
    investigator: bool  # may handle claims with fraud flags
    status: str  # "active" or "on_leave"


class ReserveInfo(TypedDict):
    reserve_id: str
    claim_id: str
    kind: str  # "indemnity" or "expense"
    amount: float  # set aside in all, what has been paid out of it included


class PaymentInfo(TypedDict):
    payment_id: str
    claim_id: str
    kind: str  # "indemnity" or "expense"
    vendor_id: Optional[str]  # None: paid to the policyholder
    amount: float
    status: str  # "pending", "released" or "voided"
    issued_on: str  # YYYY-MM-DD
    released_by: Optional[str]  # adjuster_id
    void_reason: Optional[str]


class VendorInfo(TypedDict):
    vendor_id: str
    name: str
    trade: str  # "repairer", "surveyor" or "lawyer"
    town: str
    status: str  # "approved" or "suspended"


class FlagInfo(TypedDict):
    flag_id: str
    claim_id: str
    indicator: str  # "late_report", "early_loss", "repeat_loss" or "inconsistent_statement"
    raised_on: str  # YYYY-MM-DD
    status: str  # "open", "cleared" or "confirmed"
    note: str  # the finding that resolved it; empty while it is open


class RecoveryInfo(TypedDict):
    recovery_id: str
    claim_id: str
    party: str  # who caused the loss, or that party's insurer
    amount_sought: float
    amount_received: float
    status: str  # "open" or "closed"


# The perils that a claim on a policy of each product can name.
PRODUCT_PERILS: Dict[str, List[str]] = {
    "motor": ["collision", "car_theft", "glass"],
    "home": ["fire", "water", "storm", "burglary"],
    "travel": ["baggage", "medical", "cancellation"],
}
PERILS = [peril for perils in PRODUCT_PERILS.values() for peril in perils]
CLAIM_STATUSES = ("open", "approved", "denied", "closed")
INDICATORS = ("late_report", "early_loss", "repeat_loss", "inconsistent_statement")
GROUNDS = ("not_covered", "not_in_force", "waiting_period", "below_deductible", "missing_documents", "fraud")
KINDS = ("indemnity", "expense")
GRACE_DAYS = 30  # cover goes on so long after the last day that the premium is paid for
REPORT_DAYS = 365  # a loss cannot be registered later than this
LATE_REPORT_DAYS = 30  # reported later than this: flag
EARLY_LOSS_DAYS = 14  # within so many days of the start of the policy: flag
REPEAT_DAYS = 180  # another loss of the same peril so close: flag
DOCUMENT_DAYS = 60  # a claim can be denied for missing documents this long after its report
SECOND_SIGNATURE = 5000.00  # a payment above this is released by a second adjuster


class InsuranceClaims:
    def __init__(self, init_config: dict):
        """
        The claims department of an insurer.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        self.policyholders: Dict[str, HolderInfo] = init_config.get("policyholders", {})
        self.policies: Dict[str, PolicyInfo] = init_config.get("policies", {})
        self.coverages: Dict[str, CoverageInfo] = init_config.get("coverages", {})
        self.claims: Dict[str, ClaimInfo] = init_config.get("claims", {})
        self.adjusters: Dict[str, AdjusterInfo] = init_config.get("adjusters", {})
        self.reserves: Dict[str, ReserveInfo] = init_config.get("reserves", {})
        self.payments: Dict[str, PaymentInfo] = init_config.get("payments", {})
        self.vendors: Dict[str, VendorInfo] = init_config.get("vendors", {})
        self.fraud_flags: Dict[str, FlagInfo] = init_config.get("fraud_flags", {})
        self.recoveries: Dict[str, RecoveryInfo] = init_config.get("recoveries", {})

        # The documents that a claim needs before it is approved, by peril
        self.required_documents: Dict[str, List[str]] = init_config.get("required_documents", {})

        # Today in the department, YYYY-MM-DD
        self.current_date: str = init_config.get("current_date", "2025-01-02")

        # The number that the next new record of each kind gets
        self.next_claim_number: int = init_config.get("next_claim_number", 1)
        self.next_reserve_number: int = init_config.get("next_reserve_number", 1)
        self.next_payment_number: int = init_config.get("next_payment_number", 1)
        self.next_flag_number: int = init_config.get("next_flag_number", 1)
        self.next_recovery_number: int = init_config.get("next_recovery_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(kind: str, value: object) -> dict:
        if not isinstance(value, str):
            return {"success": False, "error": f"The {kind}_id must be a string."}
        return {"success": False, "error": f"There is no {kind} with id '{value[:60]}'."}

    @staticmethod
    def _find(table: Dict[str, Record], key: object) -> Optional[Record]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _text_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional text filter, or None."""
        return None if value is None or isinstance(value, str) else f"{name} must be a string."

    @staticmethod
    def _choice_filter(name: str, value: object, allowed: Collection[str]) -> Optional[str]:
        """Say what is wrong with an optional filter of fixed values, or None."""
        if value is None or (isinstance(value, str) and value in allowed):
            return None
        return f"{name} must be one of: {', '.join(allowed)}."

    @staticmethod
    def _contains(text: str, part: Optional[str]) -> bool:
        return part is None or part.strip().lower() in text.lower()

    @staticmethod
    def _is_text(value: object) -> bool:
        return isinstance(value, str) and value.strip() != ""

    @staticmethod
    def _is_amount(value: object, least: float = 0.01) -> bool:
        """Whether a value is money in whole cents, from `least` to ten million."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= 10_000_000:
            return False
        return abs(value - round(value, 2)) < 1e-9

    @staticmethod
    def _is_date(value: object) -> bool:
        if not isinstance(value, str) or not re.fullmatch(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", value):
            return False
        try:
            date.fromisoformat(value)
        except ValueError:
            return False
        return True

    @staticmethod
    def _days(earlier: str, later: str) -> int:
        return (date.fromisoformat(later) - date.fromisoformat(earlier)).days

    def _not_in_force(self, policy: PolicyInfo, day: str) -> Optional[str]:
        """Why a policy gives no cover on a day, or None."""
        if not policy["start_date"] <= day <= policy["end_date"]:
            return f"it runs from {policy['start_date']} to {policy['end_date']}"
        if policy["cancelled_on"] is not None and policy["cancelled_on"] <= day:
            return f"it was cancelled on {policy['cancelled_on']}"
        if self._days(policy["paid_until"], day) > GRACE_DAYS:
            return f"the premium is paid until {policy['paid_until']}, more than {GRACE_DAYS} days earlier"
        return None

    def _in_waiting_period(self, claim: ClaimInfo) -> bool:
        coverage = self.coverages.get(claim["coverage_id"] or "")
        if coverage is None:
            return False
        day = self._days(self.policies[claim["policy_id"]]["start_date"], claim["loss_date"])
        return 0 <= day < coverage["waiting_days"]

    def _limit_left(self, coverage: CoverageInfo, besides: Optional[str] = None) -> float:
        """What approved claims leave of a coverage's limit, without counting the claim `besides`."""
        used = sum(
            claim["approved_amount"] or 0.0
            for claim in self.claims.values()
            if claim["coverage_id"] == coverage["coverage_id"] and claim["claim_id"] != besides
        )
        return round(coverage["limit"] - used, 2)

    def _missing(self, claim: ClaimInfo) -> List[str]:
        return [name for name in self.required_documents.get(claim["peril"], []) if name not in claim["documents"]]

    def _flags(self, claim_id: str, *statuses: str) -> List[str]:
        return [
            flag["indicator"]
            for flag in self.fraud_flags.values()
            if flag["claim_id"] == claim_id and flag["status"] in statuses
        ]

    def _workload(self, adjuster_id: str) -> int:
        return sum(
            1 for c in self.claims.values() if c["adjuster_id"] == adjuster_id and c["status"] in ("open", "approved")
        )

    def _reserve(self, claim_id: str, kind: str) -> Optional[ReserveInfo]:
        for reserve in self.reserves.values():
            if reserve["claim_id"] == claim_id and reserve["kind"] == kind:
                return reserve
        return None

    def _reserved(self, claim_id: str, kind: str) -> float:
        reserve = self._reserve(claim_id, kind)
        return reserve["amount"] if reserve else 0.0

    def _paid(self, claim_id: str, kind: str, *statuses: str) -> float:
        paid = sum(
            payment["amount"]
            for payment in self.payments.values()
            if payment["claim_id"] == claim_id and payment["kind"] == kind and payment["status"] in statuses
        )
        return round(paid, 2)

    def _new_flag(self, claim_id: str, indicator: str) -> str:
        flag_id = f"FF-{self.next_flag_number}"
        self.next_flag_number += 1
        self.fraud_flags[flag_id] = {
            "flag_id": flag_id,
            "claim_id": claim_id,
            "indicator": indicator,
            "raised_on": self.current_date,
            "status": "open",
            "note": "",
        }
        return flag_id

    # Queries

    def search_policyholders(self, name: Optional[str] = None, town: Optional[str] = None) -> dict:
        """
        Find policyholders; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            town (str, optional): Part of the town's name, any case.

        Returns:
            dict: {"success": True, "data": [HolderInfo, ...]} sorted by holder_id, or
            {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name) or self._text_filter("town", town)
        if problem:
            return self._fail(problem)
        found = [
            holder
            for _, holder in sorted(self.policyholders.items())
            if self._contains(holder["name"], name) and self._contains(holder["town"], town)
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def search_policies(
        self,
        holder_id: Optional[str] = None,
        product: Optional[Literal["motor", "home", "travel"]] = None,
        insured_item: Optional[str] = None,
    ) -> dict:
        """
        Find policies; every filter that is given must match.

        Args:
            holder_id (str, optional): Policyholder id, e.g. "PH-31".
            product (str, optional): "motor", "home" or "travel".
            insured_item (str, optional): Part of what is insured, any case.

        Returns:
            dict: {"success": True, "data": [PolicyInfo, ...]} sorted by policy_id, or
            {"success": False, "error": str}.
        """
        problem = self._choice_filter("product", product, PRODUCT_PERILS) or self._text_filter(
            "insured_item", insured_item
        )
        if problem:
            return self._fail(problem)
        if holder_id is not None and self._find(self.policyholders, holder_id) is None:
            return self._unknown("policyholder", holder_id)
        found = [
            policy
            for _, policy in sorted(self.policies.items())
            if holder_id in (None, policy["holder_id"])
            and product in (None, policy["product"])
            and self._contains(policy["insured_item"], insured_item)
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_policy(self, policy_id: str) -> dict:
        """
        Show a policy with its coverages, what is left of their limits, and its claims.

        Args:
            policy_id (str): Policy id, e.g. "PO-2204".

        Returns:
            dict: {"success": True, "data": PolicyInfo plus "in_force_today": bool, "coverages": [CoverageInfo plus
            "limit_left": float, ...] and "claim_ids": [str, ...]}, or {"success": False, "error": str}.
        """
        policy = self._find(self.policies, policy_id)
        if policy is None:
            return self._unknown("policy", policy_id)
        row: Dict[str, object] = dict(policy)
        row["in_force_today"] = self._not_in_force(policy, self.current_date) is None
        row["coverages"] = [
            {**coverage, "limit_left": self._limit_left(coverage)}
            for _, coverage in sorted(self.coverages.items())
            if coverage["policy_id"] == policy_id
        ]
        row["claim_ids"] = sorted(c["claim_id"] for c in self.claims.values() if c["policy_id"] == policy_id)
        return {"success": True, "data": row}

    def search_claims(
        self,
        policy_id: Optional[str] = None,
        adjuster_id: Optional[str] = None,
        status: Optional[Literal["open", "approved", "denied", "closed"]] = None,
        flagged_only: bool = False,
    ) -> dict:
        """
        Find claims; every filter that is given must match.

        Args:
            policy_id (str, optional): Policy id, e.g. "PO-2204".
            adjuster_id (str, optional): Adjuster id, e.g. "AD-05".
            status (str, optional): "open", "approved", "denied" or "closed".
            flagged_only (bool): True for claims with an open fraud flag only.

        Returns:
            dict: {"success": True, "data": [ClaimInfo plus "holder_name": str, "open_flags": [indicator, ...] and
            "pending_payment_ids": [str, ...], ...]} sorted by claim_id, or {"success": False, "error": str}.
        """
        problem = self._choice_filter("status", status, CLAIM_STATUSES)
        if problem:
            return self._fail(problem)
        if policy_id is not None and self._find(self.policies, policy_id) is None:
            return self._unknown("policy", policy_id)
        if adjuster_id is not None and self._find(self.adjusters, adjuster_id) is None:
            return self._unknown("adjuster", adjuster_id)
        if not isinstance(flagged_only, bool):
            return self._fail("flagged_only must be true or false.")
        found = []
        for key, claim in sorted(self.claims.items()):
            if policy_id not in (None, claim["policy_id"]) or adjuster_id not in (None, claim["adjuster_id"]):
                continue
            flags = self._flags(key, "open")
            if status not in (None, claim["status"]) or (flagged_only and not flags):
                continue
            row: Dict[str, object] = dict(copy.deepcopy(claim))
            row["holder_name"] = self.policyholders[self.policies[claim["policy_id"]]["holder_id"]]["name"]
            row["open_flags"] = flags
            row["pending_payment_ids"] = sorted(
                p["payment_id"] for p in self.payments.values() if p["claim_id"] == key and p["status"] == "pending"
            )
            found.append(row)
        return {"success": True, "data": found}

    def get_claim(self, claim_id: str) -> dict:
        """
        Show a claim with everything that belongs to it.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".

        Returns:
            dict: {"success": True, "data": ClaimInfo plus "missing_documents": [str, ...], "deductible" and
            "limit_left" (float, None without coverage), and "flags", "reserves", "payments" and "recoveries" (lists
            of records)}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        coverage = self.coverages.get(claim["coverage_id"] or "")
        row: Dict[str, object] = dict(claim)
        row["missing_documents"] = self._missing(claim)
        row["deductible"] = coverage["deductible"] if coverage else None
        row["limit_left"] = self._limit_left(coverage, claim_id) if coverage else None
        row["flags"] = [f for f in self.fraud_flags.values() if f["claim_id"] == claim_id]
        row["reserves"] = [r for r in self.reserves.values() if r["claim_id"] == claim_id]
        row["payments"] = [p for p in self.payments.values() if p["claim_id"] == claim_id]
        row["recoveries"] = [r for r in self.recoveries.values() if r["claim_id"] == claim_id]
        return {"success": True, "data": copy.deepcopy(row)}

    def search_adjusters(
        self,
        name: Optional[str] = None,
        product: Optional[Literal["motor", "home", "travel"]] = None,
        investigator: Optional[bool] = None,
    ) -> dict:
        """
        Find adjusters with the number of claims they have; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            product (str, optional): "motor", "home" or "travel".
            investigator (bool, optional): True for investigators only, False for the others.

        Returns:
            dict: {"success": True, "data": [AdjusterInfo plus "claims": int (open and approved ones), ...]} sorted by
            adjuster_id, or {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name) or self._choice_filter("product", product, PRODUCT_PERILS)
        if problem:
            return self._fail(problem)
        if investigator is not None and not isinstance(investigator, bool):
            return self._fail("investigator must be true or false.")
        found = []
        for key, adjuster in sorted(self.adjusters.items()):
            if not self._contains(adjuster["name"], name) or investigator not in (None, adjuster["investigator"]):
                continue
            if product is None or product in adjuster["products"]:
                found.append({**copy.deepcopy(adjuster), "claims": self._workload(key)})
        return {"success": True, "data": found}

    def search_vendors(
        self,
        name: Optional[str] = None,
        trade: Optional[Literal["repairer", "surveyor", "lawyer"]] = None,
        town: Optional[str] = None,
    ) -> dict:
        """
        Find vendors; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            trade (str, optional): "repairer", "surveyor" or "lawyer".
            town (str, optional): Part of the town's name, any case.

        Returns:
            dict: {"success": True, "data": [VendorInfo, ...]} sorted by vendor_id, or
            {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("name", name)
            or self._choice_filter("trade", trade, ("repairer", "surveyor", "lawyer"))
            or self._text_filter("town", town)
        )
        if problem:
            return self._fail(problem)
        found = [
            vendor
            for _, vendor in sorted(self.vendors.items())
            if self._contains(vendor["name"], name)
            and trade in (None, vendor["trade"])
            and self._contains(vendor["town"], town)
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    # Changes: from report to adjuster

    def open_claim(
        self,
        policy_id: str,
        peril: Literal[
            "collision",
            "car_theft",
            "glass",
            "fire",
            "water",
            "storm",
            "burglary",
            "baggage",
            "medical",
            "cancellation",
        ],
        loss_date: str,
        description: str,
        estimate: float,
    ) -> dict:
        """
        Register a loss that is reported today, whether it is covered or not.

        Fraud flags are raised at once: "late_report" more than 30 days after the loss, "early_loss" within the first
        14 days of the policy, "repeat_loss" if another claim of the same policy and peril had its loss within 180
        days of this one and was not denied.

        Args:
            policy_id (str): Policy id, e.g. "PO-2204".
            peril (str): One of the perils of the policy's product: collision, car_theft and glass (motor); fire,
                water, storm and burglary (home); baggage, medical and cancellation (travel).
            loss_date (str): "YYYY-MM-DD", not in the future and at most 365 days ago.
            description (str): What happened.
            estimate (float): Estimate of the loss in whole cents, before the deductible.

        Returns:
            dict: {"success": True, "message": str, "claim_id": str, "covered": bool, "flags": [indicator, ...]}, or
            {"success": False, "error": str}.
        """
        policy = self._find(self.policies, policy_id)
        if policy is None:
            return self._unknown("policy", policy_id)
        perils = PRODUCT_PERILS[policy["product"]]
        if not isinstance(peril, str) or peril not in perils:
            return self._fail(f"peril must be one of: {', '.join(perils)} (a {policy['product']} policy).")
        if not self._is_date(loss_date) or loss_date > self.current_date:
            return self._fail("loss_date must be given as 'YYYY-MM-DD' and not lie in the future.")
        if self._days(loss_date, self.current_date) > REPORT_DAYS:
            return self._fail(f"A loss more than {REPORT_DAYS} days ago cannot be registered.")
        if not self._is_text(description):
            return self._fail("description must say what happened.")
        if not self._is_amount(estimate):
            return self._fail("estimate must be an amount above 0 in whole cents.")
        same = [c for c in self.claims.values() if c["policy_id"] == policy_id and c["peril"] == peril]
        if any(claim["loss_date"] == loss_date for claim in same):
            return self._fail(f"Policy {policy_id} already has a {peril} claim for {loss_date}.")
        coverage_id = next(
            (c["coverage_id"] for c in self.coverages.values() if c["policy_id"] == policy_id and c["peril"] == peril),
            None,
        )
        claim_id = f"CL-{self.next_claim_number}"
        self.next_claim_number += 1
        self.claims[claim_id] = {
            "claim_id": claim_id,
            "policy_id": policy_id,
            "coverage_id": coverage_id,
            "peril": peril,
            "loss_date": loss_date,
            "reported_on": self.current_date,
            "description": description.strip(),
            "estimate": estimate,
            "documents": [],
            "adjuster_id": None,
            "status": "open",
            "approved_amount": None,
            "denial_ground": None,
        }
        flags = []
        if self._days(loss_date, self.current_date) > LATE_REPORT_DAYS:
            flags.append("late_report")
        if 0 <= self._days(policy["start_date"], loss_date) < EARLY_LOSS_DAYS:
            flags.append("early_loss")
        if any(c["status"] != "denied" and abs(self._days(c["loss_date"], loss_date)) <= REPEAT_DAYS for c in same):
            flags.append("repeat_loss")
        for indicator in flags:
            self._new_flag(claim_id, indicator)
        return {
            "success": True,
            "message": f"Registered claim {claim_id}; flags: {', '.join(flags) or 'none'}.",
            "claim_id": claim_id,
            "covered": coverage_id is not None,
            "flags": flags,
        }

    def add_document(self, claim_id: str, document: str) -> dict:
        """
        Record that a document which an open claim needs has come in.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".
            document (str): Name of a document that is still missing (see get_claim).

        Returns:
            dict: {"success": True, "message": str, "missing_documents": [str, ...]}, or
            {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if claim["status"] != "open":
            return self._fail(f"Claim {claim_id} is {claim['status']}; documents are taken for open claims.")
        missing = self._missing(claim)
        if not isinstance(document, str) or document not in missing:
            return self._fail(f"The documents that claim {claim_id} still needs: {', '.join(missing) or 'none'}.")
        claim["documents"].append(document)
        missing.remove(document)
        message = f"Recorded '{document}' for claim {claim_id}; still missing: {', '.join(missing) or 'none'}."
        return {"success": True, "message": message, "missing_documents": missing}

    def update_estimate(self, claim_id: str, estimate: float) -> dict:
        """
        Change the estimate of an open claim's loss; it must stay within the authority of its adjuster.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".
            estimate (float): New estimate in whole cents, before the deductible.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if claim["status"] != "open":
            return self._fail(f"Claim {claim_id} is {claim['status']}; only an open claim's estimate changes.")
        if not self._is_amount(estimate) or estimate == claim["estimate"]:
            return self._fail("estimate must be an amount above 0 in whole cents, and differ from the present one.")
        adjuster = self.adjusters.get(claim["adjuster_id"] or "")
        if adjuster is not None and estimate > adjuster["authority"]:
            return self._fail(
                f"{adjuster['name']} has authority up to {adjuster['authority']:.2f}; assign another adjuster first."
            )
        claim["estimate"] = estimate
        return {"success": True, "message": f"The estimate of claim {claim_id} is now {estimate:.2f}."}

    def assign_adjuster(self, claim_id: str, adjuster_id: str) -> dict:
        """
        Give an open claim to an adjuster, or to another one.

        The adjuster must be active, work on the policy's product, have fewer claims than the personal most, and have
        authority for the estimate and for what is reserved. A claim with an open or confirmed fraud flag goes to an
        investigator.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".
            adjuster_id (str): Adjuster id, e.g. "AD-05".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        adjuster = self._find(self.adjusters, adjuster_id)
        if adjuster is None:
            return self._unknown("adjuster", adjuster_id)
        name = adjuster["name"]
        if claim["status"] != "open":
            return self._fail(f"Claim {claim_id} is {claim['status']}; only an open claim is assigned.")
        if claim["adjuster_id"] == adjuster_id:
            return self._fail(f"{name} already has claim {claim_id}.")
        if adjuster["status"] != "active":
            return self._fail(f"{name} is on leave.")
        product = self.policies[claim["policy_id"]]["product"]
        if product not in adjuster["products"]:
            return self._fail(f"{name} does not work on {product} claims.")
        if self._flags(claim_id, "open", "confirmed") and not adjuster["investigator"]:
            return self._fail(f"Claim {claim_id} has a fraud flag and needs an investigator; {name} is none.")
        reserved = round(self._reserved(claim_id, "indemnity") + self._reserved(claim_id, "expense"), 2)
        if max(claim["estimate"], reserved) > adjuster["authority"]:
            return self._fail(f"{name} has authority up to {adjuster['authority']:.2f} only.")
        if self._workload(adjuster_id) >= adjuster["max_claims"]:
            return self._fail(f"{name} already has {adjuster['max_claims']} claims, which is the most.")
        claim["adjuster_id"] = adjuster_id
        return {"success": True, "message": f"Claim {claim_id} is assigned to {name}."}

    def set_reserve(self, claim_id: str, kind: Literal["indemnity", "expense"], amount: float) -> dict:
        """
        Set what is reserved in all for a claim, payments already made included.

        The claim is open or approved and has an adjuster, whose authority covers both reserves together. An indemnity
        reserve needs cover and is at most what is left of the limit; no reserve is less than what is paid or to be
        paid out of it.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".
            kind (str): "indemnity" (for the loss) or "expense" (for surveyors and lawyers).
            amount (float): New amount in whole cents, 0 or more.

        Returns:
            dict: {"success": True, "message": str, "reserve_id": str}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if not isinstance(kind, str) or kind not in KINDS:
            return self._fail("kind must be 'indemnity' or 'expense'.")
        if not self._is_amount(amount, 0):
            return self._fail("amount must be 0 or more, in whole cents.")
        if claim["status"] not in ("open", "approved"):
            return self._fail(f"Claim {claim_id} is {claim['status']} and takes no reserve.")
        adjuster = self.adjusters.get(claim["adjuster_id"] or "")
        if adjuster is None:
            return self._fail(f"Claim {claim_id} has no adjuster yet.")
        coverage = self.coverages.get(claim["coverage_id"] or "")
        if kind == "indemnity" and coverage is None:
            return self._fail(f"Claim {claim_id} is not covered and takes no indemnity reserve.")
        if kind == "indemnity" and coverage is not None and amount > self._limit_left(coverage, claim_id):
            return self._fail(f"{self._limit_left(coverage, claim_id):.2f} is left of the limit of this cover.")
        if amount < self._paid(claim_id, kind, "pending", "released"):
            return self._fail(f"{self._paid(claim_id, kind, 'pending', 'released'):.2f} is already paid or to be paid.")
        other = self._reserved(claim_id, "expense" if kind == "indemnity" else "indemnity")
        if round(amount + other, 2) > adjuster["authority"]:
            return self._fail(
                f"The reserves would be {amount + other:.2f}; {adjuster['name']} has authority up to"
                f" {adjuster['authority']:.2f}."
            )
        reserve = self._reserve(claim_id, kind)
        if reserve is None:
            reserve_id = f"RS-{self.next_reserve_number}"
            self.next_reserve_number += 1
            self.reserves[reserve_id] = {"reserve_id": reserve_id, "claim_id": claim_id, "kind": kind, "amount": amount}
        else:
            reserve_id = reserve["reserve_id"]
            reserve["amount"] = amount
        message = f"The {kind} reserve of claim {claim_id} is {amount:.2f}."
        return {"success": True, "message": message, "reserve_id": reserve_id}

    # Changes: fraud flags and decisions

    def raise_flag(
        self,
        claim_id: str,
        indicator: Literal["late_report", "early_loss", "repeat_loss", "inconsistent_statement"],
    ) -> dict:
        """
        Raise a fraud flag on an open claim; it leaves its adjuster, unless that is an investigator.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".
            indicator (str): "late_report", "early_loss", "repeat_loss" or "inconsistent_statement"; not one that the
                claim has had already.

        Returns:
            dict: {"success": True, "message": str, "flag_id": str}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if not isinstance(indicator, str) or indicator not in INDICATORS:
            return self._fail(f"indicator must be one of: {', '.join(INDICATORS)}.")
        if claim["status"] != "open":
            return self._fail(f"Claim {claim_id} is {claim['status']}; only an open claim is flagged.")
        if indicator in self._flags(claim_id, "open", "cleared", "confirmed"):
            return self._fail(f"Claim {claim_id} has had the flag '{indicator}' already.")
        flag_id = self._new_flag(claim_id, indicator)
        adjuster = self.adjusters.get(claim["adjuster_id"] or "")
        if adjuster is not None and not adjuster["investigator"]:
            claim["adjuster_id"] = None
            return {
                "success": True,
                "message": f"Raised flag {flag_id}; claim {claim_id} leaves {adjuster['name']}.",
                "flag_id": flag_id,
            }
        return {"success": True, "message": f"Raised flag {flag_id} on claim {claim_id}.", "flag_id": flag_id}

    def resolve_flag(self, flag_id: str, outcome: Literal["cleared", "confirmed"], note: str) -> dict:
        """
        Record what the investigation of an open fraud flag found; the claim must be with an investigator.

        Args:
            flag_id (str): Flag id, e.g. "FF-19".
            outcome (str): "cleared" (no fraud) or "confirmed" (fraud; the claim can only be denied then).
            note (str): The finding; must not be empty.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        flag = self._find(self.fraud_flags, flag_id)
        if flag is None:
            return self._unknown("flag", flag_id)
        if not isinstance(outcome, str) or outcome not in ("cleared", "confirmed"):
            return self._fail("outcome must be 'cleared' or 'confirmed'.")
        if not self._is_text(note):
            return self._fail("note must say what was found.")
        if flag["status"] != "open":
            return self._fail(f"Flag {flag_id} is already {flag['status']}.")
        adjuster = self.adjusters.get(self.claims[flag["claim_id"]]["adjuster_id"] or "")
        if adjuster is None or not adjuster["investigator"]:
            return self._fail(f"Claim {flag['claim_id']} is not with an investigator.")
        flag["status"] = outcome
        flag["note"] = note.strip()
        return {"success": True, "message": f"Flag {flag_id} is {outcome}."}

    def approve_claim(self, claim_id: str, assessed_loss: float) -> dict:
        """
        Approve an open claim: the assessed loss less the deductible, at most what is left of the limit.

        The claim is covered, has all its documents, an adjuster and no open or confirmed fraud flag; the policy was
        in force on the day of the loss and the waiting period was over. The amount must be above 0, within the
        adjuster's authority and within the indemnity reserve.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".
            assessed_loss (float): The loss as it was assessed, in whole cents, before the deductible.

        Returns:
            dict: {"success": True, "message": str, "approved_amount": float}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if not self._is_amount(assessed_loss):
            return self._fail("assessed_loss must be an amount above 0 in whole cents.")
        if claim["status"] != "open":
            return self._fail(f"Claim {claim_id} is {claim['status']}.")
        coverage = self.coverages.get(claim["coverage_id"] or "")
        if coverage is None:
            return self._fail(f"Policy {claim['policy_id']} does not cover {claim['peril']}.")
        reason = self._not_in_force(self.policies[claim["policy_id"]], claim["loss_date"])
        if reason:
            return self._fail(f"Policy {claim['policy_id']} was not in force on {claim['loss_date']}: {reason}.")
        if self._in_waiting_period(claim):
            return self._fail(f"The loss lies within the waiting period of {coverage['waiting_days']} days.")
        missing = self._missing(claim)
        if missing:
            return self._fail(f"Claim {claim_id} still needs: {', '.join(missing)}.")
        flags = self._flags(claim_id, "open", "confirmed")
        if flags:
            return self._fail(f"Claim {claim_id} has a fraud flag that is not cleared: {', '.join(flags)}.")
        adjuster = self.adjusters.get(claim["adjuster_id"] or "")
        if adjuster is None:
            return self._fail(f"Claim {claim_id} has no adjuster yet.")
        amount = round(min(assessed_loss - coverage["deductible"], self._limit_left(coverage, claim_id)), 2)
        if amount <= 0:
            return self._fail(f"Nothing is payable: the deductible is {coverage['deductible']:.2f}.")
        if amount > adjuster["authority"]:
            return self._fail(f"{amount:.2f} is above the authority of {adjuster['name']}.")
        if amount > self._reserved(claim_id, "indemnity"):
            return self._fail(f"{amount:.2f} is more than the indemnity reserve of claim {claim_id}.")
        claim["status"] = "approved"
        claim["approved_amount"] = amount
        message = f"Approved claim {claim_id} with {amount:.2f}."
        return {"success": True, "message": message, "approved_amount": amount}

    def deny_claim(
        self,
        claim_id: str,
        ground: Literal[
            "not_covered",
            "not_in_force",
            "waiting_period",
            "below_deductible",
            "missing_documents",
            "fraud",
        ],
    ) -> dict:
        """
        Deny an open claim that has an adjuster, on a ground that holds; its indemnity reserve becomes 0.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".
            ground (str): "not_covered" (the policy lacks the peril), "not_in_force" (on the day of the loss),
                "waiting_period" (the loss lies in it), "below_deductible" (the estimate is not above it),
                "missing_documents" (still missing 60 days or more after the report) or "fraud" (a confirmed flag).

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if not isinstance(ground, str) or ground not in GROUNDS:
            return self._fail(f"ground must be one of: {', '.join(GROUNDS)}.")
        if claim["status"] != "open":
            return self._fail(f"Claim {claim_id} is {claim['status']}.")
        if claim["adjuster_id"] is None:
            return self._fail(f"Claim {claim_id} has no adjuster yet.")
        coverage = self.coverages.get(claim["coverage_id"] or "")
        waited = self._days(claim["reported_on"], self.current_date) >= DOCUMENT_DAYS
        holds = {
            "not_covered": coverage is None,
            "not_in_force": self._not_in_force(self.policies[claim["policy_id"]], claim["loss_date"]) is not None,
            "waiting_period": self._in_waiting_period(claim),
            "below_deductible": coverage is not None and claim["estimate"] <= coverage["deductible"],
            "missing_documents": waited and self._missing(claim) != [],
            "fraud": self._flags(claim_id, "confirmed") != [],
        }
        if not holds[ground]:
            return self._fail(f"The ground '{ground}' does not hold for claim {claim_id}.")
        claim["status"] = "denied"
        claim["denial_ground"] = ground
        reserve = self._reserve(claim_id, "indemnity")
        if reserve is not None:
            reserve["amount"] = 0.0
        return {"success": True, "message": f"Denied claim {claim_id} ({ground})."}

    # Changes: money

    def issue_payment(
        self,
        claim_id: str,
        kind: Literal["indemnity", "expense"],
        amount: float,
        vendor_id: Optional[str] = None,
    ) -> dict:
        """
        Issue a payment out of a claim's reserve.

        Indemnity is paid for an approved claim, up to the approved amount in all, to the policyholder or to an
        approved repairer. An expense is paid to an approved surveyor or lawyer, unless the claim is closed. A payment
        of up to 5,000.00 is released at once in the name of the claim's adjuster; a larger one is pending until
        another adjuster releases it.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".
            kind (str): "indemnity" or "expense".
            amount (float): Amount in whole cents, at most what the reserve still holds.
            vendor_id (str, optional): Vendor id, e.g. "VE-08"; left out, the policyholder is paid.

        Returns:
            dict: {"success": True, "message": str, "payment_id": str, "status": "released" or "pending"}, or
            {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if not isinstance(kind, str) or kind not in KINDS:
            return self._fail("kind must be 'indemnity' or 'expense'.")
        if not self._is_amount(amount):
            return self._fail("amount must be above 0 and in whole cents.")
        vendor = None
        if vendor_id is not None:
            vendor = self._find(self.vendors, vendor_id)
            if vendor is None:
                return self._unknown("vendor", vendor_id)
            if vendor["status"] != "approved":
                return self._fail(f"{vendor['name']} is suspended and is not paid.")
            if (vendor["trade"] == "repairer") != (kind == "indemnity"):
                return self._fail(f"{vendor['name']} is a {vendor['trade']} and gets no {kind} payment.")
        if kind == "expense" and vendor is None:
            return self._fail("An expense is paid to a surveyor or lawyer; vendor_id is missing.")
        if claim["status"] == "closed" or (kind == "indemnity" and claim["status"] != "approved"):
            return self._fail(f"Claim {claim_id} is {claim['status']}; no {kind} is paid for it.")
        if claim["adjuster_id"] is None:
            return self._fail(f"Claim {claim_id} has no adjuster yet.")
        paid = self._paid(claim_id, kind, "pending", "released")
        if kind == "indemnity" and round(paid + amount, 2) > (claim["approved_amount"] or 0.0):
            return self._fail(f"{claim['approved_amount']} is approved and {paid:.2f} of it paid or to be paid.")
        if round(paid + amount, 2) > self._reserved(claim_id, kind):
            return self._fail(f"The {kind} reserve holds {self._reserved(claim_id, kind) - paid:.2f} still.")
        status = "pending" if amount > SECOND_SIGNATURE else "released"
        payment_id = f"PY-{self.next_payment_number}"
        self.next_payment_number += 1
        self.payments[payment_id] = {
            "payment_id": payment_id,
            "claim_id": claim_id,
            "kind": kind,
            "vendor_id": vendor_id,
            "amount": amount,
            "status": status,
            "issued_on": self.current_date,
            "released_by": claim["adjuster_id"] if status == "released" else None,
            "void_reason": None,
        }
        message = f"Payment {payment_id} of {amount:.2f} is {status}."
        return {"success": True, "message": message, "payment_id": payment_id, "status": status}

    def release_payment(self, payment_id: str, adjuster_id: str) -> dict:
        """
        Release a pending payment in the name of a second adjuster.

        Args:
            payment_id (str): Payment id, e.g. "PY-340".
            adjuster_id (str): Adjuster id, e.g. "AD-05": active, not the one who has the claim, working on the
                policy's product, and with authority for the amount.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        payment = self._find(self.payments, payment_id)
        if payment is None:
            return self._unknown("payment", payment_id)
        adjuster = self._find(self.adjusters, adjuster_id)
        if adjuster is None:
            return self._unknown("adjuster", adjuster_id)
        if payment["status"] != "pending":
            return self._fail(f"Payment {payment_id} is {payment['status']}, not pending.")
        claim = self.claims[payment["claim_id"]]
        if claim["adjuster_id"] == adjuster_id:
            return self._fail(f"{adjuster['name']} has claim {claim['claim_id']}; a second adjuster must release.")
        if adjuster["status"] != "active":
            return self._fail(f"{adjuster['name']} is on leave.")
        product = self.policies[claim["policy_id"]]["product"]
        if product not in adjuster["products"]:
            return self._fail(f"{adjuster['name']} does not work on {product} claims.")
        if payment["amount"] > adjuster["authority"]:
            return self._fail(f"{payment['amount']:.2f} is above the authority of {adjuster['name']}.")
        payment["status"] = "released"
        payment["released_by"] = adjuster_id
        return {"success": True, "message": f"{adjuster['name']} released payment {payment_id}."}

    def void_payment(self, payment_id: str, reason: str) -> dict:
        """
        Void a payment that is still pending; what it was to take is in the reserve again.

        Args:
            payment_id (str): Payment id, e.g. "PY-340".
            reason (str): Why; must not be empty.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        payment = self._find(self.payments, payment_id)
        if payment is None:
            return self._unknown("payment", payment_id)
        if not self._is_text(reason):
            return self._fail("reason must say why the payment is voided.")
        if payment["status"] != "pending":
            return self._fail(f"Payment {payment_id} is {payment['status']}, not pending.")
        payment["status"] = "voided"
        payment["void_reason"] = reason.strip()
        return {"success": True, "message": f"Voided payment {payment_id}."}

    def open_recovery(self, claim_id: str, party: str, amount: float) -> dict:
        """
        Claim money back from whoever caused a loss; a claim has one recovery at most.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012"; the claim is approved.
            party (str): Who is to pay.
            amount (float): Amount in whole cents, at most the payments of the claim that are released.

        Returns:
            dict: {"success": True, "message": str, "recovery_id": str}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if not self._is_text(party):
            return self._fail("party must say who is to pay.")
        if not self._is_amount(amount):
            return self._fail("amount must be above 0 and in whole cents.")
        if claim["status"] != "approved":
            return self._fail(f"Claim {claim_id} is {claim['status']}; recoveries are opened for approved claims.")
        if any(recovery["claim_id"] == claim_id for recovery in self.recoveries.values()):
            return self._fail(f"Claim {claim_id} already has a recovery.")
        paid = round(self._paid(claim_id, "indemnity", "released") + self._paid(claim_id, "expense", "released"), 2)
        if amount > paid:
            return self._fail(f"{paid:.2f} is paid and released for claim {claim_id}; no more can be recovered.")
        recovery_id = f"RC-{self.next_recovery_number}"
        self.next_recovery_number += 1
        self.recoveries[recovery_id] = {
            "recovery_id": recovery_id,
            "claim_id": claim_id,
            "party": party.strip(),
            "amount_sought": amount,
            "amount_received": 0.0,
            "status": "open",
        }
        message = f"Opened recovery {recovery_id} of {amount:.2f} from {party.strip()}."
        return {"success": True, "message": message, "recovery_id": recovery_id}

    def record_recovery(self, recovery_id: str, amount: float, final: bool = False) -> dict:
        """
        Record money that has come in for an open recovery; it closes once everything is in.

        Args:
            recovery_id (str): Recovery id, e.g. "RC-12".
            amount (float): Amount in whole cents, at most what is still to come.
            final (bool): True if no more will come: the recovery closes with what is in.

        Returns:
            dict: {"success": True, "message": str, "still_to_come": float}, or {"success": False, "error": str}.
        """
        recovery = self._find(self.recoveries, recovery_id)
        if recovery is None:
            return self._unknown("recovery", recovery_id)
        if not isinstance(final, bool):
            return self._fail("final must be true or false.")
        if recovery["status"] != "open":
            return self._fail(f"Recovery {recovery_id} is closed.")
        left = round(recovery["amount_sought"] - recovery["amount_received"], 2)
        if not self._is_amount(amount) or amount > left:
            return self._fail(
                f"amount must be above 0, in whole cents, and at most {left:.2f}, which is still to come."
            )
        recovery["amount_received"] = round(recovery["amount_received"] + amount, 2)
        left = round(left - amount, 2)
        if final or left == 0:
            recovery["status"] = "closed"
        message = f"Recovery {recovery_id} is {recovery['status']}; {left:.2f} of what was sought has not come."
        return {"success": True, "message": message, "still_to_come": left}

    def close_claim(self, claim_id: str) -> dict:
        """
        Close an approved or denied claim; its reserves shrink to what has been paid out of them.

        An approved claim must be paid in full. No payment may be pending, no fraud flag open and no recovery open.

        Args:
            claim_id (str): Claim id, e.g. "CL-7012".

        Returns:
            dict: {"success": True, "message": str, "reserve_taken_back": float}, or {"success": False, "error": str}.
        """
        claim = self._find(self.claims, claim_id)
        if claim is None:
            return self._unknown("claim", claim_id)
        if claim["status"] not in ("approved", "denied"):
            return self._fail(f"Claim {claim_id} is {claim['status']}; approved and denied claims are closed.")
        if self._flags(claim_id, "open"):
            return self._fail(f"Claim {claim_id} has an open fraud flag.")
        if any(p["claim_id"] == claim_id and p["status"] == "pending" for p in self.payments.values()):
            return self._fail(f"Claim {claim_id} has a pending payment.")
        if any(r["claim_id"] == claim_id and r["status"] == "open" for r in self.recoveries.values()):
            return self._fail(f"Claim {claim_id} has an open recovery.")
        left = round((claim["approved_amount"] or 0.0) - self._paid(claim_id, "indemnity", "released"), 2)
        if left > 0:
            return self._fail(f"{left:.2f} of the approved amount of claim {claim_id} is not paid.")
        claim["status"] = "closed"
        back = 0.0
        for kind in KINDS:
            reserve = self._reserve(claim_id, kind)
            if reserve is not None:
                paid = self._paid(claim_id, kind, "released")
                back += reserve["amount"] - paid
                reserve["amount"] = paid
        back = round(back, 2)
        message = f"Closed claim {claim_id}; {back:.2f} of its reserves is free again."
        return {"success": True, "message": message, "reserve_taken_back": back}
