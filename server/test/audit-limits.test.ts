import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { openEnterprise } from '#testing/enterprise.ts'
import { makeEveryRequest } from '#testing/every-request.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import type { TestWorld } from '#testing/world.ts'
import { readActs } from '../../tools/growth.ts'

const acts = readActs(readFileSync(join(import.meta.dirname, '../../docs/security/growth.md'), 'utf8'))

/** Audit events that a request has added, and the rate limits that it counted. */
type Made = { request: string; counted: Set<string>; recorded: { action: string; actor: string }[] }

let mailbox: Mailbox
let enterprise: Awaited<ReturnType<typeof openEnterprise>>
const requests: Made[] = []
let counted = new Set<string>()
const known = new Set<string>()
/** What operators and directories were answered, and all IDs that there ever were of an account and parts of it. */
const toOperators: { request: string; body: string }[] = []
const ofAccounts = new Set<string>()

before(async () => {
  mailbox = await openMailbox()
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' }
  const count = async (what: string) => void counted.add(what.replaceAll(' ', '-'))
  enterprise = await openEnterprise({ environment, rateLimits: { count, check: async () => {} } })
  const { api, auth, business } = enterprise.world
  for (const host of [api, auth, business]) host.inject = new Proxy(host.inject, { apply: makeAndNote })
  await makeEveryRequest(enterprise, mailbox)
})
after(async () => {
  await enterprise.close()
  await mailbox.close()
})

/** Makes a request and records its effects. Requests run one after another. */
async function makeAndNote(inject: TestWorld['api']['inject'], host: unknown, [requested]: [Requested]) {
  counted = new Set()
  const answer: unknown = await Reflect.apply(inject, host, [requested])
  const entries = await enterprise.world.db.selectFrom('audit_event').select(['event_id', 'action', 'actor']).execute()
  const recorded = entries.filter(({ event_id: id }) => !known.has(id))
  for (const { event_id: id } of recorded) known.add(id)
  const request = `${requested.method ?? 'GET'} ${requested.url}`
  requests.push({ request, counted, recorded })
  if (/^\/(api\/admin|scim)\//.test(requested.url)) toOperators.push({ request, body: bodyOf(answer) })
  await noteAccounts()
  return answer
}

function bodyOf(answer: unknown): string {
  assert.ok(typeof answer === 'object' && answer !== null && 'body' in answer && typeof answer.body === 'string')
  return answer.body
}

async function noteAccounts(): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select user_id::text as id from user_account union all select session_id::text from session
    union all select credential_id from passkey_credential`.execute(enterprise.world.db)
  for (const { id } of rows) ofAccounts.add(id)
}

type Requested = { method?: string; url: string }

/** Lists each action that a request has recorded without counting, or consuming, what its row names. */
function findUncounted(): string[] {
  const available = new Map<string, number>()
  const uncounted = new Map<string, number>()
  const add = (to: Map<string, number>, name: string) => to.set(name, (to.get(name) ?? 0) + 1).get(name) ?? 0
  return requests.flatMap((made) => {
    for (const name of made.counted) add(available, name)
    return made.recorded.flatMap(({ action, actor }) => {
      add(available, action)
      const row = acts.find(({ act }) => act === action)
      if (actor === 'operator' || (actor === 'system' && row?.isOfService)) return []
      if (!row?.isOfCallers) return [`${made.request} records ${action} of callers, and its row names none`]
      if (row.counted.some((name) => made.counted.has(name))) return []
      const most = row.taken.reduce((sum, name) => sum + (available.get(name) ?? 0), 0)
      return add(uncounted, action) <= most
        ? []
        : [`${made.request} records ${action}, and counts nothing that bounds it`]
    })
  })
}

test('GRW-24 a request that adds to the audit log has counted a limit, or consumed what another counted', () => {
  const recorded = new Set(requests.flatMap((made) => made.recorded.map(({ action }) => action)))
  assert.ok(recorded.size > 80, `${recorded.size} kinds of acts were recorded`)
  assert.deepEqual(findUncounted(), [])
})

test('OPR-10 no answer to an operator or a directory has an ID of an account, a session or a passkey', () => {
  const different = new Set(toOperators.map(({ request }) => request))
  assert.ok(different.size > 150 && ofAccounts.size > 100, `${different.size} requests, ${ofAccounts.size} IDs`)
  // IDs are UUIDs, or text of base64url.
  const found = toOperators.flatMap(({ request, body }) =>
    (body.match(/[\w-]{22,}/g) ?? []).filter((id) => ofAccounts.has(id)).map((id) => `${request}: ${id}`),
  )
  assert.deepEqual(found, [])
})
