"""Verifies checkpoints, key histories, promises, approvals and trails, as docs/security/trust.md describes them.

It shares no code with the product. It reads cases as JSON from standard input, and prints the result of each: "ok" or
the code of the first error.
"""

import base64
import datetime
import hashlib
import json
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
# Y coordinates of the points of small order, little-endian.
SMALL_ORDER = {
    int.from_bytes(bytes.fromhex(each), "little")
    for each in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
}
EVENTS = ("created", "rotated", "adopted", "removed", "recovered")
DAY = datetime.timedelta(days=1)


class Invalid(Exception):
    """The code of the first error."""


def require(condition, code):
    if not condition:
        raise Invalid(code)


def sha256(data):
    return hashlib.sha256(data).digest()


def b64(data):
    return base64.b64encode(data).decode()


def unb64(text, length=None):
    """Decodes canonical base64; returns None for any other text."""
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, TypeError):
        return None
    return data if b64(data) == text and length in (None, len(data)) else None


def canonical(value):
    """RFC 8785 for strings, integers, booleans, null, arrays and objects with names in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parse_canonical(text):
    try:
        value = json.loads(text)
        return value if canonical(value) == text else None
    except (ValueError, RecursionError):
        return None


def frame(label, value, tail=b""):
    return b"\xff" + label.encode("ascii") + b"\0" + canonical(value).encode() + tail


def is_instant(text):
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text):
        return False
    try:
        return bool(parse_instant(text))
    except ValueError:
        return False


def parse_instant(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")


def coordinate(data):
    return int.from_bytes(data, "little") & (2**255 - 1)


def is_key(data):
    return data is not None and len(data) == 32 and coordinate(data) < PRIME and coordinate(data) not in SMALL_ORDER


def is_signed(key, signature, message):
    """RFC 8032, with canonical encodings only and no points of small order."""
    if not is_key(key) or signature is None or len(signature) != 64 or not is_key(signature[:32]):
        return False
    if int.from_bytes(signature[32:], "little") >= ORDER:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


# Notes and checkpoints: C2SP signed-note, tlog-checkpoint


def parse_verifier_key(line):
    name, key_id, encoded = line.split("+", 2)
    key = unb64(encoded, 33)
    require(key is not None and key[0] == 1, "unknown_log")
    require(sha256(f"{name}\n".encode() + key)[:4].hex() == key_id, "unknown_log")
    return name, key[1:]


def open_checkpoint(note, verifier_key):
    """Returns size and root of a checkpoint that this key has signed for its log."""
    name, key = parse_verifier_key(verifier_key)
    text, _, lines = note.rpartition("\n\n")
    text += "\n"
    key_id = sha256(f"{name}\n".encode() + b"\1" + key)[:4]
    for line in lines.splitlines():
        dash, signer, encoded = line.split(" ")
        signature = unb64(encoded)
        if dash == "—" and signer == name and signature and signature[:4] == key_id:
            require(is_signed(key, signature[4:], text.encode()), "unknown_log")
            origin, size, root = text.split("\n")[:3]
            require(origin == name, "unknown_log")
            return int(size), unb64(root, 32)
    raise Invalid("unknown_log")


# The tree: RFC 9162 §2.1


def hash_leaf(leaf):
    return sha256(b"\0" + leaf.encode())


def hash_children(left, right):
    return sha256(b"\1" + left + right)


def root_of_inclusion(index, size, leaf_hash, hashes):
    """RFC 9162 §2.1.3.2"""
    if not 0 <= index < size:
        return None
    node, last, root = index, size - 1, leaf_hash
    for each in hashes:
        if last == 0 or each is None:
            return None
        if node % 2 == 1 or node == last:
            root = hash_children(each, root)
            while node % 2 == 0 and node != 0:
                node, last = node >> 1, last >> 1
        else:
            root = hash_children(root, each)
        node, last = node >> 1, last >> 1
    return root if last == 0 else None


def is_consistent(size, root, next_size, next_root, hashes):
    """RFC 9162 §2.1.4.2"""
    if size == next_size:
        return hashes == [] and root == next_root
    if size > next_size or None in hashes:
        return False
    if size == 0:
        return hashes == []
    path = [root, *hashes] if size & (size - 1) == 0 else list(hashes)
    if not path:
        return False
    node, last = size - 1, next_size - 1
    while node % 2 == 1:
        node, last = node >> 1, last >> 1
    first = second = path[0]
    for each in path[1:]:
        if last == 0:
            return False
        if node % 2 == 1 or node == last:
            first, second = hash_children(each, first), hash_children(each, second)
            while node % 2 == 0 and node != 0:
                node, last = node >> 1, last >> 1
        else:
            second = hash_children(second, each)
        node, last = node >> 1, last >> 1
    return last == 0 and first == root and second == next_root


# Key histories


FIELDS = {"at", "event", "identity", "keyVersion", "link", "possession", "previous", "publicKey", "version"}


def parse_leaf(text):
    leaf = parse_canonical(text)
    require(isinstance(leaf, dict) and isinstance(leaf.get("event"), str), "malformed_leaf")
    require(leaf["event"] in EVENTS, "unknown_event")
    require(set(leaf) == FIELDS and leaf["version"] == 2, "malformed_leaf")
    require(isinstance(leaf["keyVersion"], int) and leaf["keyVersion"] >= 1, "malformed_leaf")
    require(unb64(leaf["identity"], 32) is not None and is_key(unb64(leaf["publicKey"], 32)), "malformed_leaf")
    require(is_instant(leaf["at"]), "malformed_leaf")
    for name, length in (("link", 64), ("possession", 64), ("previous", 32)):
        require(leaf[name] is None or unb64(leaf[name], length) is not None, "malformed_leaf")
    event, has_link, has_possession = leaf["event"], leaf["link"] is not None, leaf["possession"] is not None
    require(event != "created" or (leaf["keyVersion"] == 1 and not has_link), "malformed_leaf")
    require(event != "rotated" or leaf["keyVersion"] > 1, "malformed_leaf")
    require(event != "adopted" or (has_possession and (leaf["keyVersion"] > 1 or not has_link)), "malformed_leaf")
    require(event != "removed" or not (has_link or has_possession), "malformed_leaf")
    is_recovery = leaf["keyVersion"] > 1 and has_possession and not has_link
    require(event != "recovered" or is_recovery, "malformed_leaf")
    return leaf


def read_history(case):
    """Verifies all leaves of an identity under one checkpoint; the last key must be proved by its owner."""
    log, _ = parse_verifier_key(case["verifierKey"])
    size, root = open_checkpoint(case["checkpoint"], case["verifierKey"])
    digest = b64(sha256(f"countersign/transparency/identity/v1:{case['identityId']}".encode()))
    last, head, keys, last_index = None, None, {}, -1
    for entry in case["events"]:
        leaf = parse_leaf(entry["leaf"])
        hashes = [unb64(each, 32) for each in entry["hashes"]]
        found = root_of_inclusion(entry["index"], size, hash_leaf(entry["leaf"]), hashes)
        require(found == root and leaf["identity"] == digest, "key_not_proved")
        require(entry["index"] > last_index, "broken_chain")
        append_leaf(log, keys, last, head, leaf)
        last, head, last_index = leaf, b64(hash_leaf(entry["leaf"])), entry["index"]
    require(last is not None and last["event"] != "removed", "key_not_proved")
    version = last["keyVersion"]
    is_proved = keys[version]["possession"] and all(keys[each]["link"] for each in range(1, version + 1))
    require(is_proved, "key_not_proved")


def append_leaf(log, keys, last, head, leaf):
    require(last is None or last["event"] != "removed", "after_removal")
    require(last is None or leaf["at"] >= last["at"], "time_went_back")
    is_same_key = leaf["event"] in ("adopted", "removed")
    due = (last["keyVersion"] if last else 0) + (0 if is_same_key else 1)
    require(leaf["keyVersion"] >= due, "version_twice")
    require(leaf["keyVersion"] <= due, "version_gap")
    require(not is_same_key or (last is not None and leaf["publicKey"] == last["publicKey"]), "version_twice")
    require(not (leaf["event"] == "adopted" and last["event"] == "adopted"), "version_twice")
    require(leaf["previous"] == head, "broken_chain")

    names = ("event", "identity", "keyVersion", "previous", "publicKey")
    proved = {"log": log, **{name: leaf[name] for name in names}}
    version = leaf["keyVersion"]
    if leaf["link"] is not None:
        former = keys.get(version - 1, {"publicKey": b""})["publicKey"]
        message = frame("countersign/key-link/v2", proved)
        require(is_signed(former, unb64(leaf["link"]), message), "unlinked_key")
    own = unb64(leaf["publicKey"])
    if leaf["possession"] is not None:
        message = frame("countersign/key-possession/v2", proved)
        require(is_signed(own, unb64(leaf["possession"]), message), "no_possession")
    is_former = any(keys[each]["publicKey"] == own for each in keys if each < version)
    require(not is_former, "key_used_before")
    key = keys.setdefault(version, {"publicKey": own, "link": version == 1, "possession": False})
    key["link"] = key["link"] or leaf["link"] is not None
    key["possession"] = key["possession"] or leaf["possession"] is not None


def check_growth(case):
    """The log of one checkpoint continues that of another."""
    size, root = open_checkpoint(case["from"], case["verifierKey"])
    next_size, next_root = open_checkpoint(case["to"], case["verifierKey"])
    require(next_size >= size, "log_rolled_back")
    hashes = [unb64(each, 32) for each in case["hashes"]]
    require(is_consistent(size, root, next_size, next_root, hashes), "log_forked")


def check_promise(case):
    name, key = parse_verifier_key(case["verifierKey"])
    promise = {each: case["promise"][each] for each in ("due", "issued", "leaf", "log")}
    require(is_instant(promise["due"]) and is_instant(promise["issued"]), "malformed_promise")
    require(promise["log"] == name, "other_log")
    require(promise["leaf"] == b64(hash_leaf(case["leaf"])), "other_leaf")
    require(parse_instant(promise["due"]) - parse_instant(promise["issued"]) == DAY, "other_due")
    message = frame("countersign/inclusion-promise/v2", promise)
    require(is_signed(key, unb64(case["promise"]["signature"]), message), "invalid_promise")


# Approvals


def check_approval(case):
    approval, expected = case["approval"], case["expected"]
    statement = parse_canonical(approval["statement"])
    require(isinstance(statement, dict) and statement.get("version") == 2, "malformed_approval")
    presence = unb64(approval["presence"], 32) if "presence" in approval else bytes(32)
    require(presence is not None and ("presence" not in approval or any(presence)), "invalid_approval")
    message = frame("countersign/approval/v2", statement, b"\0" + presence)
    require(is_signed(unb64(expected["publicKey"]), unb64(approval["signature"]), message), "invalid_approval")
    require(statement["requestId"] == expected["requestId"], "other_request")
    require(statement["app"]["clientId"] == expected["clientId"], "other_app")
    require(statement["identityId"] == expected["identityId"], "other_identity")
    require(statement["handle"] == expected.get("handle", statement["handle"]), "other_handle")
    require(statement["issuer"] == expected["issuer"], "other_issuer")
    require(statement["role"] == expected["role"], "other_role")
    require((statement["organization"] or {}).get("id") == expected.get("organizationId"), "other_organization")
    require(statement["payloadSha256"] == b64(sha256(expected["payload"].encode())), "other_text")
    is_same_key = statement["publicKey"] == expected["publicKey"] and statement["keyVersion"] == expected["keyVersion"]
    require(is_same_key, "other_key")
    require(statement["expiresAt"] == expected["expiresAt"], "other_expiry")
    is_in_time = statement["createdAt"] <= statement["challengedAt"] < statement["expiresAt"]
    require(is_in_time, "out_of_time")
    require("presence" in approval, "no_presence")


def check_evidence(case):
    """The assertion of a passkey was made for this statement, and is the one in the approval."""
    evidence = case["evidence"]
    challenge = sha256(frame("countersign/approval-presence/v2", parse_canonical(case["statement"])))
    client_data = json.loads(evidence["clientDataJson"])
    require(client_data["challenge"] == base64.urlsafe_b64encode(challenge).decode().rstrip("="), "other_challenge")
    parts = [unb64(evidence["publicKey"]), unb64(evidence["authenticatorData"])]
    parts += [evidence["clientDataJson"].encode(), unb64(evidence["signature"])]
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    require(b64(sha256(b"countersign/presence/v2\0" + framed)) == case["presence"], "other_presence")


# Trails of organizations


ACT_FIELDS = {"action", "at", "details", "expiresAt", "identityId", "issuer", "keyVersion", "nonce", "organizationId"}
ACT_FIELDS |= {"previousAct", "proposal", "role", "trail", "version"}
PROPOSAL_FIELDS = {"action", "createdAt", "details", "expiresAt", "identityId", "issuer", "nonce", "organizationId"}
PROPOSAL_FIELDS |= {"version"}
ENTRY_FIELDS = {"action", "actor", "acts", "at", "details", "organizationId", "previous", "sequence", "version"}
LIFETIMES = {"sign": datetime.timedelta(minutes=5), "approve": datetime.timedelta(days=7)}


def parse_fields(text, fields):
    value = parse_canonical(text)
    return value if isinstance(value, dict) and set(value) == fields and value["version"] == 2 else None


def is_lifetime(start, end, longest):
    if not is_instant(start) or not is_instant(end):
        return False
    return datetime.timedelta(0) < parse_instant(end) - parse_instant(start) <= longest


def parse_act(text):
    act = parse_fields(text, ACT_FIELDS)
    require(act is not None and act["role"] in LIFETIMES, "malformed_act")
    is_approval = act["role"] == "approve"
    require(not is_approval or (act["proposal"] is not None and act["previousAct"] is None), "malformed_act")
    require((act["trail"]["head"] is None) == (act["trail"]["sequence"] == 0), "malformed_act")
    require(is_lifetime(act["at"], act["expiresAt"], LIFETIMES[act["role"]]), "malformed_act")
    return act


def digest_of(label, value, tail=b""):
    return b64(sha256(frame(label, value, tail)))


def check_trail(case):
    """Verifies the records of an organization's trail, from the first one on; returns its head."""
    heads, last_act, nonces = [None], None, set()
    for record in case["records"]:
        entry = parse_fields(record["entry"], ENTRY_FIELDS)
        require(entry is not None and is_instant(entry["at"]), "malformed_entry")
        require((entry["previous"] is None) == (entry["sequence"] == 1), "malformed_entry")
        require(not record["acts"] or entry["actor"] == "user", "malformed_entry")
        require(entry["organizationId"] == case["organizationId"], "other_organization")
        require(entry["sequence"] == len(heads), "sequence_gap")
        require(entry["previous"] == heads[-1], "broken_trail")
        if "details" in record or "salt" in record:
            salt = unb64(record.get("salt"), 16)
            require(salt is not None and "details" in record, "other_details")
            digest = digest_of("countersign/trail-details/v2", record["details"], b"\0" + salt)
            require(digest == entry["details"], "other_details")

        acts = [parse_act(each["statement"]) for each in record["acts"]]
        signed = b"".join(signed_parts(each) for each in record["acts"])
        require(b64(sha256(signed)) == entry["acts"], "other_acts")
        for position, act in enumerate(acts):
            check_act(case, entry, record["acts"][position], act, position)
            require(act["nonce"] not in nonces, "act_replayed")
            require(act["role"] == "approve" or act["previousAct"] == last_act, "act_out_of_order")
            sequence = act["trail"]["sequence"]
            require(sequence < len(heads) and heads[sequence] == act["trail"]["head"], "other_trail")
        if acts:
            check_proposal(record.get("proposal"), acts)
            last_act = b64(sha256(record["acts"][0]["statement"].encode()))
        else:
            require("proposal" not in record, "other_proposal")
        nonces |= {act["nonce"] for act in acts}
        heads.append(digest_of("countersign/trail/v2", entry))
    require(heads[-1] == case.get("head", heads[-1]), "trail_cut")


