import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { ConfirmedAct, StartedAct, StopReason } from '../../lib/acts/act.ts'
import type { ActionSubject } from '../../lib/acts/subject.ts'

/** A value that the service shows once, for the member to copy. */
export type OneTimeValue = { name: 'link' | 'address' | 'token'; value: string }
export type OneTimeResult = { action: 'organization.invitation.created' | 'scim.token.created'; values: OneTimeValue[] }

/** What the member decides about: an act, and the names of those that it concerns. */
export type Question = { started: StartedAct; subject: ActionSubject }

/** The steps of signing an act. */
export type Step =
  | { at: 'look' }
  | { at: 'authenticate' }
  /** `isNewSession` if the member has just signed in: acts belong to the session in which they were started. */
  | { at: 'unknown'; isNewSession: boolean }
  | { at: 'decide'; question: Question }
  | { at: 'enter code'; question: Question; keyWraps: KeyWrap[]; confirmed: ConfirmedAct }
  | { at: 'stopped'; why: StopReason }
  | { at: 'result'; shown: OneTimeResult }
  | { at: 'leave' }

/** Returns what the result of an act shows once; undefined if there is nothing. It is JSON that the service answers. */
export function oneTimeResultOf(action: string, result: unknown): OneTimeResult | undefined {
  if (action === 'organization.invitation.created') {
    const link = textAt(result, 'url')
    return link === undefined ? undefined : { action, values: [{ name: 'link', value: link }] }
  }
  if (action !== 'scim.token.created') return undefined
  const [token, address] = [textAt(result, 'token'), textAt(result, 'connection', 'scim', 'baseUrl')]
  if (token === undefined || address === undefined) return undefined
  return {
    action,
    values: [
      { name: 'address', value: address },
      { name: 'token', value: token },
    ],
  }
}

function textAt(value: unknown, ...path: string[]): string | undefined {
  let part: unknown = value
  for (const name of path) part = typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined
  return typeof part === 'string' ? part : undefined
}
