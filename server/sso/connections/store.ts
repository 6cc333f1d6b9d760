import type { Database, Transaction } from '#platform/database/database.ts'

const connection = [
  'sso_connection.connection_id as connectionId',
  'sso_connection.organization_id as organizationId',
  'name',
  'settings',
  'sealed_secret as sealedSecret',
  'enabled',
  'domains',
  'tested_at as testedAt',
  'sso_connection.created_at as createdAt',
  'updated_at as updatedAt',
] as const

export type ConnectionRow = NonNullable<Awaited<ReturnType<typeof findConnection>>>

/** Connections, with what is known of the directory that says who may come, and the key that is published for them. */
function connections(db: Database) {
  return db
    .selectFrom('sso_connection')
    .leftJoin('sso_provisioning', 'sso_provisioning.connection_id', 'sso_connection.connection_id')
    .leftJoin('sso_encryption_key', (join) =>
      join.onRef('sso_encryption_key.connection_id', '=', 'sso_connection.connection_id').on('ends_at', 'is', null),
    )
    .leftJoin('organization_sso_confirmation as confirmation', (join) =>
      join
        .onRef('confirmation.organization_id', '=', 'sso_connection.organization_id')
        .onRef('confirmation.connection_id', '=', 'sso_connection.connection_id'),
    )
    .select(connection)
    .select(['subject_by as subjectBy', 'token_created_at as tokenCreatedAt', 'certificate as encryptionCertificate'])
    .select('confirmed_at as confirmedAt')
}

export function findConnection(db: Database, connectionId: string) {
  return connections(db).where('sso_connection.connection_id', '=', connectionId).executeTakeFirst()
}

/** The connections of an organization, the oldest first. */
export function listConnections(db: Database, organizationId: string) {
  return connections(db)
    .where('sso_connection.organization_id', '=', organizationId)
    .orderBy('sso_connection.created_at')
    .orderBy('sso_connection.connection_id')
    .execute()
}

/** What is written of a connection. */
type Stated = Omit<ConnectionRow, 'subjectBy' | 'tokenCreatedAt' | 'encryptionCertificate' | 'confirmedAt'>

export async function insertConnection(tx: Transaction, inserted: Stated): Promise<void> {
  await tx
    .insertInto('sso_connection')
    .values({
      ...settingsOf(inserted),
      connection_id: inserted.connectionId,
      organization_id: inserted.organizationId,
      created_at: inserted.createdAt,
    })
    .execute()
}

export async function updateConnection(tx: Transaction, changed: Stated): Promise<void> {
  await tx
    .updateTable('sso_connection')
    .set(settingsOf(changed))
    .where('connection_id', '=', changed.connectionId)
    .execute()
}

/** What may change of a connection. */
function settingsOf({ name, settings, sealedSecret, enabled, domains, testedAt, updatedAt }: Stated) {
  const stated = { name, settings: JSON.stringify(settings), enabled, domains }
  return { ...stated, sealed_secret: sealedSecret, tested_at: testedAt, updated_at: updatedAt }
}

/** Notes a test that succeeded; undefined where the connection is gone. */
export function setTested(tx: Transaction, connectionId: string, now: Date) {
  return tx
    .updateTable('sso_connection')
    .set({ tested_at: now })
    .where('connection_id', '=', connectionId)
    .returning('connection_id')
    .executeTakeFirst()
}

export async function deleteConnection(tx: Transaction, connectionId: string): Promise<void> {
  await tx.deleteFrom('sso_connection').where('connection_id', '=', connectionId).execute()
}

/** The client secrets there are, for who seals them anew. */
export function listSealedSecrets(db: Database) {
  return db
    .selectFrom('sso_connection')
    .select(['connection_id as connectionId'])
    .select(({ ref }) => ref('sealed_secret').$notNull().as('sealedSecret'))
    .where('sealed_secret', 'is not', null)
    .execute()
}

/** Puts a sealed secret in the place of the same one, unless it was changed meanwhile. */
export async function replaceSealed(db: Database, connectionId: string, earlier: string, sealed: string) {
  await db
    .updateTable('sso_connection')
    .set({ sealed_secret: sealed })
    .where('connection_id', '=', connectionId)
    .where('sealed_secret', '=', earlier)
    .execute()
}

