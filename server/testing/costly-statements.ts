const blocksMax = 50

/**
 * Statements that read more blocks, none of them of other users: the number with ten of each thing, and what they are.
 * Without a request, any may be the one that executes it.
 */
const costly: { request?: string; statement: RegExp; blocksMax: number; why: string }[] = [
  {
    request: 'GET /api/oauth/delegations',
    statement: /^select "delegation_id"/,
    blocksMax: 200,
    why: 'Ten delegations, each with its source app, its resource and its target app.',
  },
  {
    request: 'GET /api/developer/apps',
    statement: /^select "app"\."client_id"/,
    blocksMax: 150,
    why: 'Ten apps, each with its secrets and with when these end.',
  },
  {
    request: 'GET /api/admin/apps',
    statement: /^select "app"\."client_id"/,
    blocksMax: 150,
    why: 'A page of five apps of the operator and the one after it, each with its secrets and with when these end.',
  },
  ...['GET /api/admin/audit', 'GET /api/admin/audit/export'].map((request) => ({
    request,
    statement: /^select "event_id"/,
    blocksMax: 1500,
    why: 'A filter without an index examines 1,000 events at most, here each in a block of its own.',
  })),
  ...['GET /api/admin/audit', 'GET /api/admin/audit/export', 'GET /api/admin/audit/stream'].map((request) => ({
    request,
    statement: /^\s*select identity_id as id, handle as name/,
    blocksMax: 300,
    why: 'The usernames of the identities of a page, here some thirty, each found by its ID.',
  })),
  {
    request: 'GET /api/admin/audit/stream',
    statement: /^select "event_id"/,
    blocksMax: 300,
    why: 'A read of 100 events at most, each in a block of its own.',
  },
  {
    statement: /^select email from operator join identity/,
    blocksMax: 100,
    why: 'All owners, some twenty here, with their addresses: a receiver of the audit log was changed.',
  },
  ...[
    ...['GET /api/admin/audit', 'GET /api/admin/audit/export', 'GET /api/admin/audit/verify'],
    'GET /api/admin/audit/stream',
    ...['PATCH /api/admin/sinks/:sinkId', 'PUT /api/admin/sinks/:sinkId/cursor', 'DELETE /api/admin/sinks/:sinkId'],
    'POST /api/admin/sinks/:sinkId/test',
  ].map((request) => ({
    request,
    statement: /^update audit_event set sequence|^insert into audit_chain/,
    blocksMax: 12_000,
    why: 'Up to 500 events of the last second that no process has numbered, each in all indexes.',
  })),
  {
    request: 'GET /api/admin/audit/verify',
    statement: /^select "event_id"/,
    blocksMax: 100,
    why: 'Twenty events, each in a block of its own.',
  },
  {
    request: 'GET /api/organizations/:organizationId/trail',
    statement: /^insert into "organization_trail"/,
    blocksMax: 500,
    why: 'Some fifty events of the organization, each in two indexes of the trail.',
  },
  {
    request: 'GET /api/organizations/:organizationId/trail',
    statement: /"organization_trail(_pending)?"|from "audit_event" where event_id = any/,
    blocksMax: 300,
    why: 'Some fifty events of the organization, each with its place in the trail and its audit event.',
  },
  {
    request: 'GET /api/signing/requests',
    statement: /^select "signing_request"\."identity_id"/,
    blocksMax: 300,
    why: 'Thirteen requests, each with its app and with the consent to it.',
  },
  {
    request: 'GET /api/signing/requests',
    statement: /^select "signing_organization_request"\."organization_id"|^select "identity_id" as "identityId"/,
    blocksMax: 150,
    why: 'Thirteen requests to an organization, each with its app, whether that acts for it, and what was signed.',
  },
  {
    request: 'GET /api/oauth/authorizations',
    statement: /^select "authorization_id"/,
    blocksMax: 100,
    why: 'Thirteen consents, each with its app.',
  },
  {
    request: 'GET /api/developer/apps/:clientId/usage',
    statement: /^insert into app_usage/,
    blocksMax: 1000,
    why: 'A timer adds the counts of all apps that had requests in the last two seconds, and not the request.',
  },
  {
    request: 'PUT /api/signing/keys/:identityId',
    statement: /^update "signing_request"|^insert into webhook_delivery/,
    blocksMax: 250,
    why: 'Twelve requests are pending for the old key: each expires, in all indexes, and its app is notified.',
  },
  {
    request: 'DELETE /api/account',
    statement: /^update "identity_handle"/,
    blocksMax: 250,
    why: 'Ten identities with eleven handles, each changed in all indexes.',
  },
  {
    request: 'DELETE /api/account',
    statement: /^delete from "identity_term"/,
    blocksMax: 400,
    why: 'The terms of ten identities, some ten each.',
  },
  {
    request: 'DELETE /api/account',
    statement: /^with counted as/,
    blocksMax: 100,
    why: 'What apps know of eleven identities: counted, and then deleted, both by their IDs.',
  },
  {
    request: 'GET /api/admin/identities',
    statement: /^with read as|^select count\(\*\)/,
    blocksMax: 6000,
    why: 'A page reads a limited number of rows and looks up some ten index blocks for each, at any number of users.',
  },
  {
    request: 'POST /api/admin/groups/:groupId/members/batch',
    statement: /^insert into|^with/,
    blocksMax: 250,
    why: 'Ten members, each with an audit event in all indexes.',
  },
  {
    statement: /^select "sso_connection".*sso_group_rule/,
    blocksMax: 250,
    why: 'Those who manage a connection see its ten rules, each with its group.',
  },
  {
    statement: /^insert into "sso_group_rule"/,
    blocksMax: 100,
    why: 'Ten rules, each in two indexes.',
  },
  ...['POST /api/sso/arrivals/:flowId/link', 'GET /api/sso/:connectionId/arrive'].map((request) => ({
    request,
    statement: /^(insert into|delete from) "?(group_member|audit_event)/,
    blocksMax: 250,
    why: 'The provider of an organization names ten groups, each with rows and an audit event in all indexes.',
  })),
  {
    request: 'PUT /api/admin/apps/:clientId/roles',
    statement: /^insert into|^select "role_key"/,
    blocksMax: 250,
    why: 'Ten users with two roles each: a row and an audit event in all indexes for each, and the names of all ten.',
  },
  {
    request: 'GET /api/admin/operators',
    statement: /^select/,
    blocksMax: 250,
    why: 'All operators, 200 at most, each with the names of their identity.',
  },
  {
    request: 'GET /api/admin/health',
    statement: /select/,
    blocksMax: 1100,
    why: 'The last 500 waiting deliveries or mails at most, and all owners, 200 at most, with their identities.',
  },
  {
    request: 'GET /api/admin/overview',
    statement: /select/,
    blocksMax: 6000,
    why: 'Each of four counts ends at 10,000 rows, at any number of users.',
  },
  {
    statement: /^update operator set break_glass_mailed_at/,
    blocksMax: 100,
    why: 'All owners, some twenty here, with their addresses: ADMIN_TOKEN was used, for the first time in a minute.',
  },
  {
    request: 'GET /api/organizations/:organizationId/audit/export',
    statement: /^select "event_id"/,
    blocksMax: 400,
    why: "The whole audit log of the caller's organization, each entry with its actor.",
  },
  {
    request: 'GET /api/signing/requests/:requestId/receipt',
    statement: /^update transparency_leaf/,
    blocksMax: 100,
    why: 'The first reader of the log assigns indexes to the few pending leaves; 500 at most.',
  },
  {
    request: 'GET /api/transparency/checkpoint',
    statement: /^update transparency_leaf/,
    blocksMax: 100,
    why: 'The same.',
  },
]

/** Returns the maximum of blocks that a statement of a request may read. */
export function mostOf(request: string, text: string): number {
  const exception = costly.find((one) => (one.request ?? request) === request && one.statement.test(text))
  return exception?.blocksMax ?? blocksMax
}
