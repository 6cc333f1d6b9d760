import { type KeyObject, createPrivateKey, createPublicKey } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { type Algorithm, isAlgorithm } from '@countersign/protocol/formats/registries/algorithms'
import { PublicJwk } from '@countersign/protocol/oauth/authorize'
import { JWKSNoMatchingKey } from 'jose/errors'
import type { ServerContext } from '#platform/module/services.ts'
import { parse } from '#platform/schema.ts'
import { createInitialKeys, publishUntil, sealOf } from './rotation.ts'
import * as store from './store.ts'
import type { KeyRow } from './store.ts'

export type SigningKey = { kid: string; algorithm: Algorithm; privateKey: KeyObject }
export type KeySet = { keys: PublicJwk[] }

/** Token-signing keys of this service, and the keys that verify its tokens. */
export type SigningKeys = {
  current: (algorithm: Algorithm) => Promise<SigningKey>
  /** Returns the key that verifies tokens of this algorithm and key ID. A key serves one algorithm only. */
  verifier: (algorithm: Algorithm, kid: string) => Promise<KeyObject | undefined>
  /** Returns the published key set. The object stays the same until the set changes. */
  keySet: () => Promise<KeySet>
  /** Reloads the keys after a change in this process. */
  readAnew: () => Promise<void>
}

type Opened = { row: KeyRow; publicJwk: PublicJwk; publicKey: KeyObject; signingKey: SigningKey | undefined }
/** Cached keys, newest first. */
type Known = { opened: Opened[]; keySet: KeySet; readAt: Date }

const freshSeconds = limits.signingKeyStaleSeconds / 2
const retrySeconds = 5

/**
 * Loads the token-signing keys, and creates them at the first start. Keys older than half a minute are reloaded in the
 * background. Requests wait for the reload only when the keys are older than a minute. When the database is
 * unavailable, requests use the keys that are already loaded. Throws `ConfigError` if `SECRET_KEY` does not decrypt
 * them.
 */
export async function loadTokenSigningKeys({ db, keyring, clock, log }: ServerContext): Promise<SigningKeys> {
  await createInitialKeys({ db, keyring }, clock())
  let known = await readKeys({ db, keyring }, undefined, clock())
  let reading: Promise<void> | undefined
  let triedAt = clock()

  /** Reloads run one after the other, so that the last one determines the state. */
  function readAnew(): Promise<void> {
    const mine = (reading ?? Promise.resolve()).then(read).finally(() => {
      if (reading === mine) reading = undefined
    })
    reading = mine
    triedAt = clock()
    return mine
  }

  async function read(): Promise<void> {
    try {
      known = await readKeys({ db, keyring }, known, clock())
    } catch (error) {
      log.warn({ error }, 'token signing key reload failed')
    }
  }

  /** Returns the reload in progress, or starts one unless the last was only seconds ago. */
  function readAgain(): Promise<void> | undefined {
    return reading ?? (isWithin(triedAt, retrySeconds, clock()) ? undefined : readAnew())
  }

  async function lately(): Promise<Known> {
    const now = clock()
    if (isWithin(known.readAt, freshSeconds, now)) return known
    const again = readAgain()
    if (!isWithin(known.readAt, limits.signingKeyStaleSeconds, now)) await again
    return known
  }

  return {
    async current(algorithm) {
      const { opened } = await lately()
      const now = clock()
      const signing = opened.find(({ row }) => row.algorithm === algorithm && row.activatesAt <= now)
      if (!signing?.signingKey) throw new Error(`no token signing key for ${algorithm}`)
      return signing.signingKey
    },
    async verifier(algorithm, kid) {
      const found = findKey(await lately(), algorithm, kid)
      if (found) return found
      await readAgain()
      return findKey(known, algorithm, kid)
    },
    keySet: async () => (await lately()).keySet,
    readAnew,
  }
}

function findKey({ opened }: Known, algorithm: Algorithm, kid: string): KeyObject | undefined {
  return opened.find(({ row }) => row.kid === kid && row.algorithm === algorithm)?.publicKey
}

/** Reads the keys. Keys that are already known stay the same objects, so that references to them remain valid. */
async function readKeys(
  { db, keyring }: Pick<ServerContext, 'db' | 'keyring'>,
  known: Known | undefined,
  now: Date,
): Promise<Known> {
  const rows = await store.listKeys(db)
  const opened = await Promise.all(
    rows.map(async (row) => {
      const before = known?.opened.find((each) => each.row.kid === row.kid)
      return before ? { ...before, row } : openKey(keyring, row)
    }),
  )
  const keys = opened.filter(({ row }) => isPublished(row, rows, now)).map(({ publicJwk }) => publicJwk)
  const isSame = known?.keySet.keys.length === keys.length && keys.every((key, nth) => known.keySet.keys[nth] === key)
  return { opened, keySet: isSame ? known.keySet : { keys }, readAt: now }
}

function isPublished(row: KeyRow, rows: KeyRow[], now: Date): boolean {
  const until = publishUntil(row, rows)
  return until === null || until > now
}

async function openKey(keyring: ServerContext['keyring'], row: KeyRow): Promise<Opened> {
  const { kid, algorithm, sealedPrivateKey } = row
  const publicJwk = parse(PublicJwk, JSON.parse(row.publicJwk))
  const publicKey = createPublicKey({ key: { ...publicJwk }, format: 'jwk' })
  if (sealedPrivateKey === null) return { row, publicJwk, publicKey, signingKey: undefined }
  const privateKey = createPrivateKey(await keyring.open(sealOf(kid), sealedPrivateKey))
  return { row, publicJwk, publicKey, signingKey: { kid, algorithm, privateKey } }
}

/** Checks whether an instant is at most this many seconds ago. The clock may have been set back. */
function isWithin(instant: Date, seconds: number, now: Date): boolean {
  const age = now.getTime() - instant.getTime()
  return age >= 0 && age < seconds * 1000
}

/**
 * Returns the key that verifies a JWT of this service, for `jwtVerify`. Throws `JWKSNoMatchingKey` if there is none.
 */
export async function requireVerificationKey(
  keys: SigningKeys,
  alg: string | undefined,
  kid: string,
): Promise<KeyObject> {
  const key = alg !== undefined && isAlgorithm(alg) ? await keys.verifier(alg, kid) : undefined
  if (!key) throw new JWKSNoMatchingKey()
  return key
}
