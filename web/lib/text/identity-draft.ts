import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { isHandle } from '@countersign/protocol/formats/handle'
import { Refused } from '../call.ts'
import type { Words } from '../../locales/words.ts'

/** A new identity as a person types it, and the handles that the server has called taken. */
export type IdentityDraft = { handle: string; displayName: string; taken: string[] }

export const emptyDraft: IdentityDraft = { handle: '', displayName: '', taken: [] }

/** What is wrong with each field, for the person who tries to go on. */
export function problemsOf(draft: IdentityDraft, { register: words }: Pick<Words, 'register'>) {
  return {
    handle: handleProblem(draft, words),
    displayName: isDisplayName(draft.displayName) ? undefined : words.displayNameInvalid,
  }
}

export function isComplete({ handle, displayName, taken }: IdentityDraft): boolean {
  return isHandle(handle) && !taken.includes(handle) && isDisplayName(displayName)
}

/** Whether the server turned down the handle itself: somebody has it, or nobody may. */
export function isHandleRefused(error: unknown): boolean {
  return error instanceof Refused && (error.code === 'handle_taken' || error.code === 'invalid_handle')
}

function handleProblem({ handle, taken }: IdentityDraft, words: Words['register']): string | undefined {
  if (!isHandle(handle)) return words.handleInvalid
  return taken.includes(handle) ? words.handleTaken : undefined
}