const flow = [
  'flow_id as flowId',
  'connection_id as connectionId',
  'purpose',
  'sealed_memory as sealedMemory',
  'return_to as returnTo',
  'started_elsewhere as startedElsewhere',
  'subject',
  'email',
  'email_verified as emailVerified',
  'display_name as displayName',
] as const

type NewFlow = {
  flowId: string
  connectionId: string
  purpose: 'sign in' | 'test'
  step: 'offered' | 'begun'
  stateSha256: Uint8Array
  browserSha256?: Uint8Array
  sealedMemory?: string
  returnTo?: string
  startedElsewhere?: boolean
  expiresAt: Date
}

export async function insertFlow(db: Database, inserted: NewFlow): Promise<void> {
  await db
    .insertInto('sso_flow')
    .values({
      flow_id: inserted.flowId,
      connection_id: inserted.connectionId,
      purpose: inserted.purpose,
      step: inserted.step,
      state_sha256: inserted.stateSha256,
      browser_sha256: inserted.browserSha256 ?? null,
      sealed_memory: inserted.sealedMemory ?? null,
      return_to: inserted.returnTo ?? null,
      started_elsewhere: inserted.startedElsewhere ?? false,
      expires_at: inserted.expiresAt,
    })
    .execute()
}

/** Takes out a test that was offered, once; false where there is none. */
export async function takeOffer(db: Database, connectionId: string, stateSha256: Uint8Array, now: Date) {
  const { numDeletedRows } = await db
    .deleteFrom('sso_flow')
    .where('state_sha256', '=', stateSha256)
    .where('connection_id', '=', connectionId)
    .where('step', '=', 'offered')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

type Answered = { connectionId: string; stateSha256: Uint8Array; browserSha256: Uint8Array }

/** Takes a sign-in from its beginning to the provider's answer, once; undefined where none of this browser waits. */
export function takeAnswered(db: Database, { connectionId, stateSha256, browserSha256 }: Answered, now: Date) {
  return db
    .updateTable('sso_flow')
    .set({ step: 'answered' })
    .where('state_sha256', '=', stateSha256)
    .where('browser_sha256', '=', browserSha256)
    .where('connection_id', '=', connectionId)
    .where('step', '=', 'begun')
    .where('expires_at', '>', now)
    .returning(flow)
    .executeTakeFirst()
}

type Proved = {
  subject: string
  email: string | undefined
  emailVerified: boolean
  displayName: string | undefined
}

/** Notes whom the provider has named. What it was asked with is of no use any more. */
export async function setProved(db: Database, flowId: string, proved: Proved, expiresAt: Date): Promise<void> {
  const { subject, email, emailVerified, displayName } = proved
  await db
    .updateTable('sso_flow')
    .set({
      step: 'proved',
      expires_at: expiresAt,
      sealed_memory: null,
      subject,
      email: email ?? null,
      email_verified: emailVerified,
      display_name: displayName ?? null,
    })
    .where('flow_id', '=', flowId)
    .where('step', '=', 'answered')
    .execute()
}

type OfBrowser = { flowId: string; browserSha256: Uint8Array }

export function findProved(db: Database, { flowId, browserSha256 }: OfBrowser, now: Date) {
  return db
    .selectFrom('sso_flow')
    .select(flow)
    .where('flow_id', '=', flowId)
    .where('browser_sha256', '=', browserSha256)
    .where('step', '=', 'proved')
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Takes a sign-in to its end, once; undefined where none of this browser has been proved. */
export function takeProved(tx: Transaction, { flowId, browserSha256 }: OfBrowser, now: Date) {
  return tx
    .updateTable('sso_flow')
    .set({ step: 'over' })
    .where('flow_id', '=', flowId)
    .where('browser_sha256', '=', browserSha256)
    .where('step', '=', 'proved')
    .where('expires_at', '>', now)
    .returning(flow)
    .executeTakeFirst()
}

/** Deletes up to `batch` sign-ins whose time is over, and says how many. */
export async function deleteExpiredFlows(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db.selectFrom('sso_flow').select('flow_id').where('expires_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db.deleteFrom('sso_flow').where('flow_id', 'in', ended).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
