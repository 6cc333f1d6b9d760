import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { Algorithm } from '@countersign/protocol/clients/apps'
import { limits } from '@countersign/protocol/formats/limits'
import { PublicJwk } from '@countersign/protocol/oauth/authorize'
import { errors } from 'jose'
import { Value } from 'typebox/value'
import { secondsAfter } from '#platform/clock.ts'
import type { Kernel } from '#platform/module/services.ts'
import { algorithms, makeFirstKeys, sealOf } from './key-rotation.ts'
import { publishedUntil } from './key-schedule.ts'
import * as store from './store.ts'
import type { KeyRow } from './store.ts'

export { algorithms }

export type SigningKey = { kid: string; algorithm: Algorithm; privateKey: KeyObject }
export type KeySet = { keys: PublicJwk[] }

/** The keys that sign our tokens, and what verifies them. */
export type SigningKeys = {
  current: (algorithm: Algorithm) => Promise<SigningKey>
  /** What verifies tokens of this algorithm and key id; a key serves one algorithm alone. */
  verifier: (algorithm: Algorithm, kid: string) => Promise<KeyObject | undefined>
  /** What is published: one and the same object until it changes. */
  keySet: () => Promise<KeySet>
  /** Called by whoever has changed the keys in this process. */
  readAnew: () => Promise<void>
}

type Opened = { row: KeyRow; publicJwk: PublicJwk; publicKey: KeyObject; signingKey: SigningKey | undefined }
/** The newest first. */
type Known = { opened: Opened[]; keySet: KeySet; readAt: Date }

const freshSeconds = limits.signingKeyStaleSeconds / 2
const retrySeconds = 5

/**
 * Opens the signing keys, and makes them at the first start. What is known is read anew when it is half a minute old,
 * beside the requests; only when it is a minute old do they wait for it. A database that is away costs nobody a
 * request: the keys that are known serve on. Throws `ConfigError` where `SECRET_KEY` does not open them.
 */
export async function openSigningKeys({ db, keyring, clock, log }: Kernel): Promise<SigningKeys> {
  await makeFirstKeys({ db, keyring }, clock())
  let known = await readKeys({ db, keyring }, undefined, clock())
  let reading: Promise<void> | undefined
  let triedAt = clock()

  /** One reading after the other, so that what was read last is what is known. */
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
      log.warn({ error }, 'the signing keys could not be read anew')
    }
  }

  /** A reading that is under way, or a new one, unless the last was a moment ago. */
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
      const signing = opened.find(({ row }) => row.algorithm === algorithm && row.signsAt <= now)
      if (!signing?.signingKey) throw new Error(`there is no signing key for ${algorithm}`)
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

/** Reads the keys. What is known of one stays the same object: what others keep of it stays right. */
async function readKeys(
  { db, keyring }: Pick<Kernel, 'db' | 'keyring'>,
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
  const until = publishedUntil(row, rows)
  return until === null || until > now
}

async function openKey(keyring: Kernel['keyring'], row: KeyRow): Promise<Opened> {
  const { kid, algorithm, sealedPrivateKey } = row
  const publicJwk = Value.Parse(PublicJwk, JSON.parse(row.publicJwk))
  const publicKey = createPublicKey({ key: { ...publicJwk }, format: 'jwk' })
  if (sealedPrivateKey === null) return { row, publicJwk, publicKey, signingKey: undefined }
  const privateKey = createPrivateKey(await keyring.open(sealOf(kid), sealedPrivateKey))
  return { row, publicJwk, publicKey, signingKey: { kid, algorithm, privateKey } }
}

/** Whether an instant is no longer ago than this, by a clock that may have been set back. */
function isWithin(instant: Date, seconds: number, now: Date): boolean {
  return instant <= now && secondsAfter(instant, seconds) > now
}

/** The key by which a JWT of ours is verified, for `jwtVerify`. Throws `JWKSNoMatchingKey` where there is none. */
export async function requireVerifier(keys: SigningKeys, alg: string | undefined, kid: string): Promise<KeyObject> {
  const algorithm = algorithms.find((each) => each === alg)
  const key = algorithm && (await keys.verifier(algorithm, kid))
  if (!key) throw new errors.JWKSNoMatchingKey()
  return key
}
