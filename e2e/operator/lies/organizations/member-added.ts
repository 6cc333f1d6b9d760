import { randomUUID } from 'node:crypto'
import { defineLie, rewriteAnswer } from '../../lie.ts'

/** Adds a member to those who get a copy of an organization's key, after the page has shown them by name. */
export const memberAdded = defineLie<object>({
  answers: () =>
    rewriteAnswer('GET /api/organizations/:organizationId/keys/:keyId/wraps', ({ wraps }) => {
      const known = wraps.find(({ publicKey, granted }) => publicKey !== null && !granted)
      const invented = { memberId: randomUUID(), handle: 'mallory', displayName: 'Mallory' }
      return { wraps: known ? [...wraps, { ...known, ...invented }] : wraps }
    }),
})
