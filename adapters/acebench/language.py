"""The two languages of ACEBench: what the environment says, and the few words that its rules compare.

The texts are what the recorded verdicts hold, character for character: an agent reads them and is scored by what it
does next (docs/acebench.md, Environment).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

LanguageCode = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language, and the three rules in which the Chinese classes differ from the English ones."""

    code: LanguageCode
    texts: Mapping[str, str]
    economy: str
    """Cabin name; every other name is priced as business class."""
    business: str
    airline_cancelled: str
    """The reason that makes a cancellation free; compared exactly."""
    spends_last_yuan: bool
    """Whether an order may cost the whole balance (English) or must leave something (Chinese)."""
    searches_reminders: bool
    """Whether reminders can be searched and marked as notified; the tool is offered in both languages."""

    def say(self, key: str, **values: Any) -> str:
        """The text under `key`, filled in."""
        return self.texts[key].format(**values) if values else self.texts[key]


_EN = {
    # device
    "wifi_on": "Wi-Fi has been turned on",
    "device_logged_in": "Device has been logged in",
    # messages
    "send_needs_login": "Device not logged in, unable to send message",
    "send_needs_wifi": "Wi-Fi is turned off, cannot send messages at this time",
    "inbox_full": "Inbox capacity is full. You need to ask the user which message to delete.",
    "no_such_correspondent": "Sender or receiver does not exist",
    "sent": "Message successfully sent to {receiver}.",
    "delete_needs_login": "Device not logged in, unable to delete message",
    "no_such_message": "Message ID does not exist",
    "message_deleted": "Message ID {id} has been successfully deleted.",
    "view_needs_login": "Device not logged in, unable to view message information",
    "no_such_sender": "Sender does not exist",
    "no_such_receiver": "Receiver does not exist",
    "nothing_between": "No related message records found",
    "no_such_owner": "User does not exist",
    "no_keyword": "No messages found containing the keyword",
    "times_need_login": "Device not logged in, unable to retrieve all message times "
    "and their corresponding message IDs.",
    "latest_needs_login": "Device not logged in, unable to retrieve the latest sent message ID.",
    "earliest_needs_login": "Device not logged in, unable to retrieve the earliest sent message ID.",
    "inbox_empty": "No message records found",
    "latest": "The latest message ID is {id}",
    "earliest": "The earliest message ID is {id}",
    # reminders
    "reminder_needs_login": "The device is not logged in, so you cannot view notifications",
    "no_such_title": "No reminder found with the title '{title}'.",
    "add_needs_login": "Device not logged in. Unable to add a new reminder.",
    "reminders_full": "Reminder capacity is full. Unable to add a new reminder.",
    "reminder_added": "Reminder '{title}' was successfully added.",
    "drop_needs_login": "Device not logged in. Unable to delete the specified reminder.",
    "no_such_reminder": "Reminder ID does not exist.",
    "reminder_deleted": "Reminder ID {id} was successfully deleted.",
    "no_reminders": "No reminders found.",
    # food
    "food_needs_wifi": "Wi-Fi is not enabled, unable to login",
    "no_such_customer": "User does not exist",
    "wrong_password": "Incorrect password",
    "already_in": "{user} is already logged in",
    "customer_in": "User {user} has successfully logged in!",
    "nobody_in": "No users are currently logged in to the food platform",
    "customer_not_in": "User {user} is not logged in to the food platform",
    "no_such_merchant": "Merchant does not exist",
    "bad_quantity": "Invalid quantity {quantity} for product {product}",
    "not_on_menu": "Product {product} does not exist in {merchant}'s menu",
    "too_dear": "Insufficient balance to place the order",
    "ordered": "Food delivery order successfully placed with {merchant}. Total amount: {total} yuan",
    "no_menu": "Merchant '{merchant}' does not exist",
    "no_orders": "User has no order records",
    "no_matching_orders": "No matching orders found",
    # travel
    "no_direct_flight": "There are no direct flights that meet the criteria.",
    "no_connection": "No connecting flights that meet the criteria were found.",
    "bad_credentials": "Incorrect username or password.",
    "reservation_or_user": "Please provide a valid reservation ID or user ID",
    "bad_payment": "Invalid payment method",
    "cash_short": "Your cash balance is insufficient. Please consider using another payment method.",
    "bank_short": "Your bank balance is insufficient. Please consider using another payment method.",
    "booked": "Booking successful. Reservation ID: {id}. Total cost: {cost} yuan (including baggage fees).",
    "no_such_booking": "Reservation not found or user ID does not match.",
    "no_such_flight": "Flight information not found.",
    "no_traveller": "User information not found.",
    "flight_changed": "Flight number has been changed.",
    "flight_not_changed": "Flight change failed: Invalid new flight number or destination does not match.",
    "cabin_paid": "Cabin change successful. Price difference paid: {amount}.",
    "cabin_unpaid": "Insufficient balance to pay the cabin price difference.",
    "cabin_refunded": "Cabin change successful. Price difference refunded: {amount}.",
    "baggage_paid": "Baggage has been added. Additional fee to be paid: {amount}.",
    "baggage_unpaid": "Insufficient balance to pay the additional baggage fees.",
    "nothing_to_pay": "Modification completed with no additional fees.",
    "bad_user_id": "Invalid user ID.",
    "bad_reservation_id": "Invalid reservation ID or it does not belong to the user.",
    "bad_flight": "Invalid flight information.",
    "departed": "The flight segment has been used and cannot be canceled.",
    "airline_refund": "The flight has been canceled. Your reservation will be canceled free of charge, "
    "and {refund} yuan has been refunded.",
    "early_refund": "More than 24 hours before departure. Free cancellation successful, "
    "{refund} yuan has been refunded.",
    "late_refund": "Less than 24 hours before departure. A cancellation fee of {fee} yuan has been deducted, "
    "and {refund} yuan has been refunded.",
}

