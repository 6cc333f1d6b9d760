import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto'
import type { Algorithm } from '@countersign/protocol/apps'
import { PublicJwk } from '@countersign/protocol/oauth'
import { Value } from 'typebox/value'
import type { Kernel } from '#kernel/kernel.ts'
import { insertSigningKeyUnlessMade, listSigningKeys } from './signing-key-store.ts'

export const algorithms = ['RS256', 'ES256', 'EdDSA'] as const satisfies Algorithm[]

export type SigningKey = { kid: string; algorithm: Algorithm; privateKey: KeyObject }

/** The keys that sign our tokens, and what verifies them. */
export type SigningKeys = {
  current: (algorithm: Algorithm) => SigningKey
  /** What verifies tokens of this algorithm and key id; a key serves one algorithm alone. */
  verifier: (algorithm: Algorithm, kid: string) => KeyObject | undefined
  jwks: { keys: PublicJwk[] }
}

/**
 * Reads the signing keys, and makes them at the first start. Processes that start together each offer a set; the rows
 * that are there first are the set that all of them use.
 */
export async function openSigningKeys({ db, keyring, clock }: Kernel): Promise<SigningKeys> {
  const made = new Set((await listSigningKeys(db)).map((row) => row.algorithm))
  for (const algorithm of algorithms.filter((each) => !made.has(each))) {
    const kid = randomUUID()
    const { publicJwk, privatePem } = makeKeyPair(algorithm, kid)
    const sealedPrivateKey = await keyring.seal(`token-signing-key:${kid}`, privatePem)
    const key = { algorithm, version: 1, kid, publicJwk: JSON.stringify(publicJwk), sealedPrivateKey }
    await insertSigningKeyUnlessMade(db, key, clock())
  }

  const current = new Map<Algorithm, SigningKey>()
  const publicJwks: PublicJwk[] = []
  for (const row of await listSigningKeys(db)) {
    const privateKey = createPrivateKey(await keyring.open(`token-signing-key:${row.kid}`, row.sealedPrivateKey))
    current.set(row.algorithm, { kid: row.kid, algorithm: row.algorithm, privateKey })
    publicJwks.push(Value.Parse(PublicJwk, JSON.parse(row.publicJwk)))
  }
  const verifiers = new Map(
    publicJwks.map((jwk) => [`${jwk.alg} ${jwk.kid}`, createPublicKey({ key: { ...jwk }, format: 'jwk' })]),
  )
  return {
    current(algorithm) {
      const key = current.get(algorithm)
      if (!key) throw new Error(`there is no signing key for ${algorithm}`)
      return key
    },
    verifier: (algorithm, kid) => verifiers.get(`${algorithm} ${kid}`),
    jwks: { keys: publicJwks },
  }
}

function makeKeyPair(algorithm: Algorithm, kid: string) {
  const { publicKey, privateKey } = generate(algorithm)
  const publicJwk = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: algorithm }
  return { publicJwk, privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
}

function generate(algorithm: Algorithm) {
  switch (algorithm) {
    case 'RS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 })
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'EdDSA':
      return generateKeyPairSync('ed25519')
  }
}
