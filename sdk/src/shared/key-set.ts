import { JWKSMultipleMatchingKeys, JWKSNoMatchingKey } from 'jose/errors'
import { createRemoteJWKSet } from 'jose/jwks/remote'
import type { JWTVerifyGetKey } from 'jose/jwt/verify'
import { CountersignError } from './error.ts'

const patienceMilliseconds = 5000
const keptMilliseconds = 600_000
/** An unknown key is asked for, but not more often than this: anybody can make up its name. */
const restMilliseconds = 30_000

const keySets = new Map<string, JWTVerifyGetKey>()

/** The keys of a service, read once by all resources of this process, and anew now and then. */
export function keySetOf({ origin }: URL): JWTVerifyGetKey {
  const known = keySets.get(origin) ?? readKeysOf(origin)
  keySets.set(origin, known)
  return known
}

/** Where the keys are is settled here, and by no token and no answer: redirects are not followed. */
function readKeysOf(origin: string): JWTVerifyGetKey {
  const keySet = createRemoteJWKSet(new URL('/.well-known/jwks.json', origin), {
    timeoutDuration: patienceMilliseconds,
    cooldownDuration: restMilliseconds,
    cacheMaxAge: keptMilliseconds,
  })
  return async (header, token) => {
    try {
      return await keySet(header, token)
    } catch (error) {
      if (error instanceof JWKSNoMatchingKey || error instanceof JWKSMultipleMatchingKeys) throw error
      const description = `The keys of ${origin} could not be read.`
      throw new CountersignError({ code: 'cannot_verify', description, status: 503 }, { cause: error })
    }
  }
}
