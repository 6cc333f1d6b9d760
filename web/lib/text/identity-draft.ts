import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { isHandle } from '@countersign/protocol/formats/handle'
import { ApiError } from '../api/call.ts'
import type { Messages } from '../../locales/messages.ts'

/**
 * The input for a new identity, and the handles that the server has rejected as taken. `isFixed`: an operator has
 * chosen both names.
 */
export type IdentityDraft = { handle: string; displayName: string; taken: string[]; isFixed?: true }

export const emptyDraft: IdentityDraft = { handle: '', displayName: '', taken: [] }

/** Returns the error of each field, for a user who tries to continue. */
export function problemsOf(draft: IdentityDraft, { register: words }: Pick<Messages, 'register'>) {
  return {
    handle: handleProblem(draft, words),
    displayName: isDisplayName(draft.displayName) ? undefined : words.displayNameInvalid,
  }
}

export function isComplete({ handle, displayName, taken }: IdentityDraft): boolean {
  return isHandle(handle) && !taken.includes(handle) && isDisplayName(displayName)
}

/** Returns whether the user can complete what they have typed to a username. */
export function mayBecomeHandle(typed: string): boolean {
  return typed === '' || ['', 'a', 'aa'].some((rest) => isHandle(typed + rest))
}

/** Returns whether the server rejected the handle itself: it is taken or reserved. */
export function isHandleRefused(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'handle_taken' || error.code === 'invalid_handle')
}

function handleProblem({ handle, taken }: IdentityDraft, words: Messages['register']): string | undefined {
  if (!isHandle(handle)) return hasMarkAtEnd(handle) ? words.handleEnds : words.handleRule
  return taken.includes(handle) ? words.handleTaken : undefined
}

/** Returns whether only the first or last character of a text keeps it from being a username. */
function hasMarkAtEnd(text: string): boolean {
  return /^[A-Za-z0-9._-]{3,32}$/.test(text)
}