def signed_parts(act):
    presence, signature = unb64(act["presence"], 32), unb64(act["signature"], 64)
    require(presence is not None and signature is not None, "other_acts")
    return sha256(act["statement"].encode()) + presence + signature


def check_act(case, entry, signed, act, position):
    require(act["role"] == ("sign" if position == 0 else "approve"), "other_act")
    is_same = act["organizationId"] == entry["organizationId"] and act["action"] == entry["action"]
    require(is_same, "other_act")
    require(act["issuer"] == case["issuer"], "other_issuer")
    require(act["details"] == entry["details"], "executed_other")
    require(act["at"] <= entry["at"] < act["expiresAt"], "out_of_time")
    key = case["keys"].get(f"{act['identityId']} {act['keyVersion']}")
    require(key is not None, "unknown_key")
    presence = unb64(signed["presence"], 32)
    message = frame("countersign/act/v2", act, b"\0" + presence)
    require(any(presence) and is_signed(unb64(key), unb64(signed["signature"]), message), "invalid_act")


def check_proposal(text, acts):
    act, approvals = acts[0], acts[1:]
    require(len({each["identityId"] for each in acts}) == len(acts), "approved_twice")
    require(len({each["nonce"] for each in acts}) == len(acts), "act_replayed")
    if text is None:
        return require(act["proposal"] is None and not approvals, "other_proposal")
    proposal = parse_fields(text, PROPOSAL_FIELDS)
    require(proposal is not None, "other_proposal")
    lifetime = (proposal["createdAt"], proposal["expiresAt"], LIFETIMES["approve"])
    require(is_lifetime(*lifetime), "other_proposal")
    names = ("issuer", "organizationId", "identityId", "action", "details")
    require(all(proposal[name] == act[name] for name in names), "other_proposal")
    digest = digest_of("countersign/act-proposal/v2", proposal)
    require(all(each["proposal"] == digest for each in acts), "other_proposal")
    for each in acts:
        is_in_time = proposal["createdAt"] <= each["at"] <= act["at"] and each["expiresAt"] <= proposal["expiresAt"]
        require(is_in_time, "out_of_time")


CHECKS = {
    "history": read_history,
    "growth": check_growth,
    "promise": check_promise,
    "approval": check_approval,
    "evidence": check_evidence,
    "trail": check_trail,
}


def result_of(case):
    try:
        CHECKS[case["kind"]](case)
        return "ok"
    except Invalid as error:
        return str(error)


print(json.dumps([result_of(case) for case in json.load(sys.stdin)]))
