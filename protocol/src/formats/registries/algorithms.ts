/** Hash function of a signature, as WebCrypto names it. */
export type HashName = 'SHA-256' | 'SHA-384' | 'SHA-512'

/** Key pair of an algorithm: the key type of RFC 7518 §6.1 or RFC 8037 §2, and its size or curve. */
type KeyParameters =
  | { type: 'rsa'; modulusLength: number }
  | { type: 'ec'; namedCurve: 'P-256' | 'P-384' | 'P-521' }
  | { type: 'ed25519' }

type AlgorithmParameters = {
  key: KeyParameters
  /**
   * Hash of the signature, and of `at_hash` (OpenID Connect Core §3.1.3.6). For Ed25519 that standard names none;
   * clients have settled on SHA-512, which Ed25519 uses itself.
   */
  hash: HashName
  support: AlgorithmSupport
}

/** How widely libraries support an algorithm; the settings of an app list the algorithms in this order. */
export const algorithmSupport = ['recommended', 'modern', 'legacy'] as const
export type AlgorithmSupport = (typeof algorithmSupport)[number]

/**
 * The signature algorithms of ID tokens, in the order of the provider metadata (RFC 7518 §3.1, RFC 8037 §3.1). Keys,
 * signatures, `at_hash`, the API schema, the CLI, the SDK and the pages are derived from these rows.
 */
export const signatureAlgorithms = {
  RS256: { key: { type: 'rsa', modulusLength: 2048 }, hash: 'SHA-256', support: 'legacy' },
  ES256: { key: { type: 'ec', namedCurve: 'P-256' }, hash: 'SHA-256', support: 'recommended' },
  EdDSA: { key: { type: 'ed25519' }, hash: 'SHA-512', support: 'modern' },
} as const satisfies Record<string, AlgorithmParameters>

export type Algorithm = keyof typeof signatureAlgorithms

export function isAlgorithm(text: string): text is Algorithm {
  return Object.hasOwn(signatureAlgorithms, text)
}

export const algorithms: readonly Algorithm[] = Object.keys(signatureAlgorithms).filter(isAlgorithm)

type WebCryptoParameters = { name: string; namedCurve?: string; hash?: HashName }

/** Returns the parameters with which WebCrypto imports a public key and verifies a signature. */
export function webCryptoParameters(algorithm: Algorithm): WebCryptoParameters {
  const { key, hash }: AlgorithmParameters = signatureAlgorithms[algorithm]
  switch (key.type) {
    case 'rsa':
      return { name: 'RSASSA-PKCS1-v1_5', hash }
    case 'ec':
      return { name: 'ECDSA', namedCurve: key.namedCurve, hash }
    case 'ed25519':
      return { name: 'Ed25519' }
  }
}
