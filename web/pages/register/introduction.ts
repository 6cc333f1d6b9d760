import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { isHandle } from '@countersign/protocol/formats/handle'
import type { SsoArrival } from '@countersign/protocol/organizations/sso'
import { call } from '../../lib/call.ts'
import type { IdentityDraft } from '../../lib/text/identity-draft.ts'

/** What somebody may want to be called; they change it as they like. */
export type Introduction = Pick<IdentityDraft, 'handle' | 'displayName'>

/**
 * How the organization introduces somebody whose sign-in they come from. It is asked for by what the browser has, so no
 * link can put words there. Undefined where they come from none, or that sign-in is over.
 */
export async function readIntroduction(returnTo: string): Promise<Introduction | undefined> {
  const flowId = /^\/sso\/link\?flow=([0-9a-f-]{36})$/.exec(returnTo)?.[1]
  if (flowId === undefined) return undefined
  // Whatever is wrong is told where the person goes next; here they type their name themselves.
  const arrival = await call('GET /api/sso/arrivals/:flowId', { params: { flowId } }).catch(() => undefined)
  return arrival && introductionOf(arrival)
}

/** A name as it is, and a handle out of the address: what stands before the @, as far as a handle may have it. */
export function introductionOf({ displayName, email }: Pick<SsoArrival, 'displayName' | 'email'>): Introduction {
  const local = email?.split('@')[0] ?? ''
  const handle = trimMarks(local.replaceAll(/[^A-Za-z0-9._-]+/g, '-'))
  return {
    handle: isHandle(handle) ? handle : '',
    displayName: displayName !== null && isDisplayName(displayName) ? displayName : '',
  }
}

/** Handles begin and end with a letter or a digit. */
function trimMarks(text: string): string {
  const characters = [...text]
  const isMark = (character: string) => '._-'.includes(character)
  const first = characters.findIndex((character) => !isMark(character))
  const last = characters.findLastIndex((character) => !isMark(character))
  return first < 0 ? '' : characters.slice(first, last + 1).join('')
}