_ZH = {
    # device
    "wifi_on": "wifi已经打开",
    "device_logged_in": "设备已经登录",
    # messages
    "send_needs_login": "device未登录，无法发送短信",
    "send_needs_wifi": "wifi关闭，此时不能发送信息",
    "inbox_full": "内存容量不够了，你需要询问user删除哪一条短信。",
    "no_such_correspondent": "发送者或接收者不存在",
    "sent": "短信成功发送给{receiver}。",
    "delete_needs_login": "device未登录，无法删除短信",
    "no_such_message": "短信ID不存在",
    "message_deleted": "短信ID {id} 已成功删除。",
    "view_needs_login": "device未登录，无法查看短信信息",
    "no_such_sender": "发送者不存在",
    "no_such_receiver": "接收者不存在",
    "nothing_between": "没有找到相关的短信记录",
    "no_such_owner": "用户不存在",
    "no_keyword": "没有找到包含关键词的短信",
    "times_need_login": "device未登录，获取所有短信的时间以及对应的短信编号。",
    "latest_needs_login": "device未登录，无法获取最新发送的短信ID。",
    "earliest_needs_login": "device未登录，无法获取最早发送的短信ID",
    "inbox_empty": "短信记录为空",
    "latest": "最新的短信ID是 {id}",
    "earliest": "最早的短信ID是 {id}",
    # reminders
    "reminder_needs_login": "device未登录，无法查看提醒",
    "no_such_title": "没有找到标题为 '{title}' 的提醒",
    "add_needs_login": "device未登录，无法添加一个新的提醒",
    "reminders_full": "提醒容量已满，无法添加新的提醒",
    "reminder_added": "提醒 '{title}' 已成功添加",
    "drop_needs_login": "device未登录，无法删除指定的提醒",
    "no_such_reminder": "提醒ID不存在",
    "reminder_deleted": "提醒ID {id} 已成功删除",
    "no_reminders": "没有任何提醒",
    "reminder_notified": "提醒ID {id} 已标记为已通知",
    "no_reminder_keyword": "没有找到包含该关键词的提醒",
    # food
    "food_needs_wifi": "wifi未打开，无法登录",
    "no_such_customer": "用户不存在",
    "wrong_password": "密码错误",
    "already_in": "{user} 已经登录",
    "customer_in": "用户{user}登陆成功！",
    "nobody_in": "当前没有登录food platform",
    "customer_not_in": "用户 {user} 未登录food platform",
    "no_such_merchant": "商家不存在",
    "bad_quantity": "无效的数量 {quantity} 对于商品 {product}",
    "not_on_menu": "商品 {product} 不存在于 {merchant} 的菜单中",
    "too_dear": "余额不足，无法下单",
    "ordered": "外卖订单成功下单给 {merchant}，总金额为 {total} 元",
    "no_menu": "商家 '{merchant}' 不存在",
    "no_orders": "用户没有订单记录",
    "no_matching_orders": "没有找到匹配的订单",
    # travel
    "no_direct_flight": "没有符合条件的直达航班",
    "no_connection": "未找到符合条件的中转航班。",
    "bad_credentials": "用户名或密码不正确",
    "reservation_or_user": "请提供有效的预订ID或用户ID",
    "bad_payment": "支付方式无效",
    "cash_short": "cash余额不足，请考虑换一种支付方式",
    "bank_short": "bank余额不足，请考虑换一种支付方式",
    "booked": "预订成功，预订号：{id}，总费用：{cost}元（包含行李费用）。",
    "no_such_booking": "预订未找到或用户ID不匹配。",
    "no_such_flight": "航班信息未找到。",
    "no_traveller": "用户信息未找到。",
    "flight_changed": "航班号已更改。",
    "flight_not_changed": "航班更改失败：新的航班号无效或目的地不匹配。",
    "cabin_paid": "舱位更改成功。已支付差价: {amount}。",
    "cabin_unpaid": "余额不足，无法支付舱位差价。",
    "cabin_refunded": "舱位更改成功。已退款差价: {amount}。",
    "baggage_paid": "行李已增加。需支付额外费用: {amount}。",
    "baggage_unpaid": "余额不足，无法支付额外行李费用。",
    "nothing_to_pay": "修改完成，无需额外费用。",
    "bad_user_id": "用户ID无效。",
    "bad_reservation_id": "预订ID无效或与该用户无关。",
    "bad_flight": "航班信息无效。",
    "departed": "航段已使用，无法取消。",
    "airline_refund": "航班已取消，您的预订将被免费取消，已退款{refund}元。",
    "early_refund": "距离出发时间超过24小时，免费取消成功，已退款{refund}元。",
    "late_refund": "距离出发时间不足24小时，已扣除取消费{fee}元，退款{refund}元。",
}

LANGUAGES: Mapping[str, Language] = {
    "en": Language(
        "en",
        _EN,
        economy="Economy Class",
        business="Business Class",
        airline_cancelled="The airline has canceled the flight.",
        spends_last_yuan=True,
        searches_reminders=False,
    ),
    "zh": Language(
        "zh",
        _ZH,
        economy="经济舱",
        business="商务舱",
        airline_cancelled="航空公司取消航班",
        spends_last_yuan=False,
        searches_reminders=True,
    ),
}
"""By language code."""
