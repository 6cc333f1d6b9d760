import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { holdRequest, listenHere } from '#testing/held-request.ts'
import { codeIn, openMailbox } from '#testing/mailbox.ts'
import { createToken, makeOperator, suspend } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const read = async (headers: Record<string, string>, query = '', on = world) => {
  const answer = await on.api.inject({ url: `/api/admin/apps${query}`, headers })
  return [answer.statusCode, answer.statusCode === 200 ? undefined : answer.json().error]
}

test('OPR-05 a session cookie is accepted from pages of the auth host alone, for every method', async () => {
  const { page, sessionToken } = await makeOperator(world, await world.person(), 'owner')
  const { cookie = '' } = page
  assert.deepEqual(await read(page), [200, undefined])
  const foreign: Record<string, string>[] = [
    {},
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: world.config.baseUrl.origin },
    { origin: world.config.businessUrl.origin },
    { origin: `${world.config.authUrl.origin}.evil.example` },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-site' },
    { referer: `${world.config.authUrl.origin}/admin` },
  ]
  for (const headers of foreign) {
    assert.deepEqual(await read({ cookie, ...headers }), [403, 'invalid_origin'], JSON.stringify(headers))
    for (const method of ['POST', 'PATCH', 'DELETE'] as const) {
      const url = method === 'POST' ? '/api/admin/apps' : `/api/admin/apps/${randomUUID()}`
      const answer = await world.api.inject({ method, url, headers: { cookie, ...headers } })
      assert.equal(answer.json().error, 'invalid_origin', method)
    }
  }
  const asBearer = { authorization: `Bearer ${sessionToken}`, origin: world.config.authUrl.origin }
  assert.deepEqual(await read(asBearer), [401, 'invalid_token'])
  assert.deepEqual(await read({ ...page, authorization: 'Basic YTpi' }), [401, 'unauthorized'])
})

test('OPR-05 where both hosts are one origin, its own pages read without Origin, and no other site does', async () => {
  const url = 'https://id.example.com'
  const one = await createWorld({
    environment: { BASE_URL: url, AUTH_URL: url, BUSINESS_URL: 'https://business.example.com', ALLOW_EMBEDDED: '1' },
  })
  try {
    const { cookie = '' } = (await makeOperator(one, await one.person(), 'owner')).page
    assert.deepEqual(await read({ cookie, 'sec-fetch-site': 'same-origin' }, '', one), [200, undefined])
    for (const site of ['same-site', 'cross-site', 'none'])
      assert.deepEqual(await read({ cookie, 'sec-fetch-site': site }, '', one), [403, 'invalid_origin'])
  } finally {
    await one.close()
  }
})

test('OPR-05 a user acts as the identity that they name, and as no identity of another user', async () => {
  const person = await world.person()
  const created = await world.api.inject({
    method: 'POST',
    url: '/api/identities',
    headers: person.headers,
    payload: { handle: 'second-identity', displayName: 'Second' },
  })
  const { identityId: second } = created.json()
  const { page, identityId } = await makeOperator(world, person, 'auditor')
  assert.deepEqual(await read(page), [200, undefined], 'the only operator among the identities')
  assert.deepEqual(await read(page, `?identity_id=${identityId.toUpperCase()}`), [200, undefined])
  assert.deepEqual(await read(page, `?identity_id=${second}`), [403, 'permission_denied'])

  await makeOperator(world, { ...person, handle: 'second-identity' }, 'people')
  assert.deepEqual(await read(page), [400, 'invalid_request'], 'the request does not say as which of two')
  assert.deepEqual(await read(page, `?identity_id=${identityId}`), [200, undefined])
  assert.deepEqual(await read(page, `?identity_id=${second}`), [403, 'permission_denied'], 'another role')
  const stranger = await makeOperator(world, await world.person(), 'owner')
  assert.deepEqual(await read(page, `?identity_id=${stranger.identityId}`), [403, 'permission_denied'])
  for (const text of ['x', '', `${identityId}&identity_id=${second}`])
    assert.equal((await read(page, `?identity_id=${text}`))[0], 400, text)
})

test('OPR-05 an operator or token that is removed while the last byte is on its way changes nothing', async () => {
  const port = await listenHere(world.api)
  const leaver = await makeOperator(world, await world.person(), 'owner')
  const successor = await makeOperator(world, await world.person(), 'owner')
  const { headers: token, tokenId } = await createToken(world, ['apps.manage'], { headers: leaver.page })
  const body = JSON.stringify({ name: 'Late', redirectUris: ['https://late.example/'] })
  const send = (headers: Record<string, string>) =>
    holdRequest(port, {
      method: 'POST',
      path: '/api/admin/apps',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    })
  const held = [await send(leaver.page), await send(token)]
  // The first check of the token has run, and another follows with the last byte.
  const used = world.db.selectFrom('admin_token').select('last_used_at').where('token_id', '=', tokenId)
  while ((await used.executeTakeFirstOrThrow()).last_used_at === null) await pause(10)
  const url = `/api/admin/operators/${leaver.identityId}`
  const removed = await world.api.inject({ method: 'DELETE', url, headers: successor.page })
  assert.equal(removed.statusCode, 204)
  const answers = await Promise.all(held.map((request) => request.finish()))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 401],
  )
  const apps = (await world.api.inject({ url: '/api/admin/apps', headers: world.admin })).body
  assert.ok(!apps.includes('Late'))
})

