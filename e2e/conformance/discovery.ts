import assert from 'node:assert/strict'
import { PublicJwk } from '@countersign/protocol/oauth/authorize'
import { ProviderMetadata } from '@countersign/protocol/oauth/provider-metadata'
import { Value } from 'typebox/value'

export type Metadata = ProviderMetadata
export type KeySet = { keys: PublicJwk[] }

/** Members that only a private or a symmetric key has (RFC 7518 §6). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const publicMembers: Record<string, string[]> = { RSA: ['n', 'e'], EC: ['crv', 'x', 'y'], OKP: ['crv', 'x'] }

/** Fetches a public JSON document. */
export async function readDocument(url: string, get: (url: string) => Promise<Response> = fetch): Promise<unknown> {
  const response = await get(url)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/)
  return response.json()
}

/** Checks the parts of a discovery document on which every flow relies (OpenID Connect Discovery §3, §4.3). */
export function checkMetadata(document: unknown, issuer: string): Metadata {
  const metadata = Value.Parse(ProviderMetadata, document)
  assert.equal(metadata.issuer, issuer, 'the issuer is the URL of the document')
  assert.ok(metadata.id_token_signing_alg_values_supported.includes('RS256'))
  assert.ok(!metadata.id_token_signing_alg_values_supported.includes('none'))
  assert.ok(metadata.response_types_supported.includes('code'))
  assert.ok(metadata.scopes_supported.includes('openid'))
  for (const scope of metadata.scopes_supported) assert.match(scope, /^[\x21\x23-\x5b\x5d-\x7e]+$/)
  assert.ok(metadata.subject_types_supported.length > 0)
  for (const type of metadata.subject_types_supported) assert.ok(['public', 'pairwise'].includes(type))
  assert.deepEqual(metadata.code_challenge_methods_supported, ['S256'])
  return metadata
}

/** Checks a key set: only public keys, each of a known type and with a unique id (RFC 7517 §4, §5). */
export function checkKeySet(document: unknown): KeySet {
  assert.ok(typeof document === 'object' && document !== null && 'keys' in document && Array.isArray(document.keys))
  const keys = document.keys.map((key) => Value.Parse(PublicJwk, key))
  assert.ok(keys.length > 0)
  for (const key of keys) {
    const members = Object.keys(key)
    assert.deepEqual(
      members.filter((member) => secretMembers.includes(member)),
      [],
    )
    assert.ok(
      publicMembers[key.kty]?.every((member) => members.includes(member)),
      `${key.kty} is whole`,
    )
    assert.notEqual(key.kid, '')
  }
  assert.equal(new Set(keys.map(({ kid }) => kid)).size, keys.length, 'key ids are unique')
  return { keys }
}
