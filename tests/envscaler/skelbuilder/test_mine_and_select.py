from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from envscaler.skelbuilder.embed import embed
from envscaler.skelbuilder.mine import Judgement, TextRules, filtered, judged
from envscaler.skelbuilder.records import TaskText, Topic
from envscaler.skelbuilder.select import SelectRules, above, embedded_text, select
from envscaler.skelbuilder.texts import read_texts
from harness.errors import DataError, SettingError

ROW = "Renew the card of Mr. Okafor and lend him the atlas."


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("a.txt", f"{ROW}\n\n", id="plain"),
        pytest.param("a.jsonl", json.dumps({"query": ROW, "id": 7}), id="json-lines"),
        pytest.param("a.jsonl", json.dumps({"messages": [{"role": "user", "content": ROW}]}), id="chat"),
        pytest.param("a.json", json.dumps([{"conversations": [{"from": "human", "value": ROW}]}]), id="sharegpt"),
        pytest.param("a.json", json.dumps({"rows": [{"row_idx": 0, "row": {"task": ROW}}]}), id="dataset-viewer"),
        pytest.param("a.csv", f'id,task\n1,"{ROW}"\n', id="csv"),
        pytest.param("a.json", json.dumps([ROW]), id="texts-only"),
    ],
)
def test_task_texts_are_read_from_the_usual_files(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(content.encode()))
    (found,) = read_texts([path])
    assert (found.id, found.text) == ("t00001", ROW)
    assert found.source.startswith(f"{name}.gz: ")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"query": "x"}\n{"query": 3}', r"a\.jsonl: line 2: has none of the fields"),
        ("a.json", "{", r"a\.json: is not JSON"),
        ("a.txt", "\n", r"a\.txt: holds no task text"),
        ("a.txt", b"\xff\xfe\xfa", r"a\.txt: is not UTF-8"),
        ("a.json", '"x"', r"a\.json: is neither a list nor an object"),
    ],
)
def test_bad_files_are_named_in_one_sentence(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        read_texts([path])


def task(text: str, number: int = 1) -> TaskText:
    return TaskText(id=f"t{number}", text=text, source="x")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ROW, ""),
        ("Lend it now.", "too short"),
        ("word " * 500, "too long"),
        ("请把第三个订单的送货地址改成 北京 市 海淀 区 的 新 地址", "other language"),
        ("Describe what is on this photo of the shelf, please.", "other modality"),
        ("Open https://example.org and lend him the atlas now.", "refers to an outside address"),
        ("1 2 3 4 5 6 7", "no words"),
    ],
)
def test_texts_are_kept_or_rejected_with_a_reason(text: str, reason: str) -> None:
    (result,) = filtered([task(text)], TextRules())
    assert (result.reason, result.status) == (reason, "rejected" if reason else "kept")


def test_of_equal_texts_the_first_stays() -> None:
    kept = filtered([task(ROW, 1), task(ROW.upper().replace(".", "!"), 2)], TextRules())
    assert [result.reason for result in kept] == ["", "repeats t1"]


def test_a_task_must_read_and_write() -> None:
    said = Judgement(analysis="", domain_specific=True, stateful=True, reads=True, writes=False)
    assert judged(task(ROW), said).reason == "not writes"


INTRODUCTION = "The desk of a {0} keeps {0} records. Staff of the {0} change them. The rules of the {0} bind them."


def topic(number: int, subject: str, usefulness: int = 8, modelability: int = 8, title: str = "") -> Topic:
    return Topic(
        task_id=f"t{number}",
        task="",
        title=title or f"{subject} desk",
        introduction=INTRODUCTION.format(subject),
        usefulness=usefulness,
        modelability=modelability,
    )


def test_thresholds_and_titles_decide_first() -> None:
    topics = [
        topic(1, "marina", 6),
        topic(2, "marina", 8, 7),
        topic(3, "marina", 8, 9, title="Marina Desk"),
        topic(4, "mill", 9, 4),
    ]
    reasons = [found.reason for found in above(topics, SelectRules())]
    assert reasons == ["usefulness below 7", "same title as t3", "", "modelability below 7"]


def test_alike_topics_fall_to_the_better_one() -> None:
    topics = [
        topic(1, "pharmacy", 7, 7),
        topic(2, "harbour"),
        topic(3, "pharmacies", 8, 9),
        topic(4, "observatory"),
    ]
    chosen = select(topics, embed([embedded_text(t) for t in topics]), SelectRules(most_alike=0.5))
    assert [found.status for found in chosen] == ["rejected", "kept", "kept", "kept"]
    assert chosen[0].reason.startswith("like t3 (cosine 0.")


def test_clusters_keep_one_topic_each() -> None:
    topics = [topic(n, f"{subject} {n}") for n, subject in enumerate(["marina", "brewery", "observatory"] * 4)]
    vectors = embed([embedded_text(t) for t in topics])
    chosen = select(topics, vectors, SelectRules(most_alike=1.1, clusters=3))
    kept = {found.title.split()[0] for found in chosen if found.status == "kept"}
    assert kept == {"marina", "brewery", "observatory"}


def test_embeddings_that_need_a_model_say_so() -> None:
    with pytest.raises(SettingError, match="--embedding-model"):
        embed(["a"], "endpoint")


def test_an_openai_compatible_endpoint_gives_unit_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            data = [
                {"object": "embedding", "index": n, "embedding": [3.0, 4.0 + n]} for n, _ in enumerate(asked["input"])
            ]
            body = json.dumps(
                {"object": "list", "model": "m", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
            )
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        rows = embed(["a", "b"], "endpoint", model="m", base_url=f"http://127.0.0.1:{server.server_port}/v1")
    finally:
        server.shutdown()
        server.server_close()
    assert rows[0].tolist() == pytest.approx([0.6, 0.8])
    assert (rows**2).sum(axis=1).tolist() == pytest.approx([1.0, 1.0])
