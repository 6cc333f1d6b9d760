import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { openEnterprise, refusalIn, sessionOf, type Enterprise } from '#testing/enterprise.ts'
import { replaceQueries, textOf } from '#testing/interruption.ts'
import { isShared } from '#testing/lock-waits.ts'

let enterprise: Enterprise
let acme: Awaited<ReturnType<Enterprise['organization']>>
let connectionId: string
/** Statement that another process commits while the next sign-in waits for its organization. */
let interruption: string | undefined

const interrupt = replaceQueries((query, args) => {
  const text = textOf(args[0])
  if (interruption === undefined || !/from "?organization"? .*for (?:update|share)/s.test(text)) return query(...args)
  const statement = interruption
  interruption = undefined
  // On the embedded database it becomes a part of the sign-in.
  const happen = isShared
    ? enterprise.world.db.executeQuery<object>(CompiledQuery.raw(statement))
    : Promise.resolve(query(statement))
  return happen.then(() => query(...args))
})

before(async () => {
  enterprise = await openEnterprise({ between: interrupt })
  acme = await enterprise.organization(await enterprise.world.person())
  await enterprise.verifyDomain(acme, 'acme.example')
  ;({ connectionId } = await enterprise.connect(acme, { domains: ['acme.example'] }))
})
after(() => enterprise.close())

type Colleague = Awaited<ReturnType<Enterprise['colleague']>>

/** Lets the provider name a user in a new browser, and completes the sign-in while `statement` is committed. */
async function completeDuring(statement: string, claims: Colleague['claims']) {
  const browser = enterprise.browser()
  const { location = '' } = (await browser.start(connectionId)).headers
  const answered = await browser.get(enterprise.upstream.approve(location, claims).href)
  interruption = statement
  const completed = await browser.get(answered.headers.location ?? '')
  assert.equal(interruption, undefined)
  assert.equal((await sessionOf(browser)).error, 'unauthorized')
  return completed
}

test('SSO-08 a link that passes to another member while a login completes signs no one in', async () => {
  const [former, next] = [await enterprise.colleague(connectionId), await enterprise.colleague(connectionId)]
  const passed = `update sso_link set (member_id, identity_id) = (
    select member_id, identity_id from organization_member where identity_id = '${next.person.identityId}'
  ) where connection_id = '${connectionId}' and subject = '${former.claims.sub}'`
  const completed = await completeDuring(passed, former.claims)
  assert.equal(new URL(completed.headers.location ?? '').pathname, '/sso/link')
})

test('SSO-09 a connection that is disabled while a login completes signs no user in', async () => {
  const { claims } = await enterprise.colleague(connectionId)
  const disabled = `update sso_connection set enabled = false where connection_id = '${connectionId}'`
  assert.deepEqual(refusalIn(await completeDuring(disabled, claims)), [404, 'sso_connection_unavailable'])
})
