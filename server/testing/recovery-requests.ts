import { advanceDue } from '#accounts/recovery-links/completion.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { anything, bearer, newAddress, type RequestClient } from './request-client.ts'
import { resetOf, storeKeys } from './key-reset.ts'
import { newAuthenticator, signIn } from './recovery.ts'
import { createSigner } from './signer.ts'
import type { Person } from './world.ts'

/** Issues recovery links, cancels and stops some, and completes others, which their users accept. */
export async function recover(client: RequestClient): Promise<void> {
  const { world, send } = client
  const { admin } = world
  const cancelled = await mailedLink(client, await world.person())
  await send(admin, `GET ${cancelled.url}`)
  await send(admin, `GET ${cancelled.listUrl}`)
  await send(admin, `DELETE ${cancelled.url}`)
  const second = await world.person()
  const { recoveryLinkId } = await mailedLink(client, second)
  await send(bearer(second.sessionToken), 'GET /api/account/recovery-links')
  await send(bearer(second.sessionToken), `DELETE /api/account/recovery-links/${recoveryLinkId}`)
  const { stop } = await mailedLink(client, await world.person())
  await send({}, 'POST /api/recovery-links/stop', { stop })
  const third = await world.person()
  const accepted = await completed(client, third)
  await send(await third.signIn(), `POST /api/account/recovery-links/${accepted.recoveryLinkId}/acceptance`, {})
  await undo(client)
  const fourth = await world.person()
  const recoveryAuth = anything()
  await send(bearer(fourth.sessionToken), 'PUT /api/account/recovery', { recoveryAuth, ciphertext: 'sealed' })
  const { authenticator } = await completed(client, fourth)
  const { flowId, options } = await send({}, 'POST /api/auth/login/start', {})
  const credential = authenticator.authenticate(options)
  const { sessionToken } = await send({}, 'POST /api/auth/login/finish', { flowId, credential })
  await send(bearer(sessionToken), 'POST /api/account/recovery-limit/lift', { recoveryAuth })
  await reset(client)
}

/** Undoes a recovery whose passkey has connected apps. */
async function undo(client: RequestClient): Promise<void> {
  const { world, send } = client
  const person = await world.person()
  const { authenticator, recoveryLinkId } = await completed(client, person)
  const { headers } = await signIn(world, authenticator)
  for (let count = 0; count < 3; count += 1) await (await world.app()).code({ ...person, headers })
  await send(await person.signIn(), `DELETE /api/account/recovery-links/${recoveryLinkId}`)
}

/** Resets the keys of a user whose recovery has settled, and leaves those of another one. */
async function reset(client: RequestClient): Promise<void> {
  const { world, send } = client
  await settled(client)
  const owner = await settled(client)
  await send(owner.headers, 'POST /api/account/keys/reset', await resetOf(world, owner))
  // Gives the new entry its index. Otherwise all others would resemble entries without one.
  await send({}, 'GET /api/transparency/checkpoint')
}

/** Recovers a user who has lost all keys, until the hold is over, and signs in with the new passkey. */
async function settled(client: RequestClient) {
  const { world } = client
  const lost = await createSigner(world)
  await storeKeys(world, lost)
  const { authenticator, recoveryLinkId } = await completed(client, lost)
  await world.db
    .updateTable('recovery_link')
    .set({ hold_until: world.now(), attempt_at: world.now() })
    .where('user_id', '=', lost.userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .execute()
  await advanceDue(world.services)
  const { headers } = await signIn(world, authenticator)
  return { ...lost, authenticator, headers }
}

/** Issues a link to an address that is old enough. Its secrets, which only a mail has, are replaced by known ones. */
async function mailedLink(
  { world, send }: RequestClient,
  { userId, identityId }: Pick<Person, 'userId' | 'identityId'>,
) {
  const { admin, db } = world
  const { identity } = await send(admin, `GET /api/admin/identities/${identityId}`)
  const replacing = { ...admin, 'if-match': `"${identity.version}"` }
  await send(replacing, `PATCH /api/admin/identities/${identityId}`, { email: newAddress() })
  const verified = { email_verified: true, email_verified_at: new Date(0), recovery_email_since: new Date(0) }
  await db.updateTable('identity').set(verified).where('identity_id', '=', identityId).execute()
  const url = `/api/admin/identities/${identityId}/recovery-links` as const
  const made = await send(admin, `POST ${url}`, { delivery: 'mail', reason: 'Lost the phone' })
  const recoveryLinkId: string = made.recoveryLinkId
  const [token, stop] = [generateToken('recoveryLink'), generateToken('recoveryStop')]
  await db
    .updateTable('recovery_link')
    .set({ token_sha256: sha256(token), stop_sha256: sha256(stop) })
    .where('user_id', '=', userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .execute()
  return { listUrl: url, url: `${url}/${recoveryLinkId}` as const, recoveryLinkId, token, stop }
}

/** Redeems a link, and ends its cooling-off. */
async function completed(client: RequestClient, person: Person) {
  const { world, send } = client
  const { token, recoveryLinkId } = await mailedLink(client, person)
  const { flowId, options } = await send({}, 'POST /api/recovery-links/redemption/start', { token })
  const authenticator = newAuthenticator(world)
  const credential = authenticator.register(options)
  await send({}, 'POST /api/recovery-links/redemption/finish', { token, flowId, credential })
  const due = { completes_at: world.now(), attempt_at: world.now() }
  await world.db
    .updateTable('recovery_link')
    .set(due)
    .where('user_id', '=', person.userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .execute()
  await advanceDue(world.services)
  return { authenticator, recoveryLinkId }
}
