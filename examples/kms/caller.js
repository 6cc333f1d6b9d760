import { createHash } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'

/** Somebody asks who may not. */
export class NotAllowed extends Error {}

const clockToleranceSeconds = 5

/** Lets Countersign ask, for one organization alone: each question comes with a JWT that says just that, for a minute. */
export function createCaller({ issuer, url, organizationId }) {
  const keySet = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
  const expected = { issuer, audience: url, subject: organizationId, typ: 'kms+jwt', algorithms: ['ES256'] }
  const asked = new Map() // the id of a question → until when it could be asked again

  function takeOnce({ jti, exp }) {
    const now = Date.now() / 1000
    for (const [id, until] of asked) if (until < now) asked.delete(id)
    if (!jti || asked.has(jti)) throw new NotAllowed('asked before')
    asked.set(jti, exp + clockToleranceSeconds)
  }

  return {
    /** Throws `NotAllowed`. */
    async require(authorization, { operation, text }) {
      const [, token] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? []
      if (!token) throw new NotAllowed('no token')
      const { payload } = await jwtVerify(token, keySet, {
        ...expected,
        requiredClaims: ['exp', 'jti'],
        clockTolerance: clockToleranceSeconds,
      }).catch((error) => {
        throw new NotAllowed(error.code ?? 'the key set cannot be read')
      })
      const digest = createHash('sha256').update(text).digest('base64url')
      if (payload.operation !== operation || payload.body_sha256 !== digest) throw new NotAllowed('another question')
      takeOnce(payload)
    },
  }
}
