import type { Answer, Api, Given } from '@countersign/protocol/api'
import { answerOf, call, reach, requestOf, textOf, type Parts } from './call.ts'
import { readSite } from './view.ts'

/**
 * The bearer by which this page speaks for the session, whose cookie is another host's. In the memory of this page
 * alone, and asked for again before it ends.
 */
let speaking: { businessToken: string; untilMilliseconds: number } | undefined

const renewedBeforeSeconds = 30

async function bearer(): Promise<string> {
  if (speaking && performance.now() < speaking.untilMilliseconds) return speaking.businessToken
  const { businessToken, expiresInSeconds } = await call('POST /api/auth/session/business', {})
  speaking = {
    businessToken,
    untilMilliseconds: performance.now() + (expiresInSeconds - renewedBeforeSeconds) * 1000,
  }
  return businessToken
}

/** Answers the signature that a refusal asks for; throws it where there is none, and any other. */
type Signing = (error: unknown) => Promise<string>

/**
 * Calls an endpoint of the business host as the signed-in person; once more with the signature that it asks for, where
 * the page has one made. Throws `Refused` or `Unreachable`.
 */
export async function callBusiness<Name extends keyof Api>(
  name: Name,
  given: Given<Name>,
  signatureFor?: Signing,
): Promise<Answer<Name>> {
  try {
    return await answerOf(await ask(name, given))
  } catch (error) {
    if (!signatureFor) throw error
    return answerOf(await ask(name, signedBy(await signatureFor(error), given)))
  }
}

function signedBy(signature: string, { body, ...parts }: Parts): Parts {
  return { ...parts, body: { ...(typeof body === 'object' && body), signedAction: { signature } } }
}

/** The same for an endpoint whose answer is no JSON. */
export async function callBusinessForText<Name extends keyof Api>(name: Name, given: Given<Name>): Promise<string> {
  return textOf(await ask(name, given))
}

async function ask(name: string, given: Parts): Promise<Response> {
  const { url, init } = requestOf(readSite().businessUrl, name, given)
  const authorization = `Bearer ${await bearer()}`
  // What the server writes to others for this person, it writes in the language of the page.
  const headers = { ...init.headers, authorization, 'accept-language': document.documentElement.lang }
  const response = await reach(url, { ...init, headers, credentials: 'omit' })
  // The session has ended: whoever signs in again gets another bearer.
  if (response.status === 401) speaking = undefined
  return response
}
