"""Runs scim2-tester against a service, and prints each result other than a success as a line of JSON."""

import json
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

url, token = sys.argv[1:]
client = Client(base_url=url, headers={"Authorization": f"Bearer {token}"})
results = check_server(SyncSCIMClient(client))
for result in results:
    if result.status is not Status.SUCCESS:
        print(json.dumps({"status": result.status.name, "title": result.title, "reason": result.reason}))
print(json.dumps({"count": len(results)}))