test('OPR-05 with ADMIN_TOKEN off, operators and admin tokens remain', async () => {
  const closed = await createWorld()
  try {
    const { page } = await makeOperator(closed, await closed.person(), 'owner')
    const { headers } = await createToken(closed, ['apps.read'])
    Object.assign(closed.kernel, { adminToken: undefined })
    assert.deepEqual(await read(closed.admin, '', closed), [401, 'invalid_token'])
    for (const token of ['off', 'undefined'])
      assert.deepEqual(await read({ authorization: `Bearer ${token}` }, '', closed), [401, 'invalid_token'])
    assert.deepEqual(await read(page, '', closed), [200, undefined])
    assert.deepEqual(await read(headers, '', closed), [200, undefined])
  } finally {
    await closed.close()
  }
})

test('OPR-05 the use of ADMIN_TOKEN is mailed to the owners, once an hour of all processes together', async () => {
  const mailbox = await openMailbox()
  const one = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' } })
  const [owner, unverified, auditor] = [await one.person(), await one.person(), await one.person()]
  try {
    await makeOperator(one, owner, 'owner')
    await makeOperator(one, unverified, 'owner')
    await makeOperator(one, auditor, 'auditor')
    for (const { identityId, handle, headers } of [owner, auditor]) {
      const url = `/api/identities/${identityId}/email`
      const post = (to: string, payload: object) => one.api.inject({ method: 'POST', url: to, headers, payload })
      await post(url, { email: `${handle}@example.com` })
      await post(`${url}/verify`, { code: codeIn(await mailbox.take()) })
    }
    one.pass(3600)
    const answers = await Promise.all(Array.from({ length: 8 }, () => read(one.admin, '', one)))
    assert.deepEqual(answers[0], [200, undefined])
    const mail = await mailbox.take()
    assert.deepEqual(mail.to, [`${owner.handle}@example.com`])
    assert.match(mail.subject, /ADMIN_TOKEN/)
    assert.ok(!mail.text.includes(one.admin['authorization']?.slice(7) ?? ''))

    mailbox.refuse(550)
    one.pass(3600)
    assert.deepEqual(await read(one.admin, '', one), [200, undefined], 'a mail server that refuses the mail')
    mailbox.refuse()
    one.pass(3600)
    await read(one.admin, '', one)
    await mailbox.take()
    assert.equal(mailbox.count(), 0, 'one mail an hour')
  } finally {
    await one.close()
    await mailbox.close()
  }
})

test('OPR-11 a use of ADMIN_TOKEN more than an hour after the last mail is mailed, to active owners', async () => {
  const mailbox = await openMailbox()
  const one = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' } })
  try {
    const [owner, suspended] = [await one.person(), await one.person()]
    for (const person of [owner, suspended]) {
      await makeOperator(one, person, 'owner')
      const url = `/api/identities/${person.identityId}/email`
      const post = (to: string, payload: object) =>
        one.api.inject({ method: 'POST', url: to, headers: person.headers, payload })
      await post(url, { email: `${person.handle}@example.com` })
      await post(`${url}/verify`, { code: codeIn(await mailbox.take()) })
    }
    await suspend(one, suspended)
    one.pass(3600 + 40 * 60)
    await read(one.admin, '', one)
    assert.deepEqual((await mailbox.take()).to, [`${owner.handle}@example.com`])
    one.pass(30 * 60)
    await read(one.admin, '', one)
    assert.equal(mailbox.count(), 0, 'half an hour later, which is in the next hour of the clock')
    one.pass(35 * 60)
    await read(one.admin, '', one)
    assert.deepEqual((await mailbox.take()).to, [`${owner.handle}@example.com`])
    assert.equal(mailbox.count(), 0)
  } finally {
    await one.close()
    await mailbox.close()
  }
})

test('OPR-05 the use of ADMIN_TOKEN is in the audit log, once an hour', async () => {
  const uses = async () => {
    const { entries } = (await world.api.inject({ url: '/api/admin/audit?limit=100', headers: world.admin })).json()
    return entries.filter(({ action }: { action: string }) => action === 'admin_token.break_glass_used').length
  }
  const before = await uses()
  assert.equal(await uses(), before)
  world.pass(3600)
  await uses()
  assert.equal(await uses(), before + 1)
})
