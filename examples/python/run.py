"""Starts a run, waits for its end, reads all pages of a list and verifies a webhook; Python's standard library only."""

import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

BASE_URL = (os.environ.get("BASE_URL") or "http://localhost:8080/api/v1").rstrip("/")
API_KEY = os.environ.get("API_KEY", "")
ENDED = {"completed", "failed", "cancelled", "timeout"}
NAME = "Greeting (Python example)"
TOLERANCE_S = 300


class ApiError(Exception):
    """The service refused a request or failed; `code` is one of docs/errors.md."""

    def __init__(self, status, error):
        super().__init__(f"{status} {error.get('code')}: {error.get('message')}")
        self.status = status
        self.code = error.get("code")


def call(method, path, body=None, headers=None):
    """Sends a request and returns the whole answer: `data`, and `meta` of a list. Waits when the service asks to."""
    request = urllib.request.Request(BASE_URL + path, method=method)
    request.add_header("x-api-key", API_KEY)
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    data = None
    if body is not None:
        request.add_header("content-type", "application/json")
        data = json.dumps(body).encode()
    for attempt in range(3):
        try:
            with urllib.request.urlopen(request, data, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            answer = error.read()
            # What was not taken may be sent again, whatever it is.
            if error.code == 429 and attempt < 2:
                time.sleep(float(error.headers.get("retry-after", "1")))
                continue
            raise ApiError(error.code, error_of(answer)) from None


def error_of(answer):
    """What is wrong, also where a proxy and not the service has answered."""
    try:
        return json.loads(answer)["error"]
    except (ValueError, KeyError, TypeError):
        return {"code": "HTTP", "message": "The answer is none of the service's."}


def pages(path, **query):
    """Every item of a list with a cursor, page after page."""
    while True:
        answer = call("GET", f"{path}?{urllib.parse.urlencode(query)}")
        yield from answer["data"]
        meta = answer.get("meta", {})
        if not meta.get("hasMore"):
            return
        query["cursor"] = meta["cursor"]


def put_workflow():
    """The id of the example's workflow, which is made on the first run."""
    for workflow in pages("/workflows", search=NAME, limit=100):
        if workflow["name"] == NAME and workflow["status"] == "active":
            return workflow["id"]
    steps = [
        {
            "id": "hello",
            "type": "transform",
            "name": "Say hello",
            "config": {"mapping": {"text": "Hello {{input.name}}"}},
        }
    ]
    made = call("POST", "/workflows", {"name": NAME, "trigger": {"type": "api"}, "steps": steps})
    call("POST", f"/workflows/{made['data']['id']}/activate")
    return made["data"]["id"]


def run_and_wait(workflow_id, given, wait_s=60):
    """Starts one run, however often the request has to be sent, and returns it once it has ended."""
    key = {"idempotency-key": str(uuid.uuid4())}
    started = call("POST", f"/workflows/{workflow_id}/run", {"input": given}, key)["data"]
    deadline = time.monotonic() + wait_s
    while True:
        run = call("GET", f"/runs/{started['runId']}")["data"]
        if run["status"] in ENDED:
            return run
        if time.monotonic() > deadline:
            raise TimeoutError(f"{run['id']} is still {run['status']}.")
        time.sleep(0.5)


def verify_webhook(body, signature, secret, now=None):
    """Whether a delivery is signed with the endpoint's secret, at most 300 s ago. `body` is the bytes as they came."""
    parts = [part.partition("=") for part in signature.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    if len(times) != 1 or not (times[0].isascii() and times[0].isdigit()):
        return False
    if abs((time.time() if now is None else now) - int(times[0])) > TOLERANCE_S:
        return False
    signed = f"{times[0]}.".encode() + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    given = [value for name, _, value in parts if name == "v1"]
    return any(hmac.compare_digest(value.encode(), expected.encode()) for value in given)


def main():
    if API_KEY == "":
        sys.exit(
            "API_KEY is not set. npm start shows a key on its first start; another one comes from\n"
            "npm run admin -- create-api-key --company ID --name example "
            "--scopes workflows:read,workflows:write,workflows:execute,runs:read"
        )
    try:
        workflow_id = put_workflow()
        for name in ["Ada", "Grace", "Zoë"]:
            run = run_and_wait(workflow_id, {"name": name})
            print(run["id"], run["status"], json.dumps(run["output"], ensure_ascii=False))
        # Two a page, so that there are several.
        ids = [run["id"] for run in pages("/runs", workflowId=workflow_id, limit=2)]
        print(f"The workflow has had {len(ids)} runs.")
    except ApiError as error:
        sys.exit(str(error))
    except urllib.error.URLError:
        sys.exit(f"{BASE_URL} cannot be reached. Is npm start running there?")
    # The test vector of docs/verify-webhooks.md, and the same with another body.
    with open(os.path.join(os.path.dirname(__file__), "delivery.txt"), "rb") as file:
        body = file.read()
    secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    signature = "t=1767225600,v1=738dfb53ca77eb773fed29d219d65c42c22a33b90dd570dc03dede7d0c5ed054"
    print("A delivery is ours:", verify_webhook(body, signature, secret, now=1767225600))
    print("A forged one is ours:", verify_webhook(body + b" ", signature, secret, now=1767225600))
    print("An old one is ours:", verify_webhook(body, signature, secret))


if __name__ == "__main__":
    main()
