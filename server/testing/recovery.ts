import assert from 'node:assert/strict'
import { advanceDue } from '#accounts/recovery-links/completion.ts'
import { type Authenticator, createAuthenticator } from './authenticator.ts'
import type { Mailbox } from './mailbox.ts'
import { verifyAddress } from './people.ts'
import type { Person, TestWorld } from './world.ts'

const week = 7 * 24 * 3600
export const day = 24 * 3600

type Named = Pick<Person, 'identityId'>
type Sent = { method: 'GET' | 'POST' | 'DELETE'; headers?: Record<string, string>; payload?: object }

/** Sends a request to the API. `body` is empty if the answer is. */
export async function send(world: TestWorld, url: string, { method, headers = {}, payload }: Sent) {
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, text: answer.body, body: answer.body === '' ? {} : answer.json() }
}

/** Mails a recovery link to an identity, as ADMIN_TOKEN unless other headers are given. */
export const issue = (world: TestWorld, { identityId }: Named, headers: Record<string, string> = world.admin) =>
  send(world, `/api/admin/identities/${identityId}/recovery-links`, {
    method: 'POST',
    headers,
    payload: { delivery: 'mail', reason: 'Lost the phone' },
  })

/** Returns the secrets in a mail: that of the recovery link, if it has one, and that which stops the recovery. */
export const secretsIn = ({ text }: { text: string }) => ({
  token: /recover\/link#(cs_rl_[\w-]+)/.exec(text)?.[1] ?? '',
  stop: /recover\/stop#(cs_rs_[\w-]+)/.exec(text)?.[1] ?? '',
})

/** Verifies an address of an identity, a week ago. A session lives on, because it is used. */
export async function verifiedAWeekAgo(
  world: TestWorld,
  mailbox: Mailbox,
  { person, email = `${person.handle}@example.org` }: { person: Person; email?: string },
): Promise<string> {
  await verifyAddress(world, mailbox, person, email)
  world.pass(week)
  return email
}

/** Issues a recovery link to an address of the identity that is a week old. */
export async function mailedLink(world: TestWorld, mailbox: Mailbox, person: Person) {
  await verifiedAWeekAgo(world, mailbox, { person })
  const { status, text, body } = await issue(world, person)
  assert.equal(status, 201, text)
  const recoveryLinkId: string = body.recoveryLinkId
  return { recoveryLinkId, ...(await takeLink(mailbox)) }
}

/** Takes the mail with a recovery link. An owner gets mails about ADMIN_TOKEN before it. */
async function takeLink(mailbox: Mailbox) {
  for (;;) {
    const secrets = secretsIn(await mailbox.take())
    if (secrets.token !== '') return secrets
  }
}

export const startRedemption = (world: TestWorld, token: string) =>
  send(world, '/api/recovery-links/redemption/start', { method: 'POST', payload: { token } })

/** Uses a recovery link with a new authenticator, or with that of a test. */
export async function redeem(world: TestWorld, token: string, authenticator: Authenticator = newAuthenticator(world)) {
  const { status, text, body } = await startRedemption(world, token)
  assert.equal(status, 200, text)
  const payload = { token, flowId: body.flowId, credential: authenticator.register(body.options) }
  const finished = await send(world, '/api/recovery-links/redemption/finish', { method: 'POST', payload })
  return { authenticator, ...finished }
}

export const newAuthenticator = ({ config }: TestWorld) =>
  createAuthenticator({ origin: config.authUrl.origin, rpId: config.relyingPartyId })

/** Signs in with a passkey. */
export async function signIn(world: TestWorld, authenticator: Authenticator) {
  const started = await send(world, '/api/auth/login/start', { method: 'POST', payload: {} })
  const { flowId, options } = started.body
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const answer = await send(world, '/api/auth/login/finish', { method: 'POST', payload })
  return { ...answer, headers: { authorization: `Bearer ${answer.body.sessionToken}` } }
}

/** Recovers an identity, from its mailed link to the end of the cooling-off. */
export async function recover(world: TestWorld, mailbox: Mailbox, person: Person) {
  const link = await mailedLink(world, mailbox, person)
  const { status, text, authenticator } = await redeem(world, link.token)
  assert.equal(status, 200, text)
  world.pass(day)
  await advanceDue(world.services)
  return { ...link, authenticator }
}
