import type { AccountExport } from '@countersign/protocol/accounts/account'
import { listAppsOf, toApp } from '#clients/registration/app.ts'
import { readActivity } from '#platform/audit/activity.ts'
import { listAuthorizations, readGrants } from '#oauth/consents/consent.ts'
import { listDelegations, listUses } from '#oauth/delegation/delegation.ts'
import { readIdentityKey } from '#accounts/keys/encryption-key.ts'
import { listKeyWraps } from '#accounts/keys/key-wrap.ts'
import { recoverySince } from '#accounts/keys/recovery-code.ts'
import { readUnprovedEmail } from '#accounts/identities/email.ts'
import { listFormerHandles } from '#accounts/identities/handle.ts'
import { listIdentities, personSince } from '#accounts/identities/identity.ts'
import type { Database } from '#platform/database/database.ts'
import { exportMemberships } from '#organizations/members/organization.ts'
import { listPasskeys } from '#accounts/passkeys/passkey.ts'
import { listSessions, type Session } from '#accounts/sessions/session.ts'
import { listSigningKeys } from '#signing/keys/key.ts'
import { readOrganizationSignatures } from '#signing/requests/organization-request.ts'
import { readAllRequests } from '#signing/requests/request-export.ts'
import { findWebhook } from '#clients/webhooks/endpoint.ts'

type Identity = AccountExport['identities'][number]

/**
 * Everything that the service holds about a person, but the hashes that it checks secrets by: the text of an
 * `AccountExport`, in pieces. What may be of any size is read a page at a time while it is sent, so that neither memory
 * nor a connection to the database is taken up by it.
 */
export async function* exportAccount(db: Database, session: Session, now: Date): AsyncGenerator<string> {
  const { userId } = session
  yield* objectOf<AccountExport>({
    exportedAt: now.toISOString(),
    user: { userId, createdAt: (await personSince(db, userId)).toISOString() },
    identities: listOf(exportIdentities(db, userId, now)),
    passkeys: await listPasskeys(db, userId),
    sessions: await listSessions(db, session, now),
    keyWraps: await listKeyWraps(db, userId),
    recoveryCodeSince: (await recoverySince(db, userId))?.toISOString() ?? null,
    authorizations: await listAuthorizations(db, userId),
    delegations: textsOf(exportDelegations(db, session)),
    apps: textsOf(exportApps(db, session)),
    organizations: await exportMemberships(db, userId),
    activity: textsOf(readActivity(db, userId)),
  })
}

async function* exportIdentities(db: Database, userId: string, now: Date): AsyncGenerator<Pieces> {
  for (const identity of await listIdentities(db, userId)) {
    const { identityId } = identity
    yield objectOf<Identity>({
      ...identity,
      unprovedEmail: await readUnprovedEmail(db, identityId, now),
      formerHandles: await listFormerHandles(db, identityId, now),
      signingKeys: await listSigningKeys(db, identityId),
      encryptionKey: await readIdentityKey(db, identityId),
      signingRequests: textsOf(readAllRequests(db, identityId)),
      organizationSignatures: textsOf(readOrganizationSignatures(db, identityId)),
      grants: textsOf(readGrants(db, identityId, now)),
    })
  }
}

async function* exportDelegations(db: Database, session: Session): AsyncGenerator<AccountExport['delegations']> {
  for (const delegation of await listDelegations(db, session))
    yield [{ ...delegation, uses: await listUses(db, session, delegation.id) }]
}

async function* exportApps(db: Database, session: Session): AsyncGenerator<AccountExport['apps']> {
  for (const app of await listAppsOf(db, session.userId))
    yield [{ ...toApp(app), webhook: await findWebhook(db, app.clientId) }]
}

/** The text of something, in pieces. `Of` is what it is the text of. */
type Pieces<Of = unknown> = AsyncGenerator<string, void> & { of?: Of }

/** The text of an object, from its members: each as it is, or as the pieces of its text. */
async function* objectOf<Whole>(members: { [Name in keyof Whole]: Whole[Name] | Pieces<Whole[Name]> }): Pieces<Whole> {
  let before = '{'
  for (const [name, member] of Object.entries<unknown>(members)) {
    yield `${before}${JSON.stringify(name)}:`
    if (isPieces(member)) yield* member
    else yield JSON.stringify(member)
    before = ','
  }
  yield '}'
}

/** The text of a list, from the texts of its items. */
async function* listOf(items: AsyncIterable<Pieces>): Pieces<never> {
  let before = '['
  for await (const item of items) {
    yield before
    yield* item
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

/** The text of a list, from pages of its items. */
async function* textsOf<Item>(pages: AsyncIterable<Item[]>): Pieces<Item[]> {
  let before = '['
  for await (const items of pages)
    if (items.length > 0) {
      yield before + items.map((item) => JSON.stringify(item)).join(',')
      before = ','
    }
  yield before === '[' ? '[]' : ']'
}

function isPieces(member: unknown): member is Pieces {
  return typeof member === 'object' && member !== null && Symbol.asyncIterator in member
}
